"""The parameters of BM25, for the control and for matching by passages alike."""

K1 = 1.2
B = 0.75
METHOD = "lucene"
"""idf = ln(1 + (N - df + .5) / (df + .5)), term weight tf / (tf + k1 (1 - b + b length / mean length))."""
