"""A labelled set: documents, queries and gold, in files. Everything about it follows from the files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from recallbench.corpora.census import Census, Oddities
from recallbench.corpora.entry import CorpusEntry, unregistered
from recallbench.corpora.field_reader import FieldReader, misspelling_hint
from recallbench.corpora.labelled_sets import hub_record
from recallbench.corpora.labelled_sets.canary_record import read_canary
from recallbench.corpora.labelled_sets.hub_tasks import published_counts
from recallbench.corpora.labelled_sets.judgement_file import line_of
from recallbench.corpora.labelled_sets.kept_documents import KeptDocuments
from recallbench.corpora.labelled_sets.labelled_files import (
    every_split,
    files_of,
    queries_of_other_splits,
    read_documents,
    read_labels,
)
from recallbench.corpora.labelled_sets.labelled_records import (
    ABSTENTION,
    DOCUMENTS,
    EVERYWHERE,
    Files,
    LabelledQuery,
    PassedOver,
)
from recallbench.corpora.labelled_sets.set_name import PREFIX, SetName, folder_word, parse_set_name
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.miniature import write_labelled
from recallbench.corpora.records import Haystack, Question, Segment, Survey, ignore
from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError
from recallbench.protocol.rules import CorpusRules

ALL = "all"
"""The one denominator: every query with something to find."""
_COUNTED, _NONE = frozenset({ALL}), frozenset[str]()
FEWEST_SCOPES = 5
"""The fewest scopes with which queries of one scope are taken as dependent: over fewer an interval says nothing."""

SMALL = 8 << 20
"""Bytes of documents up to which the haystacks stay in memory: they are made for each reading of a larger set."""


def identify(path: Path, split: str | None = None, matching: Matching | None = None) -> SetName:
    """Return the name of a folder's set in results, and one hash over what decides the measurement."""
    by_text = matching if matching is not None and matching.by_text else None
    files = files_of(path, split, by_text=by_text is not None, ids_too=by_text is not None and by_text.takes_ids)
    return SetName(folder_word(path.resolve().name), _hash(files, path), by_text)


def labelled_entry(name: str) -> CorpusEntry:
    """Declare the labelled set of a name; raises UsageError for a name that no set can have."""
    stated = parse_set_name(name)
    facts = unregistered(name, stated.folder, stated.sha256)
    return CorpusEntry(
        name,
        lambda _: facts,
        lambda path, facts, _: Labelled(path, facts, stated.matching),
        write_labelled,
        brought=True,
    )


class _Contents(NamedTuple):
    """What its files hold."""

    documents: KeptDocuments
    questions: Mapping[str, Sequence[Question]]
    """By scope."""


class Labelled:
    """The set in a folder. Of several judgement files the one counts whose hash the name states."""

    clarifications: tuple[int, ...] = ()

    def __init__(self, path: Path, facts: CorpusRules, matching: Matching | None = None) -> None:
        self.name = facts.name
        self.facts = facts
        self.matching = matching
        self._path = path
        self._passed = PassedOver()
        self._by_text = matching is not None
        self._ids_too = matching is not None and matching.takes_ids
        if not path.is_dir():
            raise InputError(
                f"{path} is no set of questions and answers",
                expected=f"a folder with {DOCUMENTS}, queries and judgements",
                found="no such folder" if not path.exists() else "a file",
                remedy="name the folder, as in `recallbench evaluate DIR`",
            )

    @property
    def path(self) -> Path:
        return self._path

    @cached_property
    def _files(self) -> Files:
        choices = every_split(self.path, by_text=self._by_text, ids_too=self._ids_too)
        return next((files for files in choices if _hash(files, self.path) == self.facts.sha256), choices[0])

    @property
    def _judgements(self) -> Path | None:
        return self._files.parts.get(self._files.judgements)

    @cached_property
    def sha256(self) -> str:
        """One hash over the names and hashes of the files, and the queries that are of other splits."""
        return _hash(self._files, self.path)

    @cached_property
    def clustered(self) -> bool:
        """Whether there are scopes enough to take the queries of one as dependent."""
        return sum(bool(questions) for questions in self._contents.questions.values()) >= FEWEST_SCOPES

    def survey(self, listen: Callable[[Haystack], None] = ignore) -> Survey:
        census = Census()
        for haystack in self.haystacks():
            census.count(haystack)
            listen(haystack)
        oddities = Oddities(empty_turns=self._contents.documents.empty)
        if self._files.state() != self._state:
            raise InputError(
                f"{self.path}: changed while it was being read",
                expected="the files whose sha256 was taken",
                found="another size or time of change",
                remedy="run again once nothing writes there",
            )
        name = self.path.resolve().name
        survey = census.survey(Path(name), name, self.sha256, self.facts, oddities, (ALL,))
        survey = replace(
            survey,
            unjudged=len(self._passed.unjudged),
            irrelevant=len(self._passed.irrelevant),
            unanswerable=len(self._passed.unanswerable),
            unknown_gold=self._passed.judgements,
            unknown_candidates=self._passed.candidates,
            unlisted=len(self._passed.unlisted),
            canary=read_canary(self.path),
        )
        record = hub_record.read_record(self.path)
        if record is None:
            return survey
        used = {name: record.files[name] for name in self._files.parts}
        counts = published_counts(record.repo, record.task, self._passed.subsets)
        return replace(survey, published=replace(record, files=used), published_counts=counts)

    def haystacks(self) -> Iterator[Haystack]:
        return iter(self._small) if self._contents.documents.bytes <= SMALL else self._read_haystacks()

    @cached_property
    def _small(self) -> tuple[Haystack, ...]:
        return tuple(self._read_haystacks())

    def _read_haystacks(self) -> Iterator[Haystack]:
        documents, questions = self._contents
        for scope in documents.scopes:
            segments = tuple(
                Segment(scope, position, one.text, one.occurred_at, one.id, importance=one.importance)
                for position, one in enumerate(documents.of(scope))
            )
            cluster = scope if self.clustered else ""
            yield Haystack(scope, segments, tuple(replace(q, cluster=cluster) for q in questions[scope]))

    @cached_property
    def _state(self) -> tuple[object, ...]:
        return self._files.state()

    @cached_property
    def _contents(self) -> _Contents:
        self._state  # noqa: B018 - taken before anything is read
        documents = KeptDocuments()
        for document in read_documents(self._files, self.name, self._passed):
            documents.add(document)
        questions: dict[str, list[Question]] = {scope: [] for scope in documents.scopes}
        labels = list(read_labels(self._files, self.name, self._passed, expecting=self._ids_too))
        # Where some queries have ids alone, ids decide each that has any; where all have an expected text, texts do.
        mixed = any(label.expected for label in labels) and any(
            label.relevant and not label.expected for label in labels
        )
        for label in labels:
            by_id = label.relevant and (not label.expected if self._ids_too else mixed)
            by_text = self._by_text and not by_id
            if label.irrelevant and not (by_text and label.expected):
                self._passed.irrelevant.append(label.id)
                continue
            if self._files.published:
                label = self._without_unknown(label, documents)
                if not label.grades and not label.expected and label.kind != ABSTENTION:
                    self._passed.unanswerable.append(label.id)
                    continue
            questions.setdefault(label.scope, []).append(
                _question(label, documents, by_text, self._ids_too, self._judgements)
            )
        documents.forget_keys()
        return _Contents(documents, questions)

    def _without_unknown(self, label: LabelledQuery, documents: KeptDocuments) -> LabelledQuery:
        """Return the query without judgements that name nothing in its scope: nobody here can mend them."""
        grades = {id: grade for id, grade in label.grades.items() if documents.place(label.scope, id) is not None}
        self._passed.judgements += len(label.grades) - len(grades)
        return replace(label, grades=grades)


def _question(
    label: LabelledQuery, documents: KeptDocuments, by_text: bool, ids_too: bool, judgements: Path | None
) -> Question:
    reader: FieldReader = label.reader
    scopes = documents.scopes
    if label.scope not in scopes:
        raise reader.refusal(
            "scope", f"a scope that documents have: {', '.join(list(scopes)[:5])}", label.scope or "none"
        )
    known: dict[str, int] = {}
    for id in label.grades:
        place = documents.place(label.scope, id)
        if place is not None:
            known[id] = place
        else:
            elsewhere = next((scope for scope in scopes if documents.place(scope, id) is not None), None)
            # A document that is no candidate of any query is read into no scope.
            nothing = "no document" if list(scopes) == [EVERYWHERE] else "no scope"
            actual = f"{id}, which {nothing} has" if elsewhere is None else f"{id}, which is in scope {elsewhere}"
            if judgements is not None:
                actual += f" ({judgements.parent.name}/{judgements.name}, line {line_of(judgements, label.id, id)})"
            wanted = f"ids in {DOCUMENTS}" if label.scope == EVERYWHERE else f"ids of documents in scope {label.scope}"
            raise reader.refusal("relevant", wanted, actual)
    graded = {known[id]: grade for id, grade in label.grades.items() if grade > 0}
    abstention = label.kind == "abstention"
    if by_text and abstention != (not label.expected):
        expected = "none with kind abstention" if abstention else "the text of an answer, or kind abstention"
        actual = "one" if abstention else f"none{misspelling_hint(label.fields, 'expected')}"
        raise reader.refusal("expected", expected, actual, "mend the file, or --match id")
    if by_text and label.expected and not any(letter.isalnum() for letter in label.expected):
        raise reader.refusal("expected", "a text with letters or digits", repr(label.expected)[:60], "mend the file")
    if bool(graded) == abstention and (abstention or not by_text):
        expected = "no relevant id" if abstention else "at least one relevant id, or kind abstention"
        remedy = "--match tokens matches by the expected text" if label.expected and not abstention else ""
        actual = f"{len(graded)} with kind {label.kind}" if graded else "none"
        if not abstention and "relevant" not in label.fields:
            actual += misspelling_hint(label.fields, "relevant")
        raise reader.refusal("relevant", expected, actual, remedy)
    known_by_id = frozenset(graded) if by_text and ids_too else frozenset()
    if by_text:
        graded = {}
    return Question(
        label.scope,
        label.id,
        label.text,
        frozenset(graded) | known_by_id,
        label.kind,
        label.asked_at,
        grades=graded if set(graded.values()) - {1.0} else {},
        abstention=abstention,
        denominators=_NONE if abstention else _COUNTED,
        tenant=label.tenant,
        labelled_at=label.labelled_at,
        expected=label.expected if by_text else "",
        by_id=known_by_id,
        one_find=by_text and not abstention,
        answer=label.answer,
        declined=abstention,
        name=label.name,
        line=label.line,
    )


def _hash(files: Files, folder: Path) -> str:
    record = hub_record.read_record(folder)
    hashes = {
        name: hub_record.check_recorded(record, folder, name, sha256_of(path)) for name, path in files.parts.items()
    }
    lines = [f"{name} {sha256}\n" for name, sha256 in sorted(hashes.items())]
    if left_out := queries_of_other_splits(files, f"{PREFIX}{folder_word(folder.resolve().name)}"):
        # Other splits count by the queries alone that are left out here because of them.
        lines.append(f"passed over {json.dumps(sorted(left_out))}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()
