"""Encoders times corpora on one store: a run for each, and what their differences are worth."""
