"""An imported folder as the arrays that a multiverse is made of: views of its rankings, and who is counted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from recallbench.foreign.layouts.dataset import (
    CorpusIndex,
    CorpusQuestion,
    leaks,
    match_questions,
    names_a_turn,
    session_name,
)
from recallbench.foreign.layouts.layout import Imported, ImportedQuestion
from recallbench.foreign.universes import Denominator, View, view
from recallbench.scoring.judgement import Bools

Scoping = Literal["named", "consistent", "contradicted", "unknown"]

_COUNT = re.compile(r"[0-9]{1,9}")

OWN = "own scope"
"""An id counts only in its question's own haystack; others keep their place as misses."""
REMOVED = "own scope, others removed"
BARE = "bare ids"
"""Ids match by session name alone, whatever haystack they come from."""
SESSIONS = "bare ids, turns cut to sessions"
OFFICIAL = "gold said by users"
"""LongMemEval's own count: a session is gold only where a user turn of it holds the answer."""
MEANINGS: Mapping[str, str] = {
    OWN: "an id counts only in its question's own haystack; of a pooled run, the others keep their places as misses",
    REMOVED: "ids of other haystacks are taken out first, and those behind them move up",
    BARE: "ids match by session name alone, whatever haystack they come from",
    SESSIONS: "as bare ids, each turn taken for its session, which stands where its first turn stood",
    OFFICIAL: "LongMemEval's own count: a session is gold only where a user turn of it holds the answer",
}
"""What each view means."""
STATED = ", gold as stated"
"""Behind the name of a view, where rows state other gold than the dataset gives."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A retrieved id that cannot belong to its question's scope."""

    question: str
    id: str
    why: str


@dataclass(frozen=True, eq=False, slots=True)
class RescoredRankings:
    """Everything a published number of the folder can be held against."""

    views: tuple[View, ...]
    denominators: tuple[Denominator, ...]
    slices: Mapping[str, Bools]
    """Parts of the questions by label, as rows or dataset name them."""
    scoping: Scoping
    """Whether it shows that rankings hold the question's own scope: ids name it, or nothing contradicts, or they do."""
    leaks: tuple[Leak, ...]
    known: tuple[CorpusQuestion | None, ...]
    """The dataset's question of each row; all None where no dataset was given."""
    differing: tuple[str, ...] = ()
    """Questions whose rows state other gold than the dataset gives."""
    derived: bool = False
    """Gold is the dataset's, not the rows'."""

    @property
    def own_view(self) -> str:
        """The view that stands for the question's own scope; empty where none can."""
        return {"named": OWN, "consistent": BARE}.get(self.scoping, "")


def rescore(imported: Imported, dataset: CorpusIndex | None, derive: bool = False) -> RescoredRankings:
    """Views, denominators and slices of a folder's rows.

    `derive` takes gold from the dataset; where rows state another, views of their gold follow those of the dataset's.
    """
    known: list[CorpusQuestion | None] = (
        match_questions(dataset, imported.questions) if dataset else [None] * len(imported.questions)
    )
    differing = _differing(imported.questions, dataset, known) if dataset else ()
    scoping, leaking = _scoping(imported, dataset, known)
    views: tuple[View, ...] = ()
    stated = imported
    # A dataset's gold is sessions; of rows that keep turns, which turn was meant is theirs to state.
    derive = derive and not any(names_a_turn(id) for one in imported.questions[:50] for id in (*one.gold, *one.ranked))
    if derive and dataset is not None and differing:
        imported = replace(imported, questions=_derived(imported.questions, dataset, known, {*differing}))
        views = tuple(replace(one, name=one.name + STATED) for one in _views(stated, dataset, scoping))
    return RescoredRankings(
        (*_views(imported, dataset, scoping), *views),
        _denominators(imported, dataset, known),
        _slices(imported.questions, known),
        scoping,
        leaking,
        tuple(known),
        differing,
        derive and dataset is not None,
    )


def _differing(
    asked: Sequence[ImportedQuestion], dataset: CorpusIndex, known: Sequence[CorpusQuestion | None]
) -> tuple[str, ...]:
    found = []
    for one, its in zip(asked, known, strict=True):
        if its is not None:
            places = {dataset.locate(id) for id in one.gold}
            if any(scope not in ("", its.scope) for scope, _ in places) or {name for _, name in places} != its.gold:
                found.append(one.id)
    return tuple(found)


def _derived(
    asked: Sequence[ImportedQuestion], dataset: CorpusIndex, known: Sequence[CorpusQuestion | None], differing: set[str]
) -> tuple[ImportedQuestion, ...]:
    """The rows with the dataset's gold, spelled as the folder spells ids."""
    spelled: dict[tuple[str, str], str] = {place: id for id, place in dataset.segments.items()}
    bare: dict[str, str] = {}
    named = all(_names_scope(id) for one in asked[:50] for id in one.ranked)
    for one in asked:
        bare.update((session_name(id), id) for id in (*one.ranked, *one.gold))
    found = []
    for one, its in zip(asked, known, strict=True):
        if its is not None and one.id in differing:
            gold = (
                spelled.get((its.scope, name), f"{its.scope}/{name}") if named else bare.get(name, name)
                for name in sorted(its.gold)
            )
            # The stated first rank is that of other gold.
            one = replace(one, gold=tuple(gold), first=None)
        found.append(one)
    return tuple(found)


def _names_scope(id: str) -> bool:
    return "/" in id


def _scoping(
    imported: Imported, dataset: CorpusIndex | None, known: Sequence[CorpusQuestion | None]
) -> tuple[Scoping, tuple[Leak, ...]]:
    asked = imported.questions
    found: list[Leak] = []
    checked = False
    for one, its in zip(asked, known, strict=True):
        if dataset is not None:
            checked = True
            found += [Leak(one.id, id, why) for id, why in leaks(dataset, one, its)]
        elif one.haystack is not None:
            checked = True
            found += [Leak(one.id, id, "its row lists no such session") for id in set(one.ranked) - set(one.haystack)]
        elif one.scope and not any(map(_names_scope, one.ranked)) and len(set(one.ranked)) < len(one.ranked):
            checked = True
            twice = next(id for i, id in enumerate(one.ranked) if id in one.ranked[:i])
            if not names_a_turn(twice):
                found.append(Leak(one.id, twice, f"it comes twice, and {one.scope} has each session once"))
        elif one.scope:
            found += [
                Leak(one.id, id, f"it is of {id.rpartition('/')[0]}")
                for id in one.ranked
                if _names_scope(id) and id.rpartition("/")[0] != one.scope
            ]
    if asked and all(one.scope and all(map(_names_scope, one.ranked)) for one in asked):
        return "named", tuple(found)
    if found:
        return "contradicted", tuple(found)
    everyone = dataset is not None and all(its is not None for its in known)
    listed = all(one.haystack is not None for one in asked)
    return ("consistent" if checked and (everyone or listed) else "unknown"), ()


def _views(imported: Imported, dataset: CorpusIndex | None, scoping: Scoping) -> tuple[View, ...]:
    views = _call_views(imported, dataset, scoping)
    reach = imported.short_depth
    if not reach:
        return views
    questions = tuple(replace(one, ranked=one.short or ()) for one in imported.questions)
    calls = _call_views(replace(imported, questions=questions, depth=reach), dataset, scoping)
    by_name = {call.name: call for call in calls}
    return tuple(replace(view, call=by_name.get(view.name), reach=reach) for view in views)


def _call_views(imported: Imported, dataset: CorpusIndex | None, scoping: Scoping) -> tuple[View, ...]:
    asked, kept = imported.questions, imported.depth
    ranked, gold = [one.ranked for one in asked], [one.gold for one in asked]
    cut = [bool(kept) and len(ids) >= kept for ids in ranked]
    if scoping == "named":
        return _named_views(asked, kept, dataset)
    found = [view(BARE, ranked, gold, kept, _first(asked))]
    if any(names_a_turn(id) for ids in ranked[:50] for id in ids):
        names = [list(dict.fromkeys(session_name(id) for id in ids)) for ids in ranked]
        found.append(view(SESSIONS, names, [[session_name(id) for id in ids] for ids in gold], cut=cut))
    if any(one.scored is not None for one in asked):
        scored = [one.scored or (one.ranked, one.gold) for one in asked]
        found.append(view(OFFICIAL, [one[0] for one in scored], [one[1] for one in scored], kept))
    return tuple(found)


def _named_views(asked: Sequence[ImportedQuestion], kept: int, dataset: CorpusIndex | None) -> tuple[View, ...]:
    def place(id: str) -> tuple[str, str]:
        if dataset is not None and id in dataset.segments:
            return dataset.segments[id]
        scope, _, rest = id.rpartition("/")
        return scope, rest

    ranked = [[place(id) for id in one.ranked] for one in asked]
    gold = [[place(id) for id in one.gold] for one in asked]
    # Of a pooled run, the haystack a question belongs to is that of its gold.
    scopes = [(golden[0][0] if golden else one.scope) for one, golden in zip(asked, gold, strict=True)]
    full = [["/".join(name) for name in names] for names in ranked]
    wanted = [["/".join(name) for name in names] for names in gold]
    only = [["/".join(name) for name in names if name[0] == scope] for names, scope in zip(ranked, scopes, strict=True)]
    return (
        view(OWN, full, wanted, kept, _first(asked)),
        view(REMOVED, only, wanted, cut=[bool(kept) and len(one.ranked) >= kept for one in asked]),
        view(BARE, [[name[1] for name in names] for names in ranked], [[n[1] for n in names] for names in gold], kept),
    )


def _first(asked: Sequence[ImportedQuestion]) -> list[int | None] | None:
    return [one.first for one in asked] if any(one.first is not None for one in asked) else None


def _denominators(
    imported: Imported, dataset: CorpusIndex | None, known: Sequence[CorpusQuestion | None]
) -> tuple[Denominator, ...]:
    asked = imported.questions
    everyone = np.ones(len(asked), dtype=np.bool_)
    named: dict[str, Bools] = {}
    counted = [its.denominators if its else one.denominators for one, its in zip(asked, known, strict=True)]
    for name in dict.fromkeys(name for names in counted for name in sorted(names)):
        named[name] = np.array([name in names for names in counted], dtype=np.bool_)
    found = [Denominator("all rows with gold", everyone, protocol=True)]
    without_gold = np.array([not one.gold for one in asked], dtype=np.bool_)
    absent = _absent(imported, dataset)
    if without_gold.any():
        found += [Denominator("all rows", everyone, empty=value) for value in (0.0, 1.0)]
    if absent:
        whole = f"all {len(asked) + absent} of the dataset"
        found += [Denominator(whole, everyone, absent, empty=value) for value in (0.0, 1.0)]
    parts = {
        "without abstention": np.array([not one.abstention for one in asked], dtype=np.bool_),
        "without adversarial": np.array([not _adversarial(one) for one in asked], dtype=np.bool_),
        **named,
    }
    seen = {everyone.tobytes()}
    for name, mask in parts.items():
        if mask.tobytes() not in seen and mask.any():
            seen.add(mask.tobytes())
            found.append(Denominator(name, mask))
            if (mask & without_gold).any():
                found += [Denominator(name, mask, empty=value) for value in (0.0, 1.0)]
    return tuple(found)


def _absent(imported: Imported, dataset: CorpusIndex | None) -> int:
    stated = imported.facts.get("n_questions_total", "")
    whole = len(dataset.questions) if dataset else int(stated) if _COUNT.fullmatch(stated) else 0
    return max(0, whole - len(imported.questions))


def _adversarial(one: ImportedQuestion) -> bool:
    return "adversarial" in one.kinds.values() or (bool(one.scope) and one.kinds.get("category") == "5")


def _slices(asked: Sequence[ImportedQuestion], known: Sequence[CorpusQuestion | None]) -> dict[str, Bools]:
    labels: dict[str, list[bool]] = {}

    def add(label: str, holds: list[bool]) -> None:
        if any(holds):
            labels.setdefault(label, holds)

    groupings = dict.fromkeys(name for one in asked for name in one.kinds)
    abstains = [one.abstention for one in asked]
    for grouping in groupings:
        values = [one.kinds.get(grouping, "") for one in asked]
        for value in dict.fromkeys(values):
            holds = [each == value for each in values]
            add(f"{grouping} {value}", holds)
            if any(abstains):
                answerable = [one and not none for one, none in zip(holds, abstains, strict=True)]
                add(f"{grouping} {value} without abstention", answerable)
        # LongMemEval's three kinds with one session of evidence are sometimes told as one.
        single = [value.startswith("single-session") for value in values]
        add(f"{grouping} single-session-*", single)
        if any(abstains):
            add(
                f"{grouping} single-session-* without abstention",
                [one and not none for one, none in zip(single, abstains, strict=True)],
            )
    add("abstention", abstains)
    for kind in dict.fromkeys(its.kind for its in known if its):
        add(f"kind {kind}", [its is not None and its.kind == kind for its in known])
    return {label: np.array(holds, dtype=np.bool_) for label, holds in labels.items()}
