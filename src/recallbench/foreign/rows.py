"""Checks on the rows of a foreign folder: questions, gold, scope, and the figures in the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from recallbench.audit.gate import Check
from recallbench.foreign.case import ForeignCase, abridge, check, passed_unless
from recallbench.foreign.corpus_index import names_a_turn, session_name
from recallbench.foreign.counts import check_counts
from recallbench.foreign.layouts.layout import ImportedQuestion
from recallbench.foreign.names import meaning_of
from recallbench.foreign.rescoring import OFFICIAL
from recallbench.foreign.universes import DEPTHS, Definition, bounds, definitions

_PROTOCOL_DEPTH = 50


def check_rows(case: ForeignCase) -> Iterator[Check]:
    """Check the rows, with their questions, gold, scope and figures where rankings were kept."""
    imported, questions = case.imported, case.imported.questions
    if not questions:
        yield check("RB-F-ROWS", "rows readable", "fail", abridge(imported.unstated))
        return
    yield check("RB-F-ROWS", "rows readable", "pass", f"{len(questions)} rows of {imported.rows}")
    yield _questions(case)
    yield check_counts(case)
    yield _gold(case)
    turns = [question.id for question in questions if any(map(names_a_turn, (*question.ranked, *question.gold)))]
    listed = any(names_a_turn(id) for question in questions for id in question.ranked)
    yield passed_unless(
        "RB-F-UNIT",
        "unit",
        [f"turns were ranked, not sessions: {len(turns)} questions, such as {turns[0]}"] if listed else [],
        "no id is that of a turn",
    )
    yield _scope(case)
    yield _twice(case)
    short = imported.depth and imported.depth < _PROTOCOL_DEPTH
    yield check(
        "RB-F-DEPTH",
        "depth kept",
        "cannot-tell" if short else "pass",
        f"rows keep {imported.depth} ids: figures beyond can only be bounded" if short else "rankings are kept whole",
    )
    yield _order(case)
    yield from _first(case)
    yield from _stated(case)


def _questions(case: ForeignCase) -> Check:
    questions = case.imported.questions
    wrong = [
        f"{id} comes {times} times" for id, times in Counter(question.id for question in questions).items() if times > 1
    ]
    if case.dataset is None:
        expected = case.corpus.with_evidence if case.corpus else 0
        if wrong or (expected and len(questions) not in (expected, case.corpus.questions if case.corpus else 0)):
            wrong.append(f"{len(questions)} rows, {expected} expected")
            return passed_unless("RB-F-QUESTIONS", "questions complete", wrong, "")
        return check(
            "RB-F-QUESTIONS",
            "questions complete",
            "cannot-tell",
            f"{len(questions)} rows, none twice; which they should be, the dataset tells",
        )
    known = case.rescored.known
    strange = [
        f"{question.id} is not in the dataset"
        for question, entry in zip(questions, known, strict=True)
        if entry is None
    ]
    if strange and not case.dataset.registered and not wrong:
        text = f"the corpus file is not the registered one, and lacks questions: {abridge(strange)}"
        return check("RB-F-QUESTIONS", "questions complete", "cannot-tell", text)
    wrong += strange
    occurrences = Counter(entry.id for entry in known if entry)
    wrong += [f"{id} is asked {times} times" for id, times in occurrences.items() if times > 1]
    missing = [entry.id for entry in case.dataset.questions if entry.gold and entry.id not in occurrences]
    wrong += [f"{id} is missing" for id in missing]
    return passed_unless(
        "RB-F-QUESTIONS", "questions complete", wrong, f"{len(questions)} rows, each a question of the dataset"
    )


def _gold(case: ForeignCase) -> Check:
    if case.dataset is None:
        return check("RB-F-GOLD", "gold as derived", "cannot-tell", case.why_no_dataset)
    if not case.imported.gold_stated:
        return check("RB-F-GOLD", "gold as derived", "cannot-tell", "rows state no gold: the dataset's is taken")
    wrong = []
    for question, entry in zip(case.imported.questions, case.rescored.known, strict=True):
        if entry is None:
            continue
        stated = {case.dataset.locate(id)[1] for id in question.gold}
        if stated != entry.gold:
            wrong.append(f"{question.id} states {_set(stated)}, the dataset gives {_set(entry.gold)}")
    return passed_unless(
        "RB-F-GOLD", "gold as derived", [f"{len(wrong)} questions: {abridge(wrong)}"] if wrong else [], "alike"
    )


def _set(names: set[str] | frozenset[str]) -> str:
    return "{" + ", ".join(sorted(names)) + "}"


def _scope(case: ForeignCase) -> Check:
    leaks = case.rescored.leaks
    if leaks:
        questions = len({leak.question for leak in leaks})
        wrong = [f"{leak.question} lists {leak.id}: {leak.why}" for leak in leaks]
        text = (
            f"{len(leaks)} ids in {questions} questions cannot be of the question's own scope: {abridge(wrong, 'ids')}"
        )
        return check("RB-F-SCOPE", "ids in scope", "fail", text)
    if case.rescored.scoping == "unknown":
        strange = sum(entry is None for entry in case.rescored.known)
        text = "ids do not name their scope, nor does a dataset tell"
        if case.dataset is not None and strange < len(case.rescored.known):
            text = f"no id contradicts its question's scope, but {strange} questions are not in the corpus file"
        return check("RB-F-SCOPE", "ids in scope", "cannot-tell", text)
    reason = "each id names its scope" if case.rescored.scoping == "named" else "no id contradicts its question's scope"
    return check("RB-F-SCOPE", "ids in scope", "pass", reason)


def _twice(case: ForeignCase) -> Check:
    wrong, undecided = [], []
    for question, entry in zip(case.imported.questions, case.rescored.known, strict=True):
        repeated = [id for id, times in Counter(question.ranked).items() if times > 1]
        if not repeated:
            continue
        sessions: Mapping[str, int] | None = Counter(question.haystack) if question.haystack is not None else None
        if sessions is None and case.dataset is not None and entry is not None:
            sessions = case.dataset.sessions[entry.scope]
        # A haystack may hold a session twice (clarification 6); a conversation never does.
        if sessions is None and not question.scope:
            undecided.append(f"{question.id} lists {repeated[0]} more than once")
        elif sessions is None or any(sessions.get(session_name(id), sessions.get(id, 0)) < 2 for id in repeated):
            wrong.append(f"{question.id} lists {repeated[0]} more than once")
    if wrong or not undecided:
        return passed_unless(
            "RB-F-TWICE", "doubled ids", [f"{len(wrong)} rankings: {abridge(wrong)}"] if wrong else [], "none"
        )
    return check("RB-F-TWICE", "doubled ids", "cannot-tell", f"a haystack may hold it twice: {abridge(undecided)}")


def _order(case: ForeignCase) -> Check:
    scored = [question for question in case.imported.questions if question.scores]
    if not scored:
        return check("RB-F-ORDER", "scores ordered", "cannot-tell", "rows keep no scores", needed=False)
    wrong = [
        question.id
        for question in scored
        if any(a < b for a, b in zip(question.scores, question.scores[1:], strict=False))
    ]
    return passed_unless("RB-F-ORDER", "scores ordered", [f"{id} rises" for id in wrong], f"in {len(scored)} rankings")


def _first(case: ForeignCase) -> Iterator[Check]:
    questions = case.imported.questions
    stated = [question for question in questions if question.first is not None]
    if not stated:
        return
    wrong, agreeing, deeper, without = [], 0, 0, 0
    for question in stated:
        golden = set(question.gold)
        place = next((rank for rank, id in enumerate(question.ranked, start=1) if id in golden), 0)
        if place == question.first and (place or not _cut(case, question)):
            agreeing += 1
        elif not place and not question.first:
            without += 1
        elif not place and (question.first or 0) > len(question.ranked) and _cut(case, question):
            deeper += 1
        else:
            wrong.append(f"{question.id} states {question.first or 'none'}, its list has {place or 'none'}")
        reciprocal = question.stated.get("mrr")
        if reciprocal is not None and abs(reciprocal - (1 / question.first if question.first else 0.0)) > 1e-4:
            wrong.append(f"{question.id} states mrr {reciprocal} beside first rank {question.first}")
    text = f"{agreeing} agree with their lists"
    text += f"; {deeper} lie deeper than what was kept and are only stated" if deeper else ""
    text += (
        f"; of {without} it is only stated that no first hit came, and none is among the kept ids" if without else ""
    )
    yield passed_unless("RB-F-FIRST", "first hits as kept", wrong, text)


def _cut(case: ForeignCase, question: ImportedQuestion) -> bool:
    """Return whether more hits may have come back than the row has."""
    return 0 < case.imported.depth <= len(question.ranked)


def _stated(case: ForeignCase) -> Iterator[Check]:
    """Check the figures in the rows against every definition of their name."""
    questions = case.imported.questions
    official = next((view for view in case.rescored.views if view.name == OFFICIAL), case.rescored.views[0])
    names = dict.fromkeys(name for question in questions for name in question.stated if name != "mrr")
    for name in names:
        meant = meaning_of(name)
        if not meant.family or meant.k is None:
            continue
        rows = np.array([name in question.stated for question in questions], dtype=np.bool_)
        values = np.array([question.stated.get(name, 0.0) for question in questions])
        agreeing = []
        closest = (0, Definition("", 1))
        for definition in definitions((*DEPTHS, meant.k)):
            if not meant.follows(definition):
                continue
            low, high = bounds(definition, official)
            same = rows & (low - 1e-4 <= values) & (values <= high + 1e-4)
            # LongMemEval's program counts a question without gold as 1, and so does MemPalace's.
            empty_is_1 = definition.kind in ("recall_all", "recall_frac")
            same |= rows & (official.judged.gold == 0) & (values == 1.0) & empty_is_1
            closest = max(closest, (int(same.sum()), definition))
            if same.sum() == rows.sum():
                agreeing.append(str(definition))
        text = f"of each row is {' or '.join(agreeing)}"
        if not agreeing:
            text = f"follows no definition in all rows: {closest[1]} in {closest[0]} of {int(rows.sum())}"
        yield check("RB-F-STATED", f"row field {name}", "pass" if agreeing else "fail", f"{name} {text}")
