"""The table of a growing store, and how to read it."""

from __future__ import annotations

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.escaping.markdown import Markup
from recallbench.reports.cells import figure, interval
from recallbench.reports.comparison import LEVEL
from recallbench.reports.growth.document import Growth
from recallbench.reports.returned import returned_sentences
from recallbench.reports.table import Table
from recallbench.scoring.quantiles import fewest_for_bound


def table(growth: Growth) -> Table:
    """Return a row for each size."""
    names = [estimate.measure for estimate in growth.sizes[0].estimates]
    rows = [
        (
            f"{size.factor}x",
            str(size.stored),
            str(size.largest),
            *(Markup(f"{figure(estimate.value)} ({interval(estimate)})") for estimate in size.estimates),
            figure(size.estimates[0].chance),
            figure(size.p50_ms, 2),
            figure(size.p95_ms, 2),
        )
        for size in growth.sizes
    ]
    return Table(("size", "stored", "largest haystack", *names, "chance", "p50 ms", "p95 ms"), rows)


def notes(growth: Growth) -> list[str]:
    """Return sentences on how to read the table."""
    sampled = growth.sizes[0].queries
    lines = []
    if growth.left_out:
        names = ", ".join(f"{factor}x" for factor in growth.left_out)
        lines.append(f"{names} left out: there are documents for {growth.room}x, which stands in the last row.")
    if growth.matching != "id":
        lines.append(f"Matched by {growth.matching}.")
    if growth.unmatched:
        many = growth.unmatched != 1
        lines.append(
            f"{growth.unmatched} {'queries match' if many else 'query matches'} no document, and "
            f"{'are' if many else 'is'} in no mean."
        )
    if growth.passed_over:
        many = growth.passed_over != 1
        reason = (
            f"{'match' if many else 'matches'} what a query of another haystack expects"
            if growth.matching != "id"
            else f"{'say' if many else 'says'} word by word what a relevant document of another haystack says"
        )
        distractors = "distractors" if many else "distractor"
        lines.append(
            f"{growth.passed_over} of {growth.pool} documents {reason}: no {distractors} there, and not added to it."
        )
    remarks = [
        (size, remark)
        for size in growth.sizes
        for remark in (*(f"{line}." for line in returned_sentences(size.returned)), size.disturbed, size.impossible)
        if remark
    ]
    lines += [f"{size.factor}x: {remark}" for size, remark in remarks]
    return [
        *lines,
        f"{plain_names(growth.corpus)}, {growth.store} {growth.version}, {growth.embedder}; "
        f"distractors: {growth.distractors}, seed {growth.seed}.",
        f"Chance is that of {growth.sizes[0].estimates[0].measure}. Times are those of {sampled} warm queries, one by "
        "one, end to end, on this machine, percentiles are nearest ranks: compare them within this table.",
        *_bounds(growth),
    ]


def _bounds(growth: Growth) -> list[str]:
    """Return what so few questions or queries can't tell."""
    sampled, least, change = growth.sizes[0].queries, fewest_for_bound(0.95), growth.change
    few = [f"A p95 of {sampled} queries has no upper bound: that takes {least}."] if 0 < sampled < least else []
    if change is None or change.p <= LEVEL or change.detectable is None:
        return few
    return [*few, f"A change of {figure(change.detectable)} would be found four times in five."]
