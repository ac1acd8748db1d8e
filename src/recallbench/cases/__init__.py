"""Cases of one's own and what a retriever answers to them: the Python API, and rankings that were made elsewhere."""
