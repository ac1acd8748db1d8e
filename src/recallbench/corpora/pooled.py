"""All haystacks of a corpus pooled into one: what the published LoCoMo baseline did, and a deviation here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from recallbench.corpora.records import Haystack, Question, Segment

SCOPE = "pooled"


def pooled(haystacks: Iterable[Haystack]) -> Iterator[Haystack]:
    """Yield one haystack of every segment; gold still means the segment of the question's own conversation."""
    segments: list[Segment] = []
    questions: list[Question] = []
    for haystack in haystacks:
        offset = len(segments)
        segments += [replace(s, scope=SCOPE, position=offset + s.position) for s in haystack.segments]
        questions += [
            replace(
                question,
                scope=SCOPE,
                gold=frozenset(offset + position for position in question.gold),
                grades={offset + position: grade for position, grade in question.grades.items()},
                exact=frozenset(offset + position for position in question.exact),
                later=frozenset(offset + position for position in question.later),
                by_id=frozenset(offset + position for position in question.by_id),
                likeness=question.likeness.moved(offset),
            )
            for question in haystack.questions
        ]
    yield Haystack(SCOPE, tuple(segments), tuple(questions))
