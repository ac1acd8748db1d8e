"""Which questions of a corpus are asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from recallbench.corpora.pooled import pooled
from recallbench.corpora.records import Haystack


def select_haystacks(
    haystacks: Iterable[Haystack], *, pool: bool, limit: int | None, ignore_time: bool = False
) -> Iterator[Haystack]:
    """The haystacks as a run gives them to a store: each by itself or all in one, with the questions it asks.

    With `ignore_time` a question may be answered from what was said after it.
    """
    if ignore_time:
        haystacks = map(timeless, haystacks)
    return select_questions(pooled(haystacks) if pool else haystacks, limit)


def timeless(haystack: Haystack) -> Haystack:
    """Return the haystack with questions that may be answered from all of it."""
    return replace(haystack, questions=tuple(replace(question, visible=None) for question in haystack.questions))


def select_questions(haystacks: Iterable[Haystack], limit: int | None) -> Iterator[Haystack]:
    """Each haystack with the questions that are asked, the first `limit` of the corpus; no haystack after the last."""
    left = limit
    for haystack in haystacks:
        if left is not None and left <= 0:
            return
        questions = tuple(question for question in haystack.questions if question.is_asked)
        if left is not None:
            questions = questions[:left]
            left -= len(questions)
        yield haystack if questions == haystack.questions else replace(haystack, questions=questions)
