"""What each stage of a pipeline handed on, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recallbench.retrieval.ranking import sort_hits
from recallbench.retrieval.stages.candidates import Candidates


@dataclass(frozen=True, slots=True)
class Handed:
    """What one stage handed on for one question: haystack positions, best first, and their scores."""

    stage: str
    positions: tuple[int, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class QuestionTrace:
    """What became of one question in a pipeline."""

    question_id: str
    handed: tuple[Handed, ...] = ()
    """One for each stage that makes a list, in the order of the pipeline; none where the question failed."""
    variants: tuple[str, ...] = ()
    """The texts that were searched for, where a stage rewrites."""
    without: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The final ranking of the same pipeline without a stage, by that stage's name; without a fuse, that of the first
    leg alone."""
    again: frozenset[str] = frozenset()
    """The stages without which something had to be done once more; the others' comparison rests on kept lists."""
    alone: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Without a fuse, the final ranking of each other leg alone, by its name; earlier releases had none of these."""


@dataclass(slots=True)
class BatchTrace:
    """What the stages handed on for a batch of questions, as arrays."""

    handed: list[tuple[str, Candidates]] = field(default_factory=list)
    variants: list[tuple[str, ...]] = field(default_factory=list)
    without: dict[str, list[tuple[int, ...] | None]] = field(default_factory=dict)
    """Ids by stage and question; None where the comparison failed."""
    alone: dict[str, list[tuple[int, ...] | None]] = field(default_factory=dict)
    """The same by leg, without a fuse."""
    again: dict[str, list[bool]] = field(default_factory=dict)

    def question(self, row: int, question_id: str, first_id: int) -> QuestionTrace:
        """Return what became of one of its questions, whose haystack begins with `first_id`."""

        def placed(rankings: Mapping[str, Sequence[tuple[int, ...] | None]]) -> dict[str, tuple[int, ...]]:
            found = {name: of_rows[row] for name, of_rows in rankings.items()}
            return {name: tuple([id - first_id for id in ids]) for name, ids in found.items() if ids is not None}

        return QuestionTrace(
            question_id,
            tuple(_handed(stage, candidates, row, first_id) for stage, candidates in self.handed),
            self.variants[row] if self.variants else (),
            placed(self.without),
            frozenset(stage for stage, rows in self.again.items() if rows[row]),
            placed(self.alone),
        )


def _handed(stage: str, candidates: Candidates, row: int, first_id: int) -> Handed:
    ids, scores = sort_hits(candidates.hits_of(row))
    return Handed(stage, tuple([id - first_id for id in ids]), scores)
