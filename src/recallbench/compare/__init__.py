"""Two or more results paired: differences, thresholds, drift and baselines."""
