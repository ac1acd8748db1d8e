"""The figures of an evaluation: means under their short and exact names, every case, and every slice."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recallbench.cases.answer import Answer
from recallbench.cases.case import ABSTENTION, NOTHING, Case, count
from recallbench.cases.definitions import SHORT, USUAL, Definitions
from recallbench.cases.params import Params, in_words
from recallbench.cases.shares import Share, Steps, shares
from recallbench.cases.text_findings import TextFindings
from recallbench.cases.text_judging import DecidedBy
from recallbench.corpora.matching.method import Matching
from recallbench.errors import UsageError
from recallbench.scoring.abstention import Abstention, abstention, top_score
from recallbench.scoring.estimate import Estimate, estimates
from recallbench.scoring.judgement import Floats, Judged
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import parse
from recallbench.scoring.measures.returned_share import ReturnedShare
from recallbench.scoring.quantiles import quantile

if TYPE_CHECKING:  # pydantic takes longer to import than all the rest
    from recallbench.results.metrics import CoveragePart


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case of a report."""

    case: Case
    ranked: tuple[Any, ...]
    """The ids that came back, best first."""
    values: Mapping[str, float]
    """The value of each measure that counts the case, by exact name; empty for one with nothing to find."""
    failure: str | None
    """Why the case failed, and so counts as an empty ranking."""
    ms: float | None
    """The milliseconds that its call took; None where it was not timed, or failed."""


@dataclass(frozen=True, eq=False)
class CaseScores:
    """The cases, their answers, and every figure that follows from the two; see `Report` for the short names."""

    cases: tuple[Case, ...]
    answers: tuple[Answer, ...]
    judged: Judged
    k: int
    matching: Matching
    candidates: int | None = None
    """The number of items that could come back, at most; without it there is no level of chance."""
    texts: TextFindings | None = None
    """Exact and fuzzy matches apart, and the effect of the threshold; None where ids decide all."""
    notes: tuple[str, ...] = ()
    ways: tuple[DecidedBy, ...] | None = None
    """Either "id" or "text" for each case; empty where nothing is to be found, None where ids decide all."""
    clusters: tuple[str, ...] | None = None
    """The cluster of each case, for the intervals; None where the cases are independent."""
    definitions: Definitions = USUAL
    """The definitions of the short names."""
    steps: tuple[Steps, ...] | None = None
    """For hybrid matching: by case, the step that each hit matched by."""
    ties: str = ""
    """The rule for equal scores in rankings from a file, "file" or "trec"; empty where a retriever answered."""
    params: Params = field(default_factory=dict)
    """The parameters of the retriever, as the caller named them."""
    coverage: CoveragePart | None = None
    """How much of what could come back did for any case, at k and at the whole depth; None where that is not known."""

    def __len__(self) -> int:
        return len(self.cases)

    @property
    def recall(self) -> float:
        """`recall_frac@k`: the share of a case's relevant ids that is in the top k, averaged."""
        return self.value(self.short("recall"))

    @property
    def precision(self) -> float:
        """`precision@k`: relevant ids in the top k, divided by k (a short ranking is not forgiven), averaged.

        With precision="retrieved" divided by what came back, k at most: `precision@k(retrieved)`.
        """
        return self.value(self.short("precision"))

    @property
    def f1(self) -> float:
        """`f1@k`: each case's harmonic mean of its precision, as defined, and its recall, averaged."""
        return self.value(self.short("f1"))

    @property
    def f1_of_means(self) -> float:
        """`f1_of_means@k`: the harmonic mean of the mean precision and the mean recall."""
        return self.value(self.short("f1_of_means"))

    @property
    def ndcg(self) -> float:
        """`ndcg@k`, graded where grades are given, averaged; with ndcg="graded" over the cases that have grades."""
        return self.value(self.short("ndcg"))

    @property
    def mrr(self) -> float:
        """`mrr@k`: 1 / rank of the first relevant id, 0 when it is not in the top k, averaged."""
        return self.value(self.short("mrr"))

    @property
    def latencies(self) -> tuple[float, ...]:
        """Milliseconds that each answered case was waited for, as far as calls were timed."""
        return tuple(answer.ms for answer in self.answers if answer.ms is not None)

    @property
    def latency_p50_ms(self) -> float | None:
        """The median latency, by the rule of `percentiles`; None where nothing was timed."""
        return quantile(self.latencies, 0.5, self.definitions.percentiles)

    @property
    def latency_p95_ms(self) -> float | None:
        """The latency that 95% of the calls do not exceed, by the same rule."""
        return quantile(self.latencies, 0.95, self.definitions.percentiles)

    @property
    def n(self) -> int:
        """Cases in the means: those with something to find."""
        return int(self._counted.sum())

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures with short names, the four of the table first."""
        return tuple(self.short(name) for name in SHORT)

    @property
    def columns(self) -> tuple[Measure, ...]:
        """The four classic ones."""
        return self.measures[:4]

    def short(self, name: str) -> Measure:
        """The measure of a short name, as "recall" for `recall_frac@k`."""
        return self.definitions.measure(name, self.k)

    def value(self, measure: Measure | str) -> float:
        """The mean of any measure, as "recall_any@5"; nan where no case counts."""
        chosen = self._measurable(measure)
        values = self._values(chosen)[chosen.counted(self.judged)]
        return float(values.mean()) if len(values) else math.nan

    def ceiling(self, measure: Measure | str) -> float:
        """The mean that an oracle reaches on these cases: no ranking gets more."""
        chosen = self._measurable(measure)
        most = chosen.ceiling(self.judged)[chosen.counted(self.judged)]
        return float(most.mean()) if len(most) else math.nan

    def estimate(self, measure: Measure | str) -> Estimate:
        """The mean with n, 95% interval and ceiling; chance is None unless `candidates` was given."""
        return self._estimated((self._measurable(measure),))[0]

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        """The estimates of all six measures, in the order of `measures`."""
        return self._estimated(self.measures)

    @cached_property
    def rows(self) -> tuple[CaseRow, ...]:
        """Every case, in the order given."""
        # A set's harmonic mean of means belongs to no single case.
        shown = [measure for measure in self.measures if measure.separable]
        table = [self._values(measure).tolist() for measure in shown]
        names = [str(measure) for measure in shown]
        counted = [measure.counted(self.judged).tolist() for measure in shown]
        return tuple(
            CaseRow(
                case,
                answer.ids,
                {name: column[i] for name, column, has in zip(names, table, counted, strict=True) if has[i]},
                None if answer.failure is None else str(answer.failure),
                answer.ms,
            )
            for i, (case, answer) in enumerate(zip(self.cases, self.answers, strict=True))
        )

    @property
    def failures(self) -> tuple[CaseRow, ...]:
        """The cases that failed, which keep_going lets through and counts as empty rankings."""
        return tuple(row for row in self.rows if row.failure is not None)

    @cached_property
    def abstention(self) -> Abstention | None:
        """How well the top score separates cases with nothing to find; None without such cases or without scores.

        A case that failed where nothing should be found counts as a false retrieval: failing is no way of finding
        nothing.
        """
        abstain = [case.kind == ABSTENTION for case in self.cases]
        if not any(abstain) or any(answer.ids and answer.scores is None for answer in self.answers):
            return None
        answered = zip(self.answers, abstain, strict=True)
        return abstention(
            [top_score(answer.scores, failed=answer.failure is not None, abstain=flag) for answer, flag in answered],
            abstain,
        )

    def by(self, field: str | Callable[[Case], Hashable] = "kind") -> dict[str, Self]:
        """A report for each slice: by kind, by a label of the cases, or by what a function says of them."""
        if isinstance(field, str):
            if field != "kind" and not any(field in case.labels for case in self.cases):
                known = sorted({"kind", *(name for case in self.cases for name in case.labels)})
                raise UsageError(
                    f"no query has a field {field}",
                    expected=f"a field that queries have: {', '.join(known)}",
                    found=field,
                )
            names = [case.label(field) for case in self.cases]
        else:
            names = [str(field(case)) for case in self.cases]
        return {name: self._select([other == name for other in names]) for name in dict.fromkeys(names)}

    @cached_property
    def apart(self) -> dict[DecidedBy, Self]:
        """The cases that ids decide, and those that texts decide, where there are both; else nothing."""
        ways = self.ways or ()
        if not {"id", "text"} <= set(ways):
            return {}
        return {way: self._select([decided == way for decided in ways]) for way in ("id", "text")}

    @property
    def shares(self) -> list[Share]:
        """For hybrid matching: the share of each of its steps; empty for other methods."""
        return [] if self.steps is None else shares(self.steps, self.matching, self.k, self.n)

    @property
    def matched_by(self) -> list[str]:
        """For hybrid matching: by case, the step of its first match in the top k; empty without a match."""
        return [
            next((step for step in case_steps[: self.k] if step is not None), "") for case_steps in self.steps or ()
        ]

    def __str__(self) -> str:
        figures = ", ".join(f"{measure} {self.value(measure):.4f}" for measure in self.measures)
        summary = f"{figures} over {count(self.n)}" if self.n else f"{NOTHING} over {count(len(self))}"
        failed = sum(answer.failure is not None for answer in self.answers)
        by = ", ".join(f"{part.n} by {way}" for way, part in self.apart.items())
        if self.shares:
            by = ", ".join(f"{share.cases} by {share.step}" for share in self.shares)
        how = f"matching: {self.matching}{f' ({by})' if by else ''}{f', ties: {self.ties}' if self.ties else ''}"
        params = f"; params: {in_words(self.params)}" if self.params else ""
        return f"{summary}{f' ({failed} failed)' if failed else ''}; {how}{params}"

    def _measurable(self, measure: Measure | str) -> Measure:
        chosen = parse(measure) if isinstance(measure, str) else measure
        if isinstance(chosen, ReturnedShare) and self.candidates is None:
            raise UsageError(
                f"{chosen} can't be told without knowing how many items could come back",
                expected="candidates, as evaluate(…, candidates=1000)",
                found="none",
            )
        return chosen

    @cached_property
    def _counted(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return self.judged.gold > 0

    @cached_property
    def _values_by_measure(self) -> dict[Measure, Floats]:
        return {}

    def _values(self, measure: Measure) -> Floats:
        if measure not in self._values_by_measure:
            self._values_by_measure[measure] = measure.values(self.judged)
        return self._values_by_measure[measure]

    def _estimated(self, measures: Sequence[Measure]) -> tuple[Estimate, ...]:
        estimated = estimates(measures, self.judged, self.clusters, {"all": np.ones(len(self), dtype=np.bool_)})["all"]
        if self.candidates is not None:
            return estimated
        # Without knowing what else could have come back, neither says anything.
        return tuple(replace(estimate, chance=None, saturated=None) for estimate in estimated)

    def _select(self, mask: Sequence[bool]) -> Self:
        chosen = [i for i, keep in enumerate(mask) if keep]
        return replace(
            self,
            cases=tuple(self.cases[i] for i in chosen),
            answers=tuple(self.answers[i] for i in chosen),
            judged=self.judged.select(mask),
            texts=None if self.texts is None else self.texts.select(chosen),
            ways=None if self.ways is None else tuple(self.ways[i] for i in chosen),
            clusters=None if self.clusters is None else tuple(self.clusters[i] for i in chosen),
            steps=None if self.steps is None else tuple(self.steps[i] for i in chosen),
            notes=(),
            coverage=None,
        )
