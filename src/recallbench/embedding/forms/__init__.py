"""Encoders of one's own, by the form of their name."""
