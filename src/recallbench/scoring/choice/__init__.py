"""Choosing among many points of a sweep: what may be said of which is best, and how surely."""
