"""The haystacks of a study, at several times their own size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from recallbench.corpora.grown import Distractors
from recallbench.corpora.labelled_sets.labelled_files import read_documents
from recallbench.corpora.labelled_sets.labelled_records import DOCUMENTS, Files
from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.matching.text_gold import find_matching_segments
from recallbench.corpora.records import Corpus, Haystack, Segment
from recallbench.errors import UsageError
from recallbench.progress import Progress


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes that haystacks can have."""

    haystacks: Sequence[Haystack]
    pool: Distractors
    factors: tuple[int, ...]
    """Those that there are documents for, in order; the largest possible one stands for all that are larger."""
    left_out: tuple[int, ...]
    """Requested factors that are larger."""
    room: int
    """The largest factor with enough documents."""
    passed_over: int
    """Documents that answer a query of another haystack, and so are no distractors there."""

    def grown(self, factor: int, seed: int) -> Iterator[Haystack]:
        """Yield the haystacks at that many times their own size."""
        return self.pool.grown(factor, seed)


def find_sizes(
    corpus: Corpus, name: str, factors: Sequence[int], distractors: Path | None, progress: Progress
) -> Sizes:
    """Return the sizes that this corpus can have; raises UsageError where it can't grow at all."""
    haystacks, name = list(corpus.haystacks()), plain_names(name)
    if max(factors) > 1 and any(q.visible is not None for haystack in haystacks for q in haystack.questions):
        raise UsageError(
            f"the haystacks of {name} can't grow: what is added comes last, and no question would see it",
            expected="a corpus whose questions see all of their haystack",
            found=f"{name}, whose questions see what was said before them",
            remedy="recallbench corpora lists others",
        )
    matching = corpus.matching
    if matching is not None:
        corpus.survey()  # raises where no document matches anything
    pool = _distractors(haystacks, _segments_of(distractors), matching)
    passed_over = len(frozenset().union(*pool.answers.values()))
    most = pool.largest_factor()
    if most < 2 and max(factors) > 1:
        raise UsageError(
            f"the haystacks of {name} can't grow",
            expected="as many documents from elsewhere as the largest haystack has",
            found=f"{len(pool.segments)} in all"
            + (f", of which {passed_over} {_answering(matching)}" if passed_over else ""),
            remedy="name a file of documents that answer nothing here with --distractors",
        )
    left_out = tuple(factor for factor in factors if factor > most)
    if left_out:
        progress.note(f"{', '.join(f'{factor}x' for factor in left_out)} left out: there are documents for {most}x")
    possible = tuple(sorted({min(factor, most) for factor in factors}))
    return Sizes(haystacks, pool, possible, left_out, most, passed_over)


def _distractors(haystacks: Sequence[Haystack], documents: Sequence[Segment], matching: Matching | None) -> Distractors:
    """Return the segments to draw from. A document that would answer a query of a haystack is no distractor there.

    Matched by id, only copies of a relevant document are known to answer; matched by text, any document can be judged.
    As a distractor it would count against the store that finds it.
    """
    pool = Distractors(haystacks, documents)
    if matching is None:
        return Distractors(haystacks, documents, pool.copies())
    ends = list(accumulate(len(haystack.segments) for haystack in haystacks))
    own = {
        haystack.scope: range(0) if documents else range(end - len(haystack.segments), end)
        for haystack, end in zip(haystacks, ends, strict=True)
    }
    answers: dict[str, set[int]] = {}
    questions = [question for haystack in haystacks for question in haystack.questions]
    for question, places in find_matching_segments(pool.segments, questions, matching):
        answers.setdefault(question.scope, set()).update(place for place in places if place not in own[question.scope])
    return Distractors(haystacks, documents, answers)


def _answering(matching: Matching | None) -> str:
    return "say what a relevant one says" if matching is None else "match what a query expects"


def _segments_of(file: Path | None) -> list[Segment]:
    if file is None:
        return []
    documents = read_documents(Files({DOCUMENTS: file}), file.name)
    return [
        Segment("", 0, document.text, document.occurred_at, document.id, importance=document.importance)
        for document in documents
    ]
