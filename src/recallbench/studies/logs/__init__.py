"""Logs of recalls: proposed labels, samples to label, and the score of a labelled sample."""
