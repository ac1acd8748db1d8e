"""One configuration measured several times, as a person reads it."""
