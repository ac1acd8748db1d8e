"""Citations of results and their check, entries of HISTORY.md, attestations and keys."""
