"""The report of an evaluation: its figures, with what a user does with them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from recallbench.cases.data_frame import data_frame
from recallbench.cases.document import document, sheet, summary
from recallbench.cases.report_plot import plot
from recallbench.cases.scores import CaseScores
from recallbench.cases.table import PREVIEW, html, markdown, text
from recallbench.cases.tradeoff import Tradeoff, tradeoff
from recallbench.errors import UsageError
from recallbench.escaping.document import json_text
from recallbench.reports.plot import Plot

if TYPE_CHECKING:
    import pandas

    from recallbench.cases.change import Change

Format = Literal["text", "markdown", "csv", "json"]


class Report(CaseScores):
    """The result of an evaluation.

    `recall` is the short name of `recall_frac@k`, the share of a case's relevant ids found in the top k; `precision`,
    `f1`, `f1_of_means`, `ndcg` and `mrr` are at the same k, however deep a file's rankings go. What is printed carries
    the exact name, and so does it where the definitions of another school were asked for, as `precision@k(retrieved)`.
    Cases with nothing to find are in no mean; cases that failed count as empty rankings, and as false
    retrievals where nothing should be found.
    """

    def check(
        self,
        thresholds: Mapping[str, float] | str | None = None,
        /,
        *,
        verbose: bool = False,
        **short: float,
    ) -> None:
        """Raise one error that lists every threshold missed, each beside what an oracle could reach.

        Thresholds are at least: `check(recall=0.7, ndcg=0.85)`, by exact name `check({"recall_any@5": 0.9})`, or as a
        rule `check("recall >= 0.7")`. A threshold that even an oracle misses is said to be out of reach.
        `check("recommended")` takes four to begin with, which are no standard, whatever the definitions of the report:
        .80 of precision@k(retrieved), .70 of recall_frac@k, .85 of ndcg@k and .90 of mrr@k; what is given beside it
        goes before the same measure in it, or is one more.

        `check(p95_ms=5)` is at most: a percentile of the calls' milliseconds, from p1_ms to p99_ms. It goes by the
        percentile; with too few calls for an upper bound on it (59 for p95, 299 for p99) the check is inconclusive,
        which fails, and says so. With `verbose` it also tells what held.
        """
        # Imported here: pydantic takes longer to import than all the rest.
        from recallbench.cases.thresholds import check

        check(self, thresholds or {}, short, verbose=verbose)

    def as_dict(self) -> dict[str, Any]:
        """The figures under the names that harnesses commonly give them, for JSON; None where there is no figure.

        "precision@k", "recall@k", "f1@k", "ndcg@k" and "mrr" at the report's k (the first four also with its number, as
        "recall@10"), "latency_p50_ms" and "latency_p95_ms" of the calls. "params" says how they were made (the
        retriever's own under "retriever"), and "names" has the exact name of each.
        """
        return summary(self)

    def compare(self, before: Report) -> Change:
        """This report minus another of the same cases: whether what was changed helped, case by case.

        Raises UsageError where the two are no match: other cases, another k, another way of matching.
        """
        # Imported here, as above.
        from recallbench.cases.change import change

        return change(before, self)

    def tradeoff(self, ks: Sequence[int] = (1, 3, 5, 10, 20)) -> Tradeoff:
        """Precision, recall and F1 against k, and the k with the best F1; no k may be beyond the rankings' depth."""
        return tradeoff(self, ks)

    def table(self, format: Format = "text", by: str | None = None) -> str:
        """The whole report as text, Markdown, CSV or JSON, as the command line prints it; `by` adds slices."""
        match format:
            case "text":
                return text(self, by) + "\n"
            case "markdown":
                return markdown(self, by) + "\n"
            case "csv":
                return sheet(self, by).csv()
            case "json":
                return json_text(document(self, by), indent=2) + "\n"
        raise UsageError("no such format", expected="text, markdown, csv or json", found=repr(format))

    def plot(self) -> Plot:
        """Recall and precision against k: a notebook draws the plot, `save("report.svg")` writes it."""
        return plot(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each case: what was asked, its slice, the ranking and the measures under their exact names."""
        return data_frame(
            {
                "case": row.case.name,
                "query": row.case.query,
                "kind": row.case.kind,
                **row.case.labels,
                "relevant": list(row.case.relevant),
                "ranked": list(row.ranked),
                **{
                    str(measure): row.values.get(str(measure), math.nan)
                    for measure in self.measures
                    if measure.separable
                },
                "ms": row.ms,
                "failure": row.failure,
                "matching": "id" if way == "id" else str(self.matching),
                **({"matched_by": by} if self.steps is not None else {}),
            }
            for row, way, by in zip(
                self.rows,
                self.ways or ("",) * len(self),
                self.matched_by or ("",) * len(self),
                strict=True,
            )
        )

    def __repr__(self) -> str:
        return text(self, most=PREVIEW)

    def _repr_html_(self) -> str:
        return html(self)
