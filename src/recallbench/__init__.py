"""RecallBench measures how well a long-term memory finds the right memory, and proves its number."""

__version__ = "0.1.0"
