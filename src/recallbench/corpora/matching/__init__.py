"""Gold from expected texts: which stored text says what was expected, and by which method."""
