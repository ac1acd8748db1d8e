"""Fixtures that every part of the suite may use."""
