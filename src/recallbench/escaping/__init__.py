"""Untrusted text, made harmless for its target: one module for each target, and no second way."""
