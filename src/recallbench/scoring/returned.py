"""The meter of short answers: rows asked for, rows that the haystacks hold of these, and rows that came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.judgement import Judged


@dataclass(frozen=True, slots=True)
class ReturnedRows:
    """The rows of one call, over all questions."""

    k: int
    asked: int
    """k for each question."""
    eligible: int
    """Of these, how many the haystacks hold."""
    returned: int
    short_questions: int
    """Questions that got fewer than were eligible."""
    kinds: Mapping[str, float]
    """The share of the eligible rows that came back, of each kind where some did not."""

    @property
    def is_short(self) -> bool:
        """Whether any eligible row did not come back."""
        return self.returned < self.eligible


def returned_rows(calls: Sequence[Judged], kinds: Sequence[str]) -> tuple[ReturnedRows, ...]:
    """Return the rows of each call, shallowest first; `kinds` has that of each question."""
    return tuple(_of_call(call, np.array(kinds)) for call in calls)


def _of_call(call: Judged, kinds: np.ndarray[tuple[int], np.dtype[np.str_]]) -> ReturnedRows:
    eligible = np.minimum(call.candidates, call.depth)
    of_kinds = {str(kind): kinds == kind for kind in dict.fromkeys(kinds.tolist())}
    return ReturnedRows(
        k=call.depth,
        asked=call.depth * len(call),
        eligible=int(eligible.sum()),
        returned=int(call.returned.sum()),
        short_questions=int((call.returned < eligible).sum()),
        kinds={
            kind: int(call.returned[mask].sum()) / int(eligible[mask].sum())
            for kind, mask in of_kinds.items()
            if (call.returned[mask] < eligible[mask]).any()
        },
    )
