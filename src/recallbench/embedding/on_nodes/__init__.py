"""Embedding by the workers of a cluster."""
