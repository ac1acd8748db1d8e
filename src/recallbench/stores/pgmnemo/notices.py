"""What the extension tells while it is asked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from recallbench.errors import Blocked
from recallbench.stores.pgmnemo.signature import SCHEMA

if TYPE_CHECKING:
    from psycopg.errors import Diagnostic

DEGRADED = "degrading to"
"""The words of a version that leaves a part of its ranking out."""


class Notices:
    """The extension's notices and warnings on one session, counted."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    @property
    def lines(self) -> list[str]:
        """Return each with how often it came."""
        return [f"{count} x {text}" for text, count in sorted(self.counts.items())]

    def note(self, diagnostic: Diagnostic) -> None:
        """Count a notice of the extension; those of others are passed over."""
        text = (diagnostic.message_primary or "").split("\n")[0]
        if SCHEMA in text:
            # Numbers differ from call to call, what is wrong does not.
            words = " ".join("#" if word.strip(".,%").isdigit() else word for word in text.split())
            self.counts[f"{diagnostic.severity}: {words[:160]}"] += 1

    def refuse_degraded(self, function: str) -> None:
        """Raise Blocked where it told that it leaves a part of its ranking out."""
        if any(DEGRADED in text for text in self.counts):
            raise Blocked(
                f"{SCHEMA}.{function} left out a part of its ranking",
                found="; ".join(self.counts),
                remedy="find out what hurries the server (a timeout of its proxy or role), then run again",
            )
