"""The rankings of a finished result, read back from its folder and judged again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import eq
from pathlib import Path
from typing import overload

import numpy as np

from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.corpora.records import Corpus
from recallbench.errors import InputError
from recallbench.results.folder import not_a_result
from recallbench.results.metrics import OVERALL, EstimatePart, Metrics
from recallbench.results.retrievals import NAMES, read_document_names
from recallbench.results.rows import NAME, AnyHit, PlacedHits, Row, position_of
from recallbench.scoring.estimate import estimates
from recallbench.scoring.judgement import Bools, Floats, Judged, judge
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import PRIMARY, parse

_ROUNDING = 1e-9
_REMEDY = "make the result again with `recallbench run`"

Ids = Sequence[tuple[str, ...]]
"""By question, ids of segments."""


class HitIds(Sequence[tuple[str, ...]]):
    """The ids of each ranking, which are made when they are asked for: those of a large result take its memory."""

    def __init__(self, rankings: Iterable[Sequence[AnyHit]]) -> None:
        self._rankings = [hits if isinstance(hits, PlacedHits) else tuple(hit.id for hit in hits) for hits in rankings]

    def __len__(self) -> int:
        return len(self._rankings)

    @overload
    def __getitem__(self, question: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, question: slice) -> list[tuple[str, ...]]: ...
    def __getitem__(self, question: int | slice) -> tuple[str, ...] | list[tuple[str, ...]]:
        if isinstance(question, slice):
            return list(self)[question]
        hits = self._rankings[question]
        return tuple(hit.id for hit in hits) if isinstance(hits, PlacedHits) else hits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, eq=False)
class Rankings:
    """The questions of a result and its rankings."""

    origin: str
    """The name of the folder, or of the run file."""
    questions: tuple[str, ...]
    clusters: tuple[str, ...]
    gold: tuple[frozenset[int], ...]
    calls: tuple[Judged, ...]
    """The judged calls, shallowest first."""
    kinds: tuple[str, ...]
    gold_ids: Ids
    hit_ids: tuple[Ids, ...]
    """The ids that came back, by call."""
    tenants: tuple[str, ...] = ()
    """The tenant of each question; its scope where the row names none."""
    abstention: tuple[bool, ...] = ()
    """Whether a question has no answer."""
    first_scores: tuple[float | None, ...] = ()
    """The score of the first hit of the deepest call."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The own names of documents of a labelled set, by their ids here."""

    def name_of(self, id: str) -> str:
        """Return the name of a segment for whoever reads of it: its own, else its id."""
        return self.names.get(id, id)

    def values(self, measure: Measure) -> Floats:
        """Return the value of each question, from the shallowest call that reaches the measure (clarification 15)."""
        return measure.values(self._reaching(measure))

    def counted(self, measure: Measure) -> Bools:
        """Return which questions count in the measure's mean."""
        return measure.counted(self._reaching(measure))

    def mean(self, measure: Measure, keep: Bools) -> float:
        """Return the mean over those questions of `keep` that the measure counts."""
        return float(self.values(measure)[keep & self.counted(measure)].mean())

    def estimates(self, measures: Sequence[Measure], keep: Bools | None = None) -> list[EstimatePart]:
        """Return the estimate of each measure over all questions, or those of `keep`, as metrics.json has it."""
        every = {OVERALL: np.ones(len(self.questions), dtype=np.bool_) if keep is None else keep}
        return [
            EstimatePart.model_validate(
                {name: value for name, value in asdict(estimate).items() if name != "left_out"}
                | {"measure": str(measure), "ordered": measure.ordered}
            )
            for measure, estimate in zip(
                measures, estimates(measures, self.calls, self.clusters, every)[OVERALL], strict=True
            )
        ]

    @property
    def answerable(self) -> Bools:
        """The questions that have gold."""
        return self.calls[0].gold > 0

    def call_reaching(self, k: int) -> int:
        """Return the place of the shallowest call that is k deep, else of the deepest (clarification 15)."""
        return next((i for i, call in enumerate(self.calls) if call.depth >= k), len(self.calls) - 1)

    def _reaching(self, measure: Measure) -> Judged:
        return self.calls[self.call_reaching(measure.k)]


def unanswered(corpus: Corpus, depth: int) -> Rankings:
    """Return the questions of a corpus that have gold, each with an empty ranking."""
    asked = [
        (question, haystack)
        for haystack in corpus.haystacks()
        for question in haystack.questions
        if question.gold and not question.abstention
    ]
    gold = [question.gold for question, _ in asked]
    candidates = [question.candidates(len(haystack.segments)) for question, haystack in asked]
    return Rankings(
        origin=corpus.name,
        questions=tuple(question.id for question, _ in asked),
        clusters=tuple(question.cluster for question, _ in asked),
        gold=tuple(gold),
        calls=(judge([[]] * len(asked), gold, candidates, depth),),
        kinds=tuple(question.kind for question, _ in asked),
        gold_ids=tuple(
            tuple(haystack.segments[position].id for position in sorted(question.gold)) for question, haystack in asked
        ),
        hit_ids=(((),) * len(asked),),
    )


def judge_rows(rows: Sequence[Row], metrics: Metrics, folder: Path) -> Rankings:
    """Return the rankings of rows, judged; raises InputError where they do not give every figure of metrics.json."""
    stated, depths = _stated_figures(metrics, folder), metrics.retrieval.calls
    gold = [frozenset(_position(row, id) for id in row.gold) for row in rows]
    grades = [{_position(row, id): grade for id, grade in row.grades.items()} for row in rows]
    calls: list[list[Sequence[AnyHit]]] = [[row.hits for row in rows]]
    if len(depths) > 1:
        calls.insert(0, [row.hits_of_k_call or [] for row in rows])

    def judged(call: Sequence[Sequence[AnyHit]], depth: int) -> Judged:
        ranked = [[_position(row, hit.id) for hit in hits] for row, hits in zip(rows, call, strict=True)]
        candidates, one_find = [row.candidates for row in rows], [row.one_find for row in rows]
        return judge(ranked, gold, candidates, depth, grades if any(grades) else None, one_find)

    rankings = Rankings(
        origin=folder.name,
        questions=tuple(row.question_id for row in rows),
        clusters=tuple(row.cluster for row in rows),
        gold=tuple(gold),
        calls=tuple(judged(call, depth) for call, depth in zip(calls, depths, strict=True)),
        kinds=tuple(row.kind for row in rows),
        tenants=tuple(row.tenant or row.scope for row in rows),
        abstention=tuple(row.abstention for row in rows),
        first_scores=tuple(row.hits[0].score if row.hits else None for row in rows),
        gold_ids=tuple(tuple(row.gold) for row in rows),
        hit_ids=tuple(HitIds(call) for call in calls),
        names=_names(rows, metrics, folder),
    )
    for measure, value in stated.items():
        values = rankings.values(measure)[rankings.counted(measure)]
        check_figure(folder.name, str(measure), value, float(values.mean()) if len(values) else None)
    _check_ranks(calls, folder)
    return rankings


def _names(rows: Sequence[Row], metrics: Metrics, folder: Path) -> dict[str, str]:
    """Return the own names of all documents in the rows; there are none but of a labelled set."""
    if not is_set_name(metrics.corpus.name) or not (folder / NAMES).is_file():
        return {}
    return read_document_names(folder, {id for row in rows for id in (*row.gold, *(hit.id for hit in row.hits))})


def check_figure(folder: str, name: str, stated: float | None, derived: float | None) -> None:
    """Raise InputError where a figure does not follow from the rankings."""
    if (stated is None) != (derived is None) or abs((stated or 0.0) - (derived or 0.0)) > _ROUNDING:
        raise InputError(
            f"{folder}: the rankings do not give the figures",
            expected=f"{name} {stated}",
            found=f"{derived} from {NAME}",
            remedy=_REMEDY,
        )


def _stated_figures(metrics: Metrics, folder: Path) -> dict[Measure, float | None]:
    """Return the figures that the rankings must give; raises InputError where too few are stated."""
    figures = {parse(estimate.measure): estimate.value for estimate in metrics.estimates.get(OVERALL, [])}
    calls, depth = metrics.retrieval.calls, metrics.retrieval.depth
    missing = [measure for measure in PRIMARY if measure.k <= depth and measure not in figures]
    if not calls:
        raise not_a_result(folder, "no call to the store")
    if len(calls) > 2 or calls != sorted(calls) or calls[0] < 1 or calls[-1] != depth:
        raise not_a_result(folder, f"calls of {', '.join(map(str, calls))} hits for rankings {depth} deep")
    if missing:
        raise not_a_result(folder, f"no figure for {missing[0]}")
    return figures


def _check_ranks(calls: Sequence[Sequence[Sequence[AnyHit]]], folder: Path) -> None:
    for call in calls:
        for number, hits in enumerate(call, 1):
            if any(hit.rank != rank for rank, hit in enumerate(hits, 1)):
                raise InputError(
                    f"{folder.name}/{NAME}, line {number}: not a ranking",
                    expected="ranks 1, 2, 3 and so on",
                    found="others",
                    remedy="get the file again from where it was made, or make the result again",
                )


def _position(row: Row, id: str) -> int:
    position = position_of(id, row.scope, row.candidates)
    if position is None:
        raise InputError(
            f"question {row.question_id}: a segment of another scope",
            expected=f"{row.scope}/<position>, of {row.candidates}",
            found=id,
            remedy=_REMEDY,
        )
    return position
