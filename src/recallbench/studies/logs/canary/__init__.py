"""A canary of one's own: questions drawn like production asks, checked and drawn anew."""
