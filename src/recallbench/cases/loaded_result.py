"""A result folder in Python: its figures and rankings, in a notebook as tables and plots."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recallbench.cases.data_frame import data_frame
from recallbench.cases.store_run import refuse_beyond
from recallbench.compare.folders import compare_results
from recallbench.reports import comparison_text, result_page
from recallbench.reports.comparison import Comparison
from recallbench.reports.display import Display
from recallbench.reports.plot import Plot
from recallbench.reports.summary import opening_sentence, verdict_sentence
from recallbench.reports.table import Part
from recallbench.results.latency import query_times
from recallbench.results.metrics import OVERALL, EstimatePart
from recallbench.results.result import Result, open_with_manifest
from recallbench.scoring.measures.registry import parse

if TYPE_CHECKING:
    import pandas


class ResultComparison(Display):
    """One result minus another, question by question."""

    def __init__(self, document: Comparison) -> None:
        self.document = document
        """Every figure, as `recallbench compare --json` prints it."""

    def displayed(self) -> list[Part]:
        """Return the tables and sentences that `recallbench compare` prints."""
        return comparison_text.parts(self.document)


class LoadedResult(Display, Result):
    """A result folder: `headline`, `estimates`, `rankings`, `metrics` with everything that metrics.json has.

    At a prompt and in a notebook it shows its sentence, its measures beside BM25, chance and ceiling, and the picture.
    """

    @property
    def estimates(self) -> dict[str, EstimatePart]:
        """The estimate of each measure over all questions, by exact name, with interval, chance and ceiling."""
        return {estimate.measure: estimate for estimate in self.metrics.estimates[OVERALL]}

    @property
    def by_kind(self) -> dict[str, dict[str, EstimatePart]]:
        """The same for each kind of question."""
        kinds = {kind: parts for kind, parts in self.metrics.estimates.items() if kind != OVERALL}
        return {kind: {part.measure: part for part in parts} for kind, parts in kinds.items()}

    def estimate(self, measure: str) -> EstimatePart:
        """The estimate of any measure that the rankings reach, over all questions."""
        chosen = parse(measure)
        refuse_beyond([chosen.k], self.metrics.retrieval.depth)
        return self.estimates.get(str(chosen)) or self.rankings.estimates([chosen])[0]

    def value(self, measure: str) -> float:
        """The mean of any measure that the rankings reach, as "recall_any@10"; nan where no question counts."""
        chosen = parse(measure)
        refuse_beyond([chosen.k], self.metrics.retrieval.depth)
        counted = self.rankings.counted(chosen)
        return self.rankings.mean(chosen, np.ones_like(counted)) if counted.any() else math.nan

    @property
    def verdict(self) -> str:
        """What the result was called when it was written; `recallbench audit` decides it again."""
        return self.metrics.verdict.text

    @property
    def deviations(self) -> tuple[str, ...]:
        """In what the run departed from the protocol."""
        return tuple(f"{deviation.kind}: {deviation.detail}" for deviation in self.metrics.deviations)

    @cached_property
    def latencies(self) -> tuple[float, ...]:
        """The milliseconds of each warm query that was timed, one by one."""
        return tuple(query_times(self.folder, "warm"))

    def plot(self) -> Plot | None:
        """Recall against k, beside BM25, chance and ceiling; None where no depth has a figure."""
        return result_page.plot(self.metrics)

    def compare(
        self,
        before: Result | str | PathLike[str],
        *,
        allow: str | Collection[str] = (),
        measures: str | Sequence[str] = (),
    ) -> ResultComparison:
        """This result minus another, question by question: difference, interval, exact test, what changed most.

        `allow` names what may differ: "embedder", "store" or both. Raises UsageError where the two can't be compared.
        """
        earlier = before if isinstance(before, Result) else load(before)
        allowed = [allow] if isinstance(allow, str) else allow
        chosen = [parse(name) for name in ([measures] if isinstance(measures, str) else measures)]
        return ResultComparison(compare_results(earlier, self, chosen, allowed=allowed))

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each question: its kind, what is relevant, the ranking, and every measure that has a value."""
        rankings, measures = self.rankings, [parse(name) for name in self.estimates]
        columns = {
            str(measure): np.where(rankings.counted(measure), rankings.values(measure), math.nan)
            for measure in measures
            if measure.separable
        }
        rows = zip(rankings.questions, rankings.kinds, rankings.gold_ids, rankings.hit_ids[-1], strict=True)
        return data_frame(
            {"question": id, "kind": kind, "relevant": list(gold), "ranked": list(ranked)}
            | {name: float(values[i]) for name, values in columns.items()}
            for i, (id, kind, gold, ranked) in enumerate(rows)
        )

    def displayed(self) -> list[Part | Plot]:
        """Return the sentence, the verdict, the plot and the measures."""
        drawn = self.plot()
        measures = result_page.measure_table(self.metrics)
        sentences = [opening_sentence(self.metrics), verdict_sentence(self.metrics)]
        return [*sentences, *([] if drawn is None else [drawn]), measures, str(self.folder)]


def load(folder: str | PathLike[str]) -> LoadedResult:
    """Return the result in a folder that `recallbench run` or `evaluate` wrote; raises InputError where there is none.

    Nothing is verified but its form; `recallbench audit` works every figure out again.
    """
    result = open_with_manifest(Path(fspath(folder)).expanduser())
    return LoadedResult(result.folder, result.metrics)
