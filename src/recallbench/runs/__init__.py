"""One run, from its options to a result folder; and what a run would need, without making it."""
