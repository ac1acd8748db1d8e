"""A drawn sample as a table, and what comes of it."""

from __future__ import annotations

from pathlib import Path

from recallbench.escaping.shell import command
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.table import Table
from recallbench.studies.logs.sampling import QuerySample


def sample_table(sample: QuerySample) -> Table:
    """Return a row for each query, in the order of the draw."""
    rows = [(query.latest.query, query.latest.stratum or "–", str(query.logged)) for query in sample.queries]
    return Table(("query", "stratum", "logged"), rows, caption="Queries that were drawn", left=("query", "stratum"))


def conclusion(sample: QuerySample, by: str, file: Path | None) -> Conclusion:
    """Return how many queries stand for how many recalls, and how they are labelled."""
    recalls, strata, count = sum(sample.recalls.values()), len(sample.recalls), len(sample.queries)
    values = f"{strata} {'value' if strata == 1 else 'values'} of {by}"
    queries = f"{count} {'query' if count == 1 else 'queries'}"
    stand = "stands" if count == 1 else "stand"
    happened = (
        f"{queries} drawn that {stand} for {recalls:,} logged {'recall' if recalls == 1 else 'recalls'}, {values}"
    )
    then = f"say what is relevant: {command('label', 'DIR', '--queries', file or 'SAMPLE')}"
    return Conclusion(happened, "the same seed and log draw the same queries", then)
