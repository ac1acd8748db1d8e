"""Results compared on the same questions: differences, thresholds, drift and baselines."""
