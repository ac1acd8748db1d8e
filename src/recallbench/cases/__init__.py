"""Cases of one's own and a retriever's answers to them: the Python API, and rankings from other tools."""
