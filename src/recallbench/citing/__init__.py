"""What may be said of a result: citations and their check, entries of HISTORY.md, attestations and keys."""
