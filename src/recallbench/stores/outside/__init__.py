"""Memories of one's own: a Python function or a service over HTTP."""
