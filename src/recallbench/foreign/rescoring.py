"""The rankings of an imported folder, judged under every way of matching ids with gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recallbench.foreign.corpus_index import (
    CorpusIndex,
    CorpusQuestion,
    leaks,
    match_questions,
    names_a_turn,
    session_name,
)
from recallbench.foreign.layouts.layout import Imported, ImportedQuestion
from recallbench.foreign.question_groups import denominators_of, slices_of
from recallbench.foreign.universes import Denominator, View, view
from recallbench.scoring.judgement import Bools

Scoping = Literal["named", "consistent", "contradicted", "unknown"]

OWN = "own scope"
REMOVED = "own scope, others removed"
BARE = "bare ids"
SESSIONS = "bare ids, turns cut to sessions"
OFFICIAL = "gold said by users"
MEANINGS: Mapping[str, str] = {
    OWN: "an id counts only in its question's own haystack; of a pooled run, the others keep their places as misses",
    REMOVED: "ids of other haystacks are taken out first, and those behind them move up",
    BARE: "ids match by session name alone, whatever haystack they come from",
    SESSIONS: "as bare ids, each turn taken for its session, which stands where its first turn stood",
    OFFICIAL: "LongMemEval's own count: a session is gold only where a user turn of it holds the answer",
}
"""The meaning of each view."""
STATED = ", gold as stated"
"""The words behind the name of a view with the gold of the rows, where the dataset's differs."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A retrieved id that cannot belong to its question's scope."""

    question: str
    id: str
    why: str


@dataclass(frozen=True, eq=False, slots=True)
class RescoredRankings:
    """All that a published number of the folder is compared with."""

    views: tuple[View, ...]
    denominators: tuple[Denominator, ...]
    slices: Mapping[str, Bools]
    """Parts of the questions by label, as rows or dataset name them."""
    scoping: Scoping
    """Whether rankings hold only the question's own scope: ids name it, or are consistent with it, or contradict it."""
    leaks: tuple[Leak, ...]
    known: tuple[CorpusQuestion | None, ...]
    """The dataset's question of each row; all None without a dataset."""
    differing: tuple[str, ...] = ()
    """Questions whose rows state other gold than the dataset's."""
    derived: bool = False
    """Whether gold is the dataset's, not the rows'."""

    @property
    def own_view(self) -> str:
        """The view of the question's own scope; empty where there is none."""
        return {"named": OWN, "consistent": BARE}.get(self.scoping, "")


def rescore(imported: Imported, dataset: CorpusIndex | None, derive: bool = False) -> RescoredRankings:
    """Return views, denominators and slices of a folder's rows.

    `derive` takes gold from the dataset, as rows without any need it; where rows state other gold, views with theirs
    follow.
    """
    known: list[CorpusQuestion | None] = (
        match_questions(dataset, imported.questions) if dataset else [None] * len(imported.questions)
    )
    differing = _differing(imported.questions, dataset, known) if dataset else ()
    scoping, leaking = _scoping(imported, dataset, known)
    views: tuple[View, ...] = ()
    stated = imported
    # The dataset's gold is by session: it can't replace that of rows by turn.
    derive = (derive or not imported.gold_stated) and not any(
        names_a_turn(id) for question in imported.questions[:50] for id in (*question.gold, *question.ranked)
    )
    if derive and dataset is not None and differing:
        imported = replace(imported, questions=_derived(imported.questions, dataset, known, {*differing}))
        if imported.gold_stated:
            views = tuple(replace(view, name=view.name + STATED) for view in _views(stated, dataset, scoping))
    return RescoredRankings(
        (*_views(imported, dataset, scoping), *views),
        denominators_of(imported, dataset, known),
        slices_of(imported.questions, known),
        scoping,
        leaking,
        tuple(known),
        differing,
        derive and dataset is not None,
    )


def _differing(
    questions: Sequence[ImportedQuestion], dataset: CorpusIndex, known: Sequence[CorpusQuestion | None]
) -> tuple[str, ...]:
    ids = []
    for question, entry in zip(questions, known, strict=True):
        if entry is not None:
            places = {dataset.locate(id) for id in question.gold}
            if any(scope not in ("", entry.scope) for scope, _ in places) or {name for _, name in places} != entry.gold:
                ids.append(question.id)
    return tuple(ids)


def _derived(
    questions: Sequence[ImportedQuestion],
    dataset: CorpusIndex,
    known: Sequence[CorpusQuestion | None],
    differing: set[str],
) -> tuple[ImportedQuestion, ...]:
    """Return the rows with the dataset's gold, in the folder's spelling of ids."""
    spelled: dict[tuple[str, str], str] = {place: id for id, place in dataset.segments.items()}
    bare: dict[str, str] = {}
    named = all(_names_scope(id) for question in questions[:50] for id in question.ranked)
    for question in questions:
        bare.update((session_name(id), id) for id in (*question.ranked, *question.gold))
    derived = []
    for question, entry in zip(questions, known, strict=True):
        if entry is not None and question.id in differing:
            gold = (
                spelled.get((entry.scope, name), f"{entry.scope}/{name}") if named else bare.get(name, name)
                for name in sorted(entry.gold)
            )
            # The stated first rank is that of the row's gold.
            question = replace(question, gold=tuple(gold), first=None)
        derived.append(question)
    return tuple(derived)


def _names_scope(id: str) -> bool:
    return "/" in id


def _scoping(
    imported: Imported, dataset: CorpusIndex | None, known: Sequence[CorpusQuestion | None]
) -> tuple[Scoping, tuple[Leak, ...]]:
    questions = imported.questions
    leaking: list[Leak] = []
    checked = False
    for question, entry in zip(questions, known, strict=True):
        if dataset is not None:
            checked = True
            leaking += [Leak(question.id, id, why) for id, why in leaks(dataset, question, entry)]
        elif question.haystack is not None:
            checked = True
            leaking += [
                Leak(question.id, id, "its row lists no such session")
                for id in set(question.ranked) - set(question.haystack)
            ]
        elif (
            question.scope
            and not any(map(_names_scope, question.ranked))
            and len(set(question.ranked)) < len(question.ranked)
        ):
            checked = True
            twice = next(id for i, id in enumerate(question.ranked) if id in question.ranked[:i])
            if not names_a_turn(twice):
                leaking.append(Leak(question.id, twice, f"it comes twice, and {question.scope} has each session once"))
        elif question.scope:
            leaking += [
                Leak(question.id, id, f"it is of {id.rpartition('/')[0]}")
                for id in question.ranked
                if _names_scope(id) and id.rpartition("/")[0] != question.scope
            ]
    if questions and all(question.scope and all(map(_names_scope, question.ranked)) for question in questions):
        return "named", tuple(leaking)
    if leaking:
        return "contradicted", tuple(leaking)
    everyone = dataset is not None and all(entry is not None for entry in known)
    listed = all(question.haystack is not None for question in questions)
    return ("consistent" if checked and (everyone or listed) else "unknown"), ()


def _views(imported: Imported, dataset: CorpusIndex | None, scoping: Scoping) -> tuple[View, ...]:
    views = _call_views(imported, dataset, scoping)
    reach = imported.short_depth
    if not reach:
        return views
    questions = tuple(replace(question, ranked=question.short or ()) for question in imported.questions)
    calls = _call_views(replace(imported, questions=questions, depth=reach), dataset, scoping)
    by_name = {call.name: call for call in calls}
    return tuple(replace(view, call=by_name.get(view.name), reach=reach) for view in views)


def _call_views(imported: Imported, dataset: CorpusIndex | None, scoping: Scoping) -> tuple[View, ...]:
    questions, row_depth = imported.questions, imported.depth
    ranked, gold = [question.ranked for question in questions], [question.gold for question in questions]
    cut = [bool(row_depth) and len(ids) >= row_depth for ids in ranked]
    if scoping == "named":
        return _named_views(questions, row_depth, dataset)
    views = [view(BARE, ranked, gold, row_depth, _first(questions))]
    if any(names_a_turn(id) for ids in ranked[:50] for id in ids):
        names = [list(dict.fromkeys(session_name(id) for id in ids)) for ids in ranked]
        views.append(view(SESSIONS, names, [[session_name(id) for id in ids] for ids in gold], cut=cut))
    if any(question.scored is not None for question in questions):
        scored = [question.scored or (question.ranked, question.gold) for question in questions]
        views.append(view(OFFICIAL, [ids for ids, _ in scored], [ids for _, ids in scored], row_depth))
    return tuple(views)


def _named_views(
    questions: Sequence[ImportedQuestion], row_depth: int, dataset: CorpusIndex | None
) -> tuple[View, ...]:
    def place(id: str) -> tuple[str, str]:
        if dataset is not None and id in dataset.segments:
            return dataset.segments[id]
        scope, _, rest = id.rpartition("/")
        return scope, rest

    ranked = [[place(id) for id in question.ranked] for question in questions]
    gold = [[place(id) for id in question.gold] for question in questions]
    # In a pooled run, a question's own haystack is that of its gold.
    scopes = [(golden[0][0] if golden else question.scope) for question, golden in zip(questions, gold, strict=True)]
    full = [["/".join(name) for name in names] for names in ranked]
    gold_names = [["/".join(name) for name in names] for names in gold]
    only = [["/".join(name) for name in names if name[0] == scope] for names, scope in zip(ranked, scopes, strict=True)]
    return (
        view(OWN, full, gold_names, row_depth, _first(questions)),
        view(
            REMOVED,
            only,
            gold_names,
            cut=[bool(row_depth) and len(question.ranked) >= row_depth for question in questions],
        ),
        view(
            BARE,
            [[name[1] for name in names] for names in ranked],
            [[n[1] for n in names] for names in gold],
            row_depth,
        ),
    )


def _first(questions: Sequence[ImportedQuestion]) -> list[int | None] | None:
    return (
        [question.first for question in questions]
        if any(question.first is not None for question in questions)
        else None
    )
