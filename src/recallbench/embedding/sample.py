"""Texts of the corpus on which a proof is made, kept while the corpus streams by."""

from __future__ import annotations

from bisect import bisect_left

TEXTS = 32


class ProofTexts:
    """Up to 32 of the distinct texts that were offered, spread over their lengths, both ends included."""

    def __init__(self) -> None:
        self._kept: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._kept)

    def offer(self, text: str) -> None:
        """Keep the text, or the others, whichever are spread better."""
        kept, entry = self._kept, (len(text), text)
        place = bisect_left(kept, entry)
        if kept[place : place + 1] == [entry]:
            return
        if len(kept) == TEXTS and any(other[0] == entry[0] for other in kept[max(place - 1, 0) : place + 1]):
            return  # of a length that is kept already: it spreads nothing
        kept.insert(place, entry)
        if len(kept) > TEXTS:
            # The one whose neighbours are closest to each other leaves the smallest gap.
            del kept[min(range(1, TEXTS), key=lambda at: kept[at + 1][0] - kept[at - 1][0])]

    def texts(self) -> list[str]:
        """What is kept, the shortest first."""
        return [text for _, text in self._kept]
