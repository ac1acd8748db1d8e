"""The folder of a sweep: every point with its figures, and what follows from them."""
