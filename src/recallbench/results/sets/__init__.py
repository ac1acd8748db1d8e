"""Labelled sets in a result: their labels."""
