"""A whole run, from what was asked for to a result folder; and what a run would need, without making it."""
