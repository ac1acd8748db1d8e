"""Labelled sets: the layouts of their files, their names, and where a hub keeps them."""
