"""Figures of the corpora outside the protocol, by code that shares no line with the package."""
