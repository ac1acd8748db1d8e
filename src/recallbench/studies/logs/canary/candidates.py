"""The questions of a labelled set that a canary can be drawn from, and which of them are hard."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recallbench.corpora.labelled_sets.labelled import identify
from recallbench.corpora.labelled_sets.labelled_files import files_of, read_labels
from recallbench.corpora.labelled_sets.labelled_records import (
    ABSTENTION,
    JUDGEMENTS,
    QUERIES,
    SHORT,
    Files,
    LabelledQuery,
    PassedOver,
)
from recallbench.corpora.labelled_sets.set_name import is_set_name, parse_set_name
from recallbench.corpora.matching.method import Matching
from recallbench.errors import InputError, UsageError
from recallbench.reading import is_finite, objects
from recallbench.results.result import Result, open_unchanged
from recallbench.scoring.judgement import Floats
from recallbench.scoring.measures.measure import Measure

AGREED = 0.8
"""Labels on which people agree less are taken as hard: the bound above which agreement counts as reliable."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that can be drawn."""

    id: str
    kind: str
    tenant: str
    scope: str
    findable: bool
    """Whether something should be found."""
    hard: str = ""
    """Why it is hard; empty where nothing says so."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of a labelled set."""

    folder: Path
    split: str | None
    files: Files
    sha256: str
    candidates: tuple[Candidate, ...]
    fingerprints: Mapping[str, str]
    """A hash over the words and the gold of each question: what makes it the same question."""
    gold: Mapping[str, tuple[str, ...]]
    """The documents that answer each question."""


def read_set(folder: Path, split: str | None) -> QuestionSet:
    """Return the questions of a labelled set; raises InputError where it can't be read or has none."""
    textual = not (folder / SHORT).is_file() and not list((folder / JUDGEMENTS).glob("*.tsv"))
    files = files_of(folder, split, by_text=textual)
    if files.subsets:
        raise InputError(
            f"no canary can be drawn from {folder}",
            expected=f"a set with {SHORT}, or with {QUERIES} and {JUDGEMENTS}/",
            found="queries in subsets, answered from their candidates",
            remedy="draw it from questions of your own",
        )
    labels = list(read_labels(files, folder.name, PassedOver(), expecting=textual))
    # Where some have ids, ids decide; where none has, the expected texts do.
    by_id = any(label.relevant for label in labels)
    usable = [label for label in labels if _usable(label, by_id)]
    if not usable:
        raise InputError(
            f"{folder} has no question with an answer",
            expected="queries with relevant documents, an expected text, or kind abstention",
            found=f"{len(labels)} {'query' if len(labels) == 1 else 'queries'} without",
            remedy="`recallbench label` labels them",
        )
    marked = _marked(files)
    candidates = tuple(
        Candidate(
            label.id,
            label.kind,
            label.tenant,
            label.scope,
            label.kind != ABSTENTION,
            marked.get(label.line or label.id, ""),
        )
        for label in usable
    )
    sha256 = identify(folder, split, Matching("tokens") if textual else None).sha256
    return QuestionSet(
        folder,
        split,
        files,
        sha256,
        candidates,
        {label.id: _fingerprint(label) for label in usable},
        {label.id: tuple(id for id, grade in label.grades.items() if grade > 0) for label in usable},
    )


def _fingerprint(label: LabelledQuery) -> str:
    facts = [label.text, label.scope, label.kind, label.tenant, sorted(label.grades.items()), label.expected]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _usable(label: LabelledQuery, by_id: bool) -> bool:
    if label.irrelevant:
        return False
    return label.relevant or label.kind == ABSTENTION or (not by_id and bool(label.expected))


def _marked(files: Files) -> dict[str, str]:
    """Return the questions whose own line says that they are hard, by the ids that lines have."""
    path = files.parts.get(SHORT) or files.parts[QUERIES]
    reasons = {}
    for number, record in objects(path):
        if reason := _own_reason(record):
            # As the readers of both layouts name a line.
            own = record.get("_id") if path.name == QUERIES else record.get("query_id") or record.get("_id")
            reasons[str(own or f"q{number}")] = reason
    return reasons


def _own_reason(record: Mapping[str, Any]) -> str:
    if record.get("hard") is True:
        return "marked as hard in the set"
    agreement = record.get("agreement")
    if is_finite(agreement) and agreement < AGREED:
        return f"people agreed to {agreement:g} on its label"
    return ""


@dataclass(frozen=True, slots=True)
class SetResult:
    """A result over the whole set, by question."""

    result: Result
    values: Mapping[str, float]
    """The measure, for each question that it counts."""
    first: Mapping[str, int]
    """The rank of the first gold, 0 where none came back, for each question with gold."""


def read_result(folder: Path, questions: QuestionSet, measure: Measure) -> SetResult:
    """Return a result over this very set; raises UsageError for one over anything else."""
    result = open_unchanged(folder)
    name = result.metrics.corpus.name
    stated = parse_set_name(name) if is_set_name(name) else None
    if stated is None or stated.sha256 != identify(questions.folder, questions.split, stated.matching).sha256:
        raise UsageError(
            f"{folder} is no result over {questions.folder} as it is now",
            expected="a result of `recallbench evaluate` over these very files",
            found=name,
            remedy=f"recallbench evaluate {questions.folder} … and name its result",
        )
    rankings = result.rankings
    counted = rankings.counted(measure) & rankings.answerable
    values: Floats = rankings.values(measure)
    return SetResult(
        result,
        {id: float(values[i]) for i, id in enumerate(rankings.questions) if counted[i]},
        {id: int(rankings.calls[-1].first[i]) for i, id in enumerate(rankings.questions) if rankings.answerable[i]},
    )


def with_hard(candidates: Sequence[Candidate], results: Sequence[SetResult], rank: int) -> tuple[Candidate, ...]:
    """Return the questions, those marked as hard that a result missed or ranked below this place."""
    return tuple(
        replace(candidate, hard=candidate.hard or _missed(candidate, results, rank)) for candidate in candidates
    )


def _missed(candidate: Candidate, results: Sequence[SetResult], rank: int) -> str:
    for result in results:
        first = result.first.get(candidate.id)
        if first == 0:
            return f"missed by {result.result.folder.name}"
        if first is not None and first > rank:
            return f"first find at {first} in {result.result.folder.name}"
    return ""
