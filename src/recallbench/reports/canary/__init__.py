"""A canary in words and tables."""
