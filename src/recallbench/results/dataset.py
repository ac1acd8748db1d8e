"""The dataset that a result names, read again: its questions, their haystacks and their gold."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.corpora.pooled import SCOPE
from recallbench.corpora.records import Corpus, Haystack, Question, Survey
from recallbench.corpora.registry import open_corpus
from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError, RecallBenchError
from recallbench.progress import Progress
from recallbench.protocol.rules import Rules
from recallbench.results.metrics import Metrics
from recallbench.results.retrievals import document_names
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
    names: str
    """The names of a labelled set's documents, as `documents.tsv` has them."""
    bare_names: str
    """The same without escapes, as releases of the first edition wrote it."""
    digests: Mapping[str, bytes]
    """By segment id, the digest of its text."""
    texts: Texts


class Texts(NamedTuple):
    """The texts that an encoder embeds for a run."""

    passages: frozenset[bytes]
    """Digests of the segments' texts."""
    queries: frozenset[bytes]
    passage_characters: int
    """Characters of all segments, repeated texts included."""
    query_characters: int


def digest(text: str) -> bytes:
    """Return a hash of a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


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
    haystacks: list[Haystack] = []
    digests: dict[str, bytes] = {}
    lengths: dict[str, int] = {}
    own = metrics.retrieval.scope == "own"

    def add_haystack(haystack: Haystack) -> None:
        for segment in haystack.segments:
            id = segment.id if own else f"{SCOPE}/{len(digests)}"
            digests[id], lengths[id] = digest(segment.text), len(segment.text)
        # Kept without texts, which take up to 277 MB.
        haystacks.append(
            replace(
                haystack,
                segments=tuple(replace(s, text="") for s in haystack.segments),
                questions=tuple(_as_asked(question, asked) for question in haystack.questions),
            )
        )
        advance(len(haystack.segments))

    with progress.stage("reading the dataset", metrics.corpus.segments, "segments") as advance:
        survey = corpus.survey(add_haystack)
    selected = list(selected_haystacks(haystacks, metrics))
    questions = tuple(question for haystack in selected for question in haystack.questions)
    labelled = is_set_name(metrics.corpus.name)
    ids = [segment.id for haystack in selected for segment in haystack.segments]
    return Dataset(
        corpus,
        survey,
        questions,
        tuple(q.candidates(len(haystack.segments)) for haystack in selected for q in haystack.questions),
        len(ids),
        sum(len(segment.gold_turns) for haystack in selected for segment in haystack.segments),
        "".join(document_names(selected)) if labelled else "",
        "".join(document_names(selected, str)) if labelled else "",
        digests,
        Texts(
            frozenset(digests[id] for id in ids),
            frozenset(digest(question.text) for question in questions),
            sum(lengths[id] for id in ids),
            sum(len(question.text) for question in questions),
        ),
    )


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
    return select_haystacks(
        haystacks,
        pool=metrics.retrieval.scope == "pooled",
        limit=metrics.retrieval.limit,
        ignore_time=metrics.time is not None and metrics.time.way == "ignored",
    )


def file_with_hash(files: Sequence[Path], sha256: str) -> Path | None:
    """Return the file with this hash, else the first one."""
    if len(files) < 2:
        return files[0] if files else None
    return next((file for file in files if file.is_file() and sha256_of(file) == sha256), files[0])
