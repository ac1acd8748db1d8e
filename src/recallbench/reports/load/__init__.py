"""A latency study as a person reads it: its table, its page, and what follows from it in words."""
