"""Hostile input: seeded changes to valid files, each given to the reader of its kind in a process of its own."""
