"""The last line of a command, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "open", "bad"]
"""What a conclusion is to its reader: all is well, something is left open, something is wrong."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """How a command ends: what happened, whether one can believe it, and what to do next."""

    happened: str
    belief: str = ""
    """Whether one can believe it; empty where nothing can be doubted."""
    next: str = ""
    """What to do next, best as a command; empty where nothing is left to do."""
    tone: Tone = "good"

    def __str__(self) -> str:
        """Return the one line, as "B finds more: …; the interval excludes 0; next: recallbench …"."""
        then = f"next: {self.next}" if self.next else ""
        return "; ".join(part for part in (self.happened, self.belief, then) if part)

    def document(self) -> dict[str, str]:
        """Return the line and its parts, for a program."""
        return {"text": str(self), "happened": self.happened, "belief": self.belief, "next": self.next}
