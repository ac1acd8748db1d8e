"""Cases and their answers as the arrays that every measure reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from recallbench.cases.answer import Answer
from recallbench.cases.case import SHOWN, Case
from recallbench.cases.nearness import Near, nearness
from recallbench.cases.shares import Steps
from recallbench.corpora.matching.method import Matching, Step
from recallbench.corpora.matching.text_matching import Likeness
from recallbench.corpora.matching.tokens import overlap, words
from recallbench.errors import InputError
from recallbench.scoring.judgement import Judged, judge, merged

Texts = Mapping[Any, str] | Callable[[Any], str]
"""What hits say, by id."""
DecidedBy = Literal["id", "text", ""]
"""What decides a case: the relevant ids, the expected text, or nothing, where nothing is to be found."""


def judge_by_id(cases: Sequence[Case], answers: Sequence[Answer], depth: int, candidates: int | None) -> Judged:
    """Judge each answer by the relevant ids of its case; `candidates` is how many items could come back, if known."""
    rankings, gold, grades, sizes = [], [], [], []
    graded = any(case.grades is not None for case in cases)
    firsts: dict[int, frozenset[int]] = {}
    for case, answer in zip(cases, answers, strict=True):
        # The relevant ids are the first positions; what else came back follows, in any order.
        number = {id: n for n, id in enumerate(case.relevant)}
        count = len(number)
        gold.append(firsts.get(count) or firsts.setdefault(count, frozenset(range(count))))
        if graded:
            for id in case.grades or ():
                number.setdefault(id, len(number))
            grades.append({number[id]: grade for id, grade in (case.grades or {}).items()})
        if candidates is None:
            known, place = len(number), number.get
            rankings.append([place(id, n) for n, id in enumerate(answer.ids, known)])
            sizes.append(known + len(answer.ids))
            continue
        rankings.append([number.setdefault(id, len(number)) for id in answer.ids])
        sizes.append(candidates)
        if len(number) > candidates:
            raise case.wrong("more items than there are candidates", f"at most {candidates}", f"{len(number)}")
    found = judge(rankings, gold, sizes, depth, grades if graded else None)
    if not found.first.any():
        _refuse_unlike_ids(cases, answers)
    return found


def _refuse_unlike_ids(cases: Sequence[Case], answers: Sequence[Answer]) -> None:
    """Raise InputError for strings on one side and numbers on the other: they never match, like a recall of 0."""
    wanted = [id for case in cases for id in case.relevant]
    returned = [id for answer in answers for id in answer.ids]
    if not wanted or not returned:
        return
    strings = [{isinstance(id, str) for id in ids} for ids in (wanted, returned)]
    if strings[0].isdisjoint(strings[1]):
        one, other = wanted[0], returned[0]
        raise InputError(
            "no id that came back can ever be a relevant one",
            expected=f"ids such as {one!r}, a {type(one).__name__}"[: 2 * SHOWN],
            found=f"ids such as {other!r}, a {type(other).__name__}"[: 2 * SHOWN],
            remedy="give both as strings, or both as numbers",
        )


def ways_of(cases: Sequence[Case], matching: Matching) -> tuple[DecidedBy, ...]:
    """Return what decides each case. Where some have ids and no expected text, ids decide each that has any.

    With hybrid, ids are one of the ways in which a case with an expected text is decided.
    """
    mixed = any(case.relevant and case.expected is None for case in cases)
    found: list[DecidedBy] = []
    for case in cases:
        if not case.relevant and case.expected is None:
            found.append("")
        else:
            alone = mixed and bool(case.relevant) and matching.method != "hybrid"
            by_id = not matching.by_text or case.expected is None or alone
            found.append("id" if by_id else "text")
    return tuple(found)


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


def measure_likenesses(
    cases: Sequence[Case],
    answers: Sequence[Answer],
    ways: Sequence[DecidedBy],
    matching: Matching,
    texts: Texts | None,
    *,
    keep_going: bool = False,
) -> tuple[list[Answer], list[list[Likeness]], Near]:
    """Return how near each retrieved text comes to the expected one, and any other; nothing where no text decides.

    Raises InputError, naming the case, where one of the two is missing; `keep_going` makes that case a failed answer.
    """
    kept = list(answers)
    said: list[list[str]] = []
    for number, (case, answer, way) in enumerate(zip(cases, answers, ways, strict=True)):
        try:
            said.append(_said(case, answer, matching, texts) if way == "text" else [])
        except InputError as error:
            if not keep_going:
                raise
            kept[number] = Answer((), None, error)
            said.append([])
    expected = [case.expected or "" for case in cases]
    near = nearness(expected, said, matching, texts)
    found = []
    for case, answer, texts_of_case, way in zip(cases, kept, said, ways, strict=True):
        ids = frozenset(case.relevant if matching.method == "hybrid" and way == "text" else ())
        hits = zip(answer.ids, texts_of_case, strict=True) if way == "text" else ()
        found.append([replace(near(case.expected or "", text), by_id=hit in ids) for hit, text in hits])
    return kept, found, near


def _said(case: Case, answer: Answer, matching: Matching, texts: Texts | None) -> list[str]:
    if not words(case.expected or ""):
        raise case.wrong("an expected text without words", "letters or digits", repr(case.expected)[:SHOWN])
    return [text_of_hit(case, id, matching, texts) for id in answer.ids]


def text_of_hit(case: Case, id: Any, matching: Matching, texts: Texts | None) -> str:
    """Return the text of a hit; empty where a relevant id has none, which hybrid takes as it is."""
    try:
        return text_of(case, id, texts)
    except InputError:
        if matching.method == "hybrid" and id in case.relevant:
            return ""
        raise


def text_of(case: Case, id: Any, texts: Texts | None) -> str:
    """Return the text of a hit; raises InputError where it is not known."""
    if texts is None:
        text = id
    elif isinstance(texts, Mapping):
        text = texts.get(id)
    else:
        text = texts(id)
    if not isinstance(text, str):
        found = f"nothing for {id!r}" if text is None else repr(text)[:SHOWN]
        raise case.wrong("a hit has no text", "the text of every hit", found, "give texts, by id")
    return text


def judge_each_way(
    cases: Sequence[Case],
    answers: Sequence[Answer],
    ways: Sequence[DecidedBy],
    found: Sequence[Sequence[Likeness]],
    matching: Matching,
    depth: int,
) -> Judged:
    """Judge each case by what decides it, all of them in one judgement."""
    parts = []
    by_id = [n for n, way in enumerate(ways) if way == "id"]
    if by_id:
        parts.append((by_id, judge_by_id([cases[n] for n in by_id], [answers[n] for n in by_id], depth, None)))
    others = [n for n, way in enumerate(ways) if way != "id"]
    if others:
        parts.append((others, judge_by_text([cases[n] for n in others], [found[n] for n in others], matching, depth)))
    return merged(parts)


def steps_of(
    cases: Sequence[Case],
    answers: Sequence[Answer],
    ways: Sequence[DecidedBy],
    found: Sequence[Sequence[Likeness]],
    matching: Matching,
) -> tuple[Steps, ...] | None:
    """Return by what each hit of each case matched, for hybrid; None for other methods."""
    if matching.method != "hybrid":
        return None
    steps: list[Steps] = []
    for case, answer, way, likes in zip(cases, answers, ways, found, strict=True):
        relevant = frozenset(case.relevant)
        by_id: list[Step | None] = ["id" if id in relevant else None for id in answer.ids]
        steps.append([one.step(matching) for one in likes] if way == "text" else by_id)
    return tuple(steps)


def judge_by_text(
    cases: Sequence[Case], found: Sequence[Sequence[Likeness]], matching: Matching, depth: int, at: float | None = None
) -> Judged:
    """Judge by text: one thing is to be found for each case, and the first text that matches has found it.

    Every text that matches counts for precision and nDCG. Nobody knows how many others there are, so what did not come
    back is taken to match as well: a case has something to find, and the most that a ranking can get is 1.
    """
    gold, unseen = [], []
    for case, likes in zip(cases, found, strict=True):
        gold.append(frozenset(place for place, one in enumerate(likes) if one.matches(matching, at)))
        unseen.append(0 if case.expected is None else depth)
    sizes = [len(likes) + depth for likes in found]
    every = [True] * len(cases)
    return judge([range(len(likes)) for likes in found], gold, sizes, depth, one_find=every, unseen=unseen)
