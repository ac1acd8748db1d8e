"""A result folder under audit: what it states, and what follows from its rankings and its dataset."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from recallbench.audit.decision import with_verdict
from recallbench.audit.examination import CannotTell, one_line
from recallbench.audit.shared_readings import SharedReadings
from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.corpora.records import Question, Survey
from recallbench.corpora.stream import sha256_of
from recallbench.embedding.registry import default_cache_dir
from recallbench.errors import Blocked, InputError
from recallbench.progress import Progress, Silent
from recallbench.protocol.deviations import Configuration, Deviation, departures
from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.reading import regular, state
from recallbench.results.dataset import Dataset, read_dataset
from recallbench.results.figures import Figures, figures
from recallbench.results.kept import placed_ranking, stated_question
from recallbench.results.metrics import HubPart, Metrics
from recallbench.results.result import Result
from recallbench.results.retrievals import CONTROL_RUN, NAMES, STATIC_RUN, read_document_names
from recallbench.results.rows import AnyHit, Row
from recallbench.results.trec import KeptHits, read_kept_run
from recallbench.retrieval.pipeline.pipeline import pipeline_words
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.scoring.editions import EDITIONS
from recallbench.stores.bm25 import BM25Store

T = TypeVar("T")
Run = dict[str, KeptHits]
"""Ids and scores by question."""


class _CachedOutcome(Generic[T]):
    """A property computed once. A failure is kept, too, so that no check reads again what can't be read."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}_outcome"

    @overload
    def __get__(self, subject: None, owner: type) -> _CachedOutcome[T]: ...
    @overload
    def __get__(self, subject: AuditSubject, owner: type) -> T: ...
    def __get__(self, subject: AuditSubject | None, owner: type) -> T | _CachedOutcome[T]:
        if subject is None:
            return self
        if self._name not in subject.__dict__:
            try:
                subject.__dict__[self._name] = (self._make(subject), None)
            except Exception as error:  # noqa: BLE001 - raised again at once, and each time it is asked for
                subject.__dict__[self._name] = (None, error)
        value, refused = subject.__dict__[self._name]
        if refused is not None:
            raise refused
        return value  # type: ignore[no-any-return]


class AuditSubject:
    """All that checks look at, each part read when it is first needed."""

    def __init__(
        self,
        result: Result,
        rules: Rules,
        corpus: CorpusRules,
        files: Sequence[Path],
        environ: Mapping[str, str],
        progress: Progress | None = None,
        shared: SharedReadings | None = None,
        cache_dir: Path | None = None,
    ) -> None:
        self.result = result
        self.folder = result.folder
        self.metrics = result.metrics
        self.rules = rules
        self.corpus = corpus
        self._files = files
        self.environ = environ
        self.cache_dir = cache_dir or default_cache_dir(environ)
        """Where fetched weights lie."""
        self.progress = progress or Silent()
        self.shared = shared or SharedReadings()
        self.states = {path.name: state(path) for path in sorted(self.folder.iterdir()) if path.is_file()}
        """The state of each file when the audit began."""

    @property
    def is_control(self) -> bool:
        """Whether what was measured is the lexical control itself."""
        return self.metrics.store.name == BM25Store.name and self.metrics.pipeline is None

    @_CachedOutcome
    def rows(self) -> list[Row]:
        """The rows of raw_retrievals.jsonl."""
        return self.result.rows()

    @_CachedOutcome
    def readable_rows(self) -> list[Row]:
        """Return the rows for checks that need them; RB-ROWS reports what is wrong with rows."""
        try:
            return self.rows
        except Exception:  # noqa: BLE001 - RB-ROWS reports it
            raise CannotTell("raw_retrievals.jsonl can't be read: see RB-ROWS") from None

    def name_of(self, id: str) -> str:
        """Return the name of a segment for whoever reads of it: its own, else its id."""
        return self._names.get(id, id)

    @cached_property
    def _names(self) -> dict[str, str]:
        if not is_set_name(self.metrics.corpus.name) or NAMES not in self.states:
            return {}
        try:
            ids = {id for row in self.readable_rows for id in (*row.gold, *(hit.id for hit in row.hits))}
            ids |= {f"{question.scope}/{position}" for question in self.questions for position in question.gold}
            return read_document_names(self.folder, ids)
        except (CannotTell, InputError):  # other checks report it
            return {}

    @_CachedOutcome
    def dataset(self) -> Dataset:
        """The dataset of the stated sha256, where it is at hand."""
        try:
            return self.shared.once(self.dataset_key, self._read_dataset)
        except Blocked as blocked:
            remedy = (
                blocked.remedy
                if "--corpus-file" in blocked.remedy
                else f"give it with --corpus-file, or {blocked.remedy}"
            )
            raise CannotTell(f"{blocked.problem}: {remedy}", blocked.remedy) from None
        except InputError as error:
            raise CannotTell(one_line(error)) from None

    @cached_property
    def dataset_key(self) -> Hashable:
        """All that decides the dataset of a run, and its haystacks."""
        stated = self.metrics
        way = stated.time.way if stated.time else ""
        run = (stated.retrieval.scope, stated.retrieval.limit, way)
        return stated.corpus.name, stated.dataset_sha256, stated.statistics_edition, *run, self._asked

    @cached_property
    def _asked(self) -> frozenset[str]:
        try:
            return frozenset(row.question_id for row in self.rows)
        except Exception:  # noqa: BLE001 - the dataset is what the rows are held to, whatever they say
            return frozenset()

    def _read_dataset(self) -> Dataset:
        return read_dataset(self.metrics, self.rules, self._files, self.environ, self.progress, self._asked)

    @_CachedOutcome
    def environment(self) -> dict[str, Any]:
        """The fields of environment.json."""
        return self.result.environment

    @_CachedOutcome
    def judged_result(self) -> Result:
        """The result, its rankings judged from the rows that were read."""
        self.result.judge(self.rows)
        return self.result

    @_CachedOutcome
    def control(self) -> Run:
        """The run of the lexical control, as its file has it; results of one corpus mostly have the same one."""
        path = regular(self.folder / CONTROL_RUN)
        stated = sha256_of(path)

        def read() -> Run:
            hashed = sha256()
            run = read_kept_run(path, watch=hashed.update)
            if hashed.hexdigest() != stated:  # nobody else is to be given what these bytes are not
                raise InputError(
                    f"{CONTROL_RUN} changed while it was read",
                    expected="a folder that nobody writes to",
                    found="others",
                )
            return run

        return self.shared.once(("run", stated), read)

    @_CachedOutcome
    def static(self) -> Run | None:
        """The run of the static control, as its file has it; None where the result states none."""
        return None if self.metrics.control_static is None else read_kept_run(self.folder / STATIC_RUN)

    @cached_property
    def has_dataset(self) -> bool:
        """Whether gold, counts and scopes come from the dataset; else from the rows, and nothing is VERIFIED."""
        try:
            return bool(self.dataset.questions)
        except CannotTell:
            return False

    @_CachedOutcome
    def questions(self) -> tuple[Question, ...]:
        """Return the questions that the run had to ask."""
        if self.has_dataset:
            # Earlier rows never say that one gold segment is enough: they were scored as if all were needed.
            all_needed = not any(row.one_find for row in self.readable_rows)
            return tuple(
                replace(question, one_find=False) if all_needed and question.one_find else question
                for question in self.dataset.questions
            )
        return tuple(stated_question(row) for row in _first_rows(self.readable_rows).values())

    @_CachedOutcome
    def candidates(self) -> tuple[int, ...]:
        """The size of each question's haystack."""
        if self.has_dataset:
            return self.dataset.candidates
        return tuple(row.candidates for row in _first_rows(self.readable_rows).values())

    @_CachedOutcome
    def retrieval(self) -> Retrieval:
        """The rankings of the rows under the dataset's questions; hits outside the scope are dropped."""
        stated = self.metrics.retrieval
        rows = _first_rows(self.readable_rows)
        sized = list(zip(self.questions, self.candidates, strict=True))
        static = self.static

        def ranking_of(question: Question, size: int, hits: Sequence[AnyHit]) -> Ranking:
            return placed_ranking(question, size, [(hit.id, hit.score) for hit in hits])

        def placed(run: Run) -> list[Ranking]:
            return [placed_ranking(question, size, run.get(question.id, ())) for question, size in sized]

        return Retrieval(
            Calls(self.rules.default_k, stated.depth),
            questions=[question for question, _ in sized],
            candidates=[size for _, size in sized],
            rankings=[ranking_of(q, size, rows[q.id].hits if q.id in rows else ()) for q, size in sized],
            short=[ranking_of(q, size, (rows[q.id].hits_of_k_call or ()) if q.id in rows else ()) for q, size in sized]
            if len(stated.calls) > 1
            else None,
            control=placed(self.control),
            static=None if static is None else placed(static),
            segments=self.dataset.segments if self.has_dataset else stated.segments,
            failed=stated.failed,
        )

    @property
    def survey(self) -> Survey:
        """The facts of the dataset, where it is at hand; else the stated ones."""
        return self.dataset.survey if self.has_dataset else _stated_survey(self.metrics)

    @_CachedOutcome
    def figures(self) -> Figures:
        """Every figure, derived from the rankings."""
        edition = EDITIONS[self.metrics.statistics_edition]
        return figures(self.retrieval, self.survey, self._configuration, self.corpus, self.rules, edition)

    @property
    def _configuration(self) -> Configuration:
        stated = self.metrics
        whole = stated.retrieval.scope == "own" and stated.retrieval.limit is None
        return Configuration(
            sha256=stated.dataset_sha256,
            store=stated.store.name,
            variant=stated.store.variant,
            embedder=stated.embedder.name if stated.embedder else "",
            pooled=stated.retrieval.scope == "pooled",
            depth=stated.retrieval.depth,
            limit=stated.retrieval.limit,
            pipeline=pipeline_words(stated.pipeline.words, stated.pipeline.sha256) if stated.pipeline else "",
            reproduction=stated.reproduction or "",
            failures=len(stated.retrieval.failed),
            dtype=stated.embedder.dtype if stated.embedder else "fp32",
            time=stated.time.way if stated.time else "",
            pack=stated.embedder.packed_vectors(whole=whole) if stated.embedder else None,
        )

    @_CachedOutcome
    def deviations(self) -> tuple[Deviation, ...]:
        """The deviations that follow from the configuration."""
        return departures(self._configuration, self.corpus, self.rules)

    @_CachedOutcome
    def derived(self) -> Metrics:
        """The stated metrics, with every derived part in place of the stated one."""
        stated, parts = self.metrics, {**self.figures}
        if self.has_dataset:
            parts["corpus"] = self.figures["corpus"].model_copy(update={"file": stated.corpus.file})
            parts["hub"] = _as_pinned(self.figures["hub"], stated.hub)
        else:
            for name in ("corpus", "labels", "hub", "canary", "matching", "time", "later"):
                del parts[name]
        if stated.later is None:
            parts.pop("later", None)  # earlier releases do not tell it
        # A run decides its gates before its folder is committed.
        return with_verdict(stated.model_copy(update=parts), self.rules, self.corpus, None)


def _first_rows(rows: Sequence[Row]) -> dict[str, Row]:
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row.question_id, row)
    return first


def _as_pinned(derived: HubPart | None, stated: HubPart | None) -> HubPart | None:
    """Return the derived part without the pins that were added after the result was made."""
    if derived is None or stated is None:
        return derived
    before = {file.name for file in stated.files if not file.pinned}
    files = [file.model_copy(update={"pinned": file.pinned and file.name not in before}) for file in derived.files]
    return derived.model_copy(update={"files": files})


def _stated_survey(metrics: Metrics) -> Survey:
    corpus = metrics.corpus
    return Survey(
        corpus=corpus.name,
        file=corpus.file,
        sha256=corpus.sha256,
        registered_sha256=corpus.registered_sha256,
        scopes=corpus.scopes,
        segments=corpus.segments,
        turns=corpus.turns,
        questions=corpus.questions,
        with_evidence=corpus.with_evidence,
        asked=corpus.questions - metrics.retrieval.left_out,
        kinds=corpus.kinds,
        denominators={denominator.name: denominator.count for denominator in metrics.denominators},
        checks=(),
        repeated_sessions=corpus.repeated_sessions,
        empty_turns=corpus.empty_turns,
        repaired_evidence=corpus.repaired_evidence,
        missing_turns=corpus.missing_turns,
        unseen_gold=corpus.unseen_gold,
        segments_per_scope=tuple(corpus.segments_per_scope),
    )
