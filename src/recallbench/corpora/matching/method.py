"""The method by which a text is matched with the expected one, and its threshold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, get_args

from recallbench.corpora.matching.tokens import words
from recallbench.errors import UsageError

Method = Literal["id", "exact", "tokens", "hybrid", "bm25"]
Step = Literal["id", "exact", "tokens", "cosine", "bm25"]
"""The ways in which a hit may match. `hybrid` tries the first four in this order; the first that matches counts."""
DEFAULT, STRICT, EXPLORATORY = 0.3, 0.5, 0.1
RELATIVE = 0.5
"""The share of the expected text's own BM25 score that counts, where none is named."""
PASSAGE = 60
"""Tokens of a passage that BM25 scores, where no chunk is named."""
OWN = -math.inf
"""Stands for the threshold that the method has by itself."""
SENSITIVITY = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
"""Thresholds that a result is shown at, beside its own."""


@dataclass(frozen=True, slots=True)
class Matching:
    """The rule that makes a hit relevant. Every output names it; numbers of two methods are never compared."""

    method: Method = "id"
    threshold: float = OWN
    """A text matches from here on: token F1 of `tokens` and `hybrid`, relative BM25 of `bm25`; others read none."""
    chunk: int | None = None
    """Tokens of a chunk; None matches whole texts, but for `bm25`, which takes passages of 60."""
    encoder: str = ""
    """For `hybrid`: the encoder whose vectors are compared where nothing else matched; empty for none."""
    cosine: float | None = None
    """The cosine from which these match. Each encoder has its own scale, so none is taken for granted."""

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise UsageError("unknown way to match", expected=", ".join(get_args(Method)), found=repr(self.method))
        if self.threshold == OWN:
            object.__setattr__(self, "threshold", RELATIVE if self.method == "bm25" else DEFAULT)
        if self.method == "bm25" and self.chunk is None:
            object.__setattr__(self, "chunk", PASSAGE)
        self._check_cosine()
        if not 0 < self.threshold <= 1:
            raise UsageError(
                "a threshold of token F1, or of relative BM25, lies between 0 and 1",
                expected=f"above 0, at most 1: {DEFAULT} by default, {STRICT} strict, {EXPLORATORY} exploratory",
                found=str(self.threshold),
            )
        if self.chunk is not None and self.chunk < 1:
            raise UsageError("a chunk has tokens", expected="1 or more", found=str(self.chunk))
        if self.method == "id" and self.chunk is not None:
            raise UsageError("ids have no chunks", expected="matching by tokens or exact", found=f"chunk {self.chunk}")

    def _check_cosine(self) -> None:
        if not self.encoder and self.cosine is None:
            return
        if self.method != "hybrid":
            raise UsageError("cosine is a step of hybrid", expected="matching by hybrid", found=str(self.method))
        if not self.encoder or self.cosine is None or not 0 < self.cosine <= 1:
            raise UsageError(
                "cosine needs an encoder and the threshold from which it counts",
                expected="both: --match-embedder minilm --match-cosine 0.8, above 0 and at most 1",
                found=f"{self.encoder or 'no encoder'}, {'no threshold' if self.cosine is None else self.cosine}",
            )

    def __str__(self) -> str:
        parts = [self.rule]
        if self.chunk:
            parts.append(f"chunk {self.chunk}")
        if self.cosine is not None:
            parts.append(f"cosine>={self.cosine:g} by {self.encoder}")
        return ", ".join(parts)

    @property
    def rule(self) -> str:
        """The method with its threshold, as `tokens f1>=0.3`."""
        if self.method in ("tokens", "hybrid"):
            return f"{self.method} f1>={self.threshold:g}"
        return f"bm25>={self.threshold:g}" if self.method == "bm25" else self.method

    @property
    def steps(self) -> tuple[Step, ...]:
        """The ways in which a hit may match, in the order in which they are tried."""
        if self.method != "hybrid":
            return (self.method,)
        return ("id", "exact", "tokens") if self.cosine is None else ("id", "exact", "tokens", "cosine")

    @property
    def thresholds(self) -> list[float]:
        """The thresholds that a result is shown at: the usual ones, and its own where it has one."""
        return sorted({*SENSITIVITY, self.threshold} if self.method in ("tokens", "hybrid", "bm25") else SENSITIVITY)

    def at(self, threshold: float | None) -> Matching:
        """The same at another threshold; None for exact matches alone. What has none is token F1 there."""
        if threshold is None:
            return Matching("exact", chunk=self.chunk)
        if self.method in ("hybrid", "bm25"):
            return replace(self, threshold=threshold)
        return Matching("tokens", threshold, self.chunk)

    @property
    def code(self) -> str:
        """The method in the name of a labelled set: `tokens-0.3-60`, `exact`; empty for ids.

        It says nothing of a cosine: no gold may depend on one.
        """
        if not self.by_text:
            return ""
        code = str(self.method)
        if code != "exact":
            threshold = format(Decimal(repr(float(self.threshold))), "f")
            code += f"-{threshold.rstrip('0').rstrip('.')}"
        return f"{code}-{self.chunk}" if self.chunk else code

    @property
    def takes_ids(self) -> bool:
        """Whether ids and texts count for one query."""
        return self.method == "hybrid"

    @property
    def by_text(self) -> bool:
        """Whether a hit is relevant by its text, not by its id."""
        return self.method != "id"

    def longest_chunk(self, expected: str) -> int:
        """The most distinct words a text may have in which this answer still reaches the threshold."""
        count = len(frozenset(words(expected)))
        most = int(count * (2 / self.threshold - 1)) + 1
        return most if 2.0 * count / (count + most) >= self.threshold else most - 1

    def out_of_reach(self, expected: Iterable[str]) -> str | None:
        """Warn of answers so short that no text of a chunk's length could match them; None without any."""
        chunk = self.chunk
        if self.method != "tokens" or chunk is None:
            return None
        longest = [self.longest_chunk(answer) for answer in expected]
        short = sum(length < chunk for length in longest)
        if not short:
            return None
        return (
            f"{short} of {len(longest)} expected texts are too short for chunks of {chunk} tokens: whatever fills one "
            f"stays below token F1 {self.threshold:g}, and only shorter texts can match; --match-chunk "
            f"{max(1, min(longest))} lets the shortest match"
        )


CODE = re.compile(
    r"(?:(?P<method>tokens|hybrid|bm25)-(?P<threshold>1|0\.[0-9]*[1-9])|exact)(?:-(?P<chunk>[1-9][0-9]{0,5}))?"
)


def parse_code(code: str) -> Matching | None:
    """Return the method that a name states (see `Matching.code`); None for a text that states none."""
    stated = CODE.fullmatch(code)
    if stated is None:
        return None
    chunk = int(stated["chunk"]) if stated["chunk"] else None
    if stated["method"] is None:
        return Matching("exact", chunk=chunk)
    method: Method = stated["method"]  # type: ignore[assignment] # one of those that the pattern lists
    return Matching(method, float(stated["threshold"]), chunk)
