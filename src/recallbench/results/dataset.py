"""The dataset that a result names, read again: its questions, their haystacks and their gold."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recallbench.corpora.pooled import SCOPE
from recallbench.corpora.records import Corpus, Haystack, Question, Survey
from recallbench.corpora.registry import open_corpus
from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError, RecallBenchError
from recallbench.escaping.sheet import column
from recallbench.progress import Progress
from recallbench.protocol.rules import Rules
from recallbench.results.metrics import Metrics
from recallbench.results.retrievals import document_names
from recallbench.results.rows import stated_place
from recallbench.retrieval.selection import select_haystacks
from recallbench.scoring.editions import EDITIONS


@dataclass(frozen=True, slots=True)
class Dataset:
    """The questions that a run of the stated scope and limit asks, and the texts they are answered from."""

    corpus: Corpus
    survey: Survey
    questions: tuple[Question, ...]
    candidates: tuple[int, ...]
    segments: int
    """How many segments the store holds."""
    gold_turns: int
    """Turns of these segments that are labelled as evidence."""
    named: Callable[[], Iterator[Haystack]]
    """The haystacks that these segments are of, read once more."""
    digests: Digests
    """Those of the segments' texts."""
    texts: Texts

    def names(self, escape: Callable[[str], str] = column) -> Iterator[str]:
        """Yield the names of a labelled set's documents, as `documents.tsv` has them; releases of the first edition
        wrote them without escapes."""
        return document_names(self.named(), escape)


class Texts(NamedTuple):
    """How many texts an encoder embeds for a run."""

    passages: int
    """The segments' distinct texts."""
    queries: int
    both: int
    """Distinct texts of segments and queries together."""
    passage_characters: int
    """Characters of all segments, repeated texts included."""
    query_characters: int


class Digests:
    """The digests of the texts of a corpus, by the ids of its segments."""

    def __init__(self) -> None:
        self._all = bytearray()
        self._scopes: dict[str, range] = {}
        """Of each scope, the places of its segments among all."""

    def add(self, scope: str, texts: Iterable[str]) -> None:
        """Add the next segments of a scope; those of one scope follow each other."""
        first = self._scopes.get(scope, range(len(self._all) // DIGEST_BYTES, 0)).start
        for text in texts:
            self._all += digest(text)
        self._scopes[scope] = range(first, len(self._all) // DIGEST_BYTES)

    def get(self, id: str) -> bytes | None:
        """Return the digest of the text of a segment; None where none was added under that id."""
        scope, place = stated_place(id) or ("", 0)
        within = self._scopes.get(scope, range(0))
        if place >= len(within):
            return None
        start = within[place] * DIGEST_BYTES
        return bytes(self._all[start : start + DIGEST_BYTES])

    def distinct(self, count: int, queries: Iterable[str]) -> tuple[int, int, int]:
        """Return how many distinct texts the first `count` segments have, the queries, and both together."""
        passages = np.sort(_column(memoryview(self._all)[: count * DIGEST_BYTES]))
        asked = np.unique(_column(b"".join(map(digest, queries))))
        places = np.searchsorted(passages, asked)
        new = places == len(passages)
        new[~new] = passages[places[~new]] != asked[~new]
        distinct = int(np.count_nonzero(passages[1:] != passages[:-1])) + bool(len(passages))
        return distinct, len(asked), distinct + int(np.count_nonzero(new))


DIGEST_BYTES = 16


def _column(digests: bytes | memoryview) -> npt.NDArray[np.bytes_]:
    return np.frombuffer(digests, f"S{DIGEST_BYTES}")


def digest(text: str) -> bytes:
    """Return a hash of a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


def read_dataset(
    metrics: Metrics,
    rules: Rules,
    files: Sequence[Path],
    environ: Mapping[str, str],
    progress: Progress,
    asked: Collection[str] = (),
) -> Dataset:
    """Return the dataset, from one of `files` or where corpora lie; raises Blocked or InputError where it is not here.

    A file counts only if it has the sha256 that the result states: another one proves nothing either way. A question
    is called as among those `asked`, of which earlier releases made up the ids.
    """
    corpus = _open_measured(metrics, rules, files, environ)
    reading = _Reading(metrics, asked)

    def add_haystack(haystack: Haystack) -> None:
        reading.add(haystack)
        advance(len(haystack.segments))

    with progress.stage("reading the dataset", metrics.corpus.segments, "segments") as advance:
        survey = corpus.survey(add_haystack)
    reading.end()
    questions = tuple(reading.questions)
    return Dataset(
        corpus,
        survey,
        questions,
        tuple(reading.candidates),
        reading.segments,
        reading.gold_turns,
        lambda: selected_haystacks(corpus.haystacks(), metrics),
        reading.digests,
        Texts(
            *reading.digests.distinct(reading.segments, (question.text for question in questions)),
            sum(reading.lengths[: reading.segments]),
            sum(len(question.text) for question in questions),
        ),
    )


class _Reading:
    """What is noted of haystacks, one after the other, so that no text of them is held."""

    def __init__(self, metrics: Metrics, asked: Collection[str]) -> None:
        self._metrics = metrics
        self._asked = asked
        self._left = metrics.retrieval.limit
        self._own = metrics.retrieval.scope == "own"
        self._pooled: list[Haystack] = []
        """Where all of them are pooled: a corpus of a few hundred sessions."""
        self.digests = Digests()
        self.lengths = array("i")
        """Characters of each text."""
        self.questions: list[Question] = []
        self.candidates: list[int] = []
        self.segments = 0
        """How many are in the store; a limit leaves out the last ones."""
        self.gold_turns = 0

    def add(self, haystack: Haystack) -> None:
        self.digests.add(haystack.scope if self._own else SCOPE, [segment.text for segment in haystack.segments])
        self.lengths.extend(len(segment.text) for segment in haystack.segments)
        haystack = replace(
            haystack, questions=tuple(_as_asked(question, self._asked) for question in haystack.questions)
        )
        if not self._own:
            self._pooled.append(replace(haystack, segments=tuple(replace(s, text="") for s in haystack.segments)))
            return
        for selected in _selected([haystack], self._metrics, self._left):
            self._note(selected)
            if self._left is not None:
                self._left -= len(selected.questions)

    def end(self) -> None:
        """Note what could only be selected once all of it was there."""
        if self._pooled:
            for selected in _selected(self._pooled, self._metrics, self._left):
                self._note(selected)

    def _note(self, selected: Haystack) -> None:
        self.questions += selected.questions
        self.candidates += [question.candidates(len(selected.segments)) for question in selected.questions]
        self.segments += len(selected.segments)
        self.gold_turns += sum(len(segment.gold_turns) for segment in selected.segments)


def _as_asked(question: Question, asked: Collection[str]) -> Question:
    earlier = question.line and question.line in asked and question.id not in asked
    return replace(question, id=question.line) if earlier else question


def dataset_at_hand(metrics: Metrics, rules: Rules, files: Sequence[Path], environ: Mapping[str, str]) -> str:
    """Return the sha256 of the dataset that a result states, where it is on this machine; empty where it is not."""
    try:
        return _open_measured(metrics, rules, files, environ).sha256
    except (RecallBenchError, OSError):
        return ""


def _open_measured(metrics: Metrics, rules: Rules, files: Sequence[Path], environ: Mapping[str, str]) -> Corpus:
    others = []
    for file in files or (None,):
        try:
            corpus = open_corpus(
                metrics.corpus.name,
                rules=rules,
                file=file,
                environ=environ,
                allow_dataset_deviation=True,
                whole_texts=EDITIONS[metrics.statistics_edition].whole_texts,
            )
            if corpus.sha256 == metrics.dataset_sha256:
                return corpus
            others.append(f"{corpus.path.name} has sha256 {corpus.sha256}")
        except InputError as error:
            # One of several files may be of another corpus.
            if len(files) < 2:
                raise
            others.append(error.brief)
    raise InputError(f"the result was made from {metrics.dataset_sha256}; {'; '.join(others)}")


def selected_haystacks(haystacks: Iterable[Haystack], metrics: Metrics) -> Iterator[Haystack]:
    """Return the haystacks as a run of the stated scope and limit gives them to a store."""
    return _selected(haystacks, metrics, metrics.retrieval.limit)


def _selected(haystacks: Iterable[Haystack], metrics: Metrics, limit: int | None) -> Iterator[Haystack]:
    return select_haystacks(
        haystacks,
        pool=metrics.retrieval.scope == "pooled",
        limit=limit,
        ignore_time=metrics.time is not None and metrics.time.way == "ignored",
    )


def file_with_hash(files: Sequence[Path], sha256: str) -> Path | None:
    """Return the file with this hash, else the first one."""
    if len(files) < 2:
        return files[0] if files else None
    return next((file for file in files if file.is_file() and sha256_of(file) == sha256), files[0])
