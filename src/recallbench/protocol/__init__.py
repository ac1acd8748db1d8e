"""The frozen rules, as data."""

from recallbench.protocol.frozen import load
from recallbench.protocol.rules import Rules

__all__ = ["Rules", "load"]
