"""One system over sessions and over turns, side by side."""
