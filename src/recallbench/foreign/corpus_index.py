"""An index of a corpus by the ids and questions of foreign folders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recallbench.corpora.pooled import SCOPE as POOLED
from recallbench.corpora.records import Corpus
from recallbench.foreign.layouts.layout import Imported, ImportedQuestion

_DIALOG = re.compile(r"(?:D:?|session_)0*([0-9]+)(?::[0-9]+)?", re.IGNORECASE)
"""LoCoMo's names of sessions, with or without a turn."""
_TURN = re.compile(r"D:?[0-9]+:[0-9]+")


@dataclass(frozen=True, slots=True)
class CorpusQuestion:
    """A question of the dataset, its gold by session name."""

    id: str
    scope: str
    text: str
    index: int
    gold: frozenset[str]
    kind: str
    denominators: frozenset[str]
    abstention: bool


@dataclass(frozen=True, slots=True)
class CorpusIndex:
    """Questions and sessions of a corpus, by the names that folders use."""

    name: str
    sha256: str
    registered: bool
    questions: tuple[CorpusQuestion, ...]
    sessions: Mapping[str, Mapping[str, int]]
    """By scope: each session's name, and how often it is in the haystack."""
    segments: Mapping[str, tuple[str, str]]
    """By this tool's id, pooled ones included: scope and session name."""
    times: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By scope and time (`datetime.isoformat`): the session's name."""

    def locate(self, id: str) -> tuple[str, str]:
        """Return the scope that an id names (empty where it names none), and the session's name."""
        if id in self.segments:
            return self.segments[id]
        for mark in ("/", ":", "#", "|", "_"):
            scope, matches, rest = id.partition(mark)
            if matches and scope in self.sessions:
                return scope, session_name(rest)
        return "", session_name(id)


def index_corpus(corpus: Corpus, registered_sha256: str) -> CorpusIndex:
    """Return the index of a corpus."""
    questions: list[CorpusQuestion] = []
    sessions: dict[str, Mapping[str, int]] = {}
    segments: dict[str, tuple[str, str]] = {}
    times: dict[tuple[str, str], str] = {}
    pooled = 0
    for haystack in corpus.haystacks():
        names = [session_name(segment.session) or str(segment.position) for segment in haystack.segments]
        sessions[haystack.scope] = Counter(names)
        for segment, name in zip(haystack.segments, names, strict=True):
            segments[segment.id] = (haystack.scope, name)
            segments[f"{POOLED}/{pooled}"] = (haystack.scope, name)
            pooled += 1
            if segment.occurred_at is not None:
                times[haystack.scope, segment.occurred_at.isoformat()] = name
        for question in haystack.questions:
            questions.append(
                CorpusQuestion(
                    question.id,
                    question.scope,
                    question.text,
                    len(questions),
                    frozenset(names[position] for position in question.gold),
                    question.kind,
                    question.denominators,
                    question.abstention,
                )
            )
    return CorpusIndex(
        corpus.name, corpus.sha256, corpus.sha256 == registered_sha256, tuple(questions), sessions, segments, times
    )


def named_sessions(imported: Imported, dataset: CorpusIndex) -> Imported:
    """Return a folder with the dataset's names of conversations and sessions, where it states numbers and times."""
    if not imported.by_time:
        return imported
    scopes = dict(enumerate(dataset.sessions))

    def named(question: ImportedQuestion) -> ImportedQuestion:
        scope = scopes.get(int(question.scope), "")
        ranked = dict.fromkeys(dataset.times.get((scope, time), time) for time in question.ranked)
        return replace(question, scope=scope, ranked=tuple(ranked))

    return replace(imported, questions=tuple(map(named, imported.questions)))


def session_name(id: str) -> str:
    """Return the name of a session in one spelling: LoCoMo's D7, D7:3 and session_7 are the same."""
    matches = _DIALOG.fullmatch(id)
    return f"session_{matches[1]}" if matches else id


def names_a_turn(id: str) -> bool:
    """Return whether an id is that of a turn of LoCoMo, not of a session."""
    return _TURN.search(id) is not None


def match_questions(dataset: CorpusIndex, questions: Sequence[ImportedQuestion]) -> list[CorpusQuestion | None]:
    """Return the dataset's question for each row: by id, else by its number in the file, else by scope and text."""
    by_id = {known.id: known for known in dataset.questions}
    by_text: dict[tuple[str, str], list[CorpusQuestion]] = {}
    for known in dataset.questions:
        by_text.setdefault((known.scope, known.text.strip()), []).append(known)
    matches: list[CorpusQuestion | None] = []
    for question in questions:
        if question.id in by_id:
            matches.append(by_id[question.id])
            continue
        candidates = by_text.get((question.scope, question.text.strip()), [])
        same = [known for known in candidates if known.index == question.index]
        matches.append(next(iter([*same, *candidates]), None))
    return matches


def leaks(dataset: CorpusIndex, question: ImportedQuestion, known: CorpusQuestion | None) -> Iterator[tuple[str, str]]:
    """Yield each retrieved id that cannot belong to the question's scope, and why."""
    scope = known.scope if known is not None else question.scope
    allowed = dataset.sessions.get(scope)
    if allowed is None:
        return
    counted: Counter[str] = Counter()
    for id in question.ranked:
        named, session = dataset.locate(id)
        if named and named != scope:
            yield id, f"it is of {named}"
        elif session not in allowed:
            yield id, f"{scope} has no such session"
        elif not names_a_turn(id):
            counted[session] += 1
            if counted[session] == allowed[session] + 1:
                yield id, f"it comes more often than {scope} holds it"
