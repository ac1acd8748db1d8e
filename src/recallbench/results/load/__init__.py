"""The folder of a latency study: its levels, every call, and how they are read back."""
