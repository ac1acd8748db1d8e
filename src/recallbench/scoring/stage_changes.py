"""Whether a stage of a pipeline did anything: how often it worked, and what it changed."""

from __future__ import annotations

from dataclasses import dataclass

from recallbench.scoring.stage_lists import Against, StageLists


@dataclass(frozen=True, slots=True)
class StageChanges:
    """What one stage changed, over all questions."""

    stage: str
    calls: int
    """The questions that it worked on."""
    against: Against | None
    """What its work is compared with; None where there is nothing, and so nothing is counted."""
    rankings: int | None
    """Of these, the questions whose ranking it changed, in order or membership."""
    sets: int | None
    """Of these, the questions whose first k it changed in membership: no recall at k can tell of any other change."""


def stage_changes(lists: StageLists, k: int) -> StageChanges:
    """Return what a stage changed, in rankings and in their sets of the first k."""
    if lists.against is None:
        return StageChanges(lists.stage, lists.calls, None, None, None)
    rankings = sets = 0
    for before, after in zip(lists.before, lists.after, strict=True):
        if before is not None and before != after:
            rankings += 1
            sets += set(before[:k]) != set(after[:k])
    return StageChanges(lists.stage, lists.calls, lists.against, rankings, sets)
