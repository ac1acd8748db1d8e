"""Cases that a text decides, beside those that ids do, as the arrays that every measure reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from recallbench.cases.answer import Answer
from recallbench.cases.case import SHOWN, Case
from recallbench.cases.judging import judge_by_id
from recallbench.cases.nearness import Near, nearness
from recallbench.cases.shares import Steps
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.matching.text_matching import Likeness
from recallbench.corpora.matching.tokens import overlap, words
from recallbench.errors import InputError
from recallbench.scoring.judgement import Judged, judge, merged

Texts = Mapping[Any, str] | Callable[[Any], str]
"""The texts of hits by id."""
DecidedBy = Literal["id", "text", ""]
"""The basis of a judgement: its relevant ids, the expected text, or neither, where nothing is to be found."""


@dataclass(frozen=True, slots=True, eq=False)
class MatchedCase:
    """A case and its answer, with how near each hit comes to the expected text, where that decides."""

    case: Case
    answer: Answer
    decided_by: DecidedBy
    texts: tuple[str, ...] = ()
    """The texts of the hits."""
    likenesses: tuple[Likeness, ...] = ()

    def steps(self, matching: Matching) -> Steps:
        """Return the step that each hit matched by, for hybrid."""
        if self.decided_by == "text":
            return [near.step(matching) for near in self.likenesses]
        return ["id" if id in self.case.relevant else None for id in self.answer.ids]


def decide(cases: Sequence[Case], matching: Matching) -> tuple[DecidedBy, ...]:
    """Return whether ids or texts decide each case. Where some cases have ids alone, ids decide each that has any.

    With hybrid, ids are one of the ways in which a case with an expected text is decided.
    """
    mixed = matching.method != "hybrid" and any(case.relevant and case.expected is None for case in cases)

    def decides(case: Case) -> DecidedBy:
        if case.expected is None:
            return "id" if case.relevant else ""
        return "id" if mixed and case.relevant else "text"

    return tuple(map(decides, cases))


def refuse_ids_for_texts(
    cases: Sequence[Case], answers: Sequence[Answer], ways: Sequence[DecidedBy], matching: Matching, texts: Texts | None
) -> str | None:
    """Warn where hits stand for their own texts and look like ids; raises InputError where they are relevant ids.

    An id beside an expected text shares no word with it, which looks like a recall of 0; with hybrid it counts itself.
    """
    if callable(texts):
        return None
    known = texts or {}
    worded, looks = False, None
    for case, answer, way in zip(cases, answers, ways, strict=True):
        ids = {*case.relevant, *(case.grades or ())}
        for hit in answer.ids if way == "text" else ():
            if not isinstance(hit, str) or known.get(hit, hit) != hit:
                continue
            # An id that shares words with the expected text may well be that text.
            if matching.method != "hybrid" and hit in ids and not overlap(words(hit), words(case.expected or "")):
                raise case.wrong(
                    "a relevant id where a text should be",
                    "the text of every hit, to match by text",
                    f"{hit!r}"[:SHOWN],
                    "give the texts of ids: texts={id: text} (--texts corpus.jsonl)",
                )
            worded = worded or len(hit.split()) > 1
            looks = looks or hit
    if worded or looks is None:
        return None
    return (
        f"no texts (--texts FILE): each hit, such as {looks!r}, was taken for a text itself, and all are single words"
    )


def match_cases(
    cases: Sequence[Case],
    answers: Sequence[Answer],
    ways: Sequence[DecidedBy],
    matching: Matching,
    texts: Texts | None,
    *,
    keep_going: bool = False,
) -> tuple[list[MatchedCase], Near]:
    """Return each case with how near its hits come to the expected text, and how near any other text would.

    Raises InputError, naming the case, where one of the two is missing; `keep_going` makes that case a failed answer.
    """
    matched_cases = []
    for case, answer, way in zip(cases, answers, ways, strict=True):
        try:
            hits = _texts_of(case, answer, matching, texts) if way == "text" else ()
            matched_cases.append(MatchedCase(case, answer, way, hits))
        except InputError as error:
            if not keep_going:
                raise
            matched_cases.append(MatchedCase(case, Answer((), None, error), way))
    near = nearness([case.expected or "" for case in cases], [entry.texts for entry in matched_cases], matching, texts)

    def likenesses(matched: MatchedCase) -> tuple[Likeness, ...]:
        ids = frozenset(matched.case.relevant if matching.method == "hybrid" else ())
        hits = zip(matched.answer.ids, matched.texts, strict=False)
        return tuple(replace(near(matched.case.expected or "", text), by_id=id in ids) for id, text in hits)

    return [replace(entry, likenesses=likenesses(entry)) for entry in matched_cases], near


def _texts_of(case: Case, answer: Answer, matching: Matching, texts: Texts | None) -> tuple[str, ...]:
    """Return the texts of the hits; with hybrid, a relevant id needs none."""
    if not words(case.expected or ""):
        raise case.wrong("the expected text has no words", "letters or digits", repr(case.expected)[:SHOWN])
    known = frozenset(case.relevant if matching.method == "hybrid" else ())
    return tuple(_text_of(case, id, texts, needed=id not in known) for id in answer.ids)


def _text_of(case: Case, id: Any, texts: Texts | None, *, needed: bool) -> str:
    if texts is None:
        text = id
    elif isinstance(texts, Mapping):
        text = texts.get(id)
    else:
        text = texts(id)
    if isinstance(text, str):
        return text
    if not needed:
        return ""
    description = f"nothing for {id!r}" if text is None else repr(text)[:SHOWN]
    raise case.wrong("a hit has no text", "the text of every hit", description, "give texts, by id")


def judge_matched(matched: Sequence[MatchedCase], matching: Matching, depth: int) -> Judged:
    """Judge each case by ids or by text, all of them in one judgement."""
    parts = []
    by_id = [n for n, entry in enumerate(matched) if entry.decided_by == "id"]
    if by_id:
        ids = [matched[n] for n in by_id]
        parts.append((by_id, judge_by_id([entry.case for entry in ids], [entry.answer for entry in ids], depth, None)))
    others = [n for n, entry in enumerate(matched) if entry.decided_by != "id"]
    if others:
        rest = [matched[n] for n in others]
        judged = judge_by_text([entry.case for entry in rest], [entry.likenesses for entry in rest], matching, depth)
        parts.append((others, judged))
    return merged(parts)


def judge_by_text(
    cases: Sequence[Case], likenesses: Sequence[Sequence[Likeness]], matching: Matching, depth: int
) -> Judged:
    """Judge by text: each case has one thing to find, and the first text that matches has found it.

    Every text that matches counts for precision and nDCG. How many others there are is unknown, so texts that did not
    come back are taken to match as well: a case has something to find, and the most that a ranking can get is 1.
    """
    gold, unseen = [], []
    for case, likes in zip(cases, likenesses, strict=True):
        gold.append(frozenset(place for place, like in enumerate(likes) if like.matches(matching)))
        unseen.append(0 if case.expected is None else depth)
    sizes = [len(likes) + depth for likes in likenesses]
    every = [True] * len(cases)
    return judge([range(len(likes)) for likes in likenesses], gold, sizes, depth, one_find=every, unseen=unseen)
