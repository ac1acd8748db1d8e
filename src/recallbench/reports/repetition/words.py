"""`repeat.md`: the findings of a repeat, its conditions and its tables."""

from __future__ import annotations

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.escaping.markdown import code, headed, opening
from recallbench.reports.cells import figure
from recallbench.reports.repetition.document import JSON, Repetition
from recallbench.reports.table import Link, Table

SHOWN = 20
"""Questions that repeat.md lists; repeat.json has all."""


def title(repetition: Repetition) -> str:
    """Return corpus, passes, store and embedder in a line."""
    cold = sum(pass_.state == "cold" for pass_ in repetition.passes)
    warm = len(repetition.passes) - cold
    return (
        f"{plain_names(repetition.corpus)}: {cold} cold runs and {warm} warm passes of {repetition.store} "
        f"with {repetition.embedder}; {repetition.version}"
    )


def findings(repetition: Repetition) -> list[str]:
    """Return the findings, a sentence each."""
    flips = sum(question.flips for question in repetition.moved)
    lines = [f"{band.protocol_name} ({band.measure}): {band.told}" for band in repetition.bands]
    lines += [f"not one configuration: {setting}" for setting in repetition.unlike]
    lines.append(f"content_sha256 of the runs: {'all equal' if repetition.same_content else 'they differ'}")
    lines.append(
        "rankings: identical in every pass, to the last score"
        if repetition.same_rankings
        else f"rankings: they differ; {flips} of {repetition.n} questions flip at 10, "
        f"{len(repetition.moved)} have their first gold segment at another rank"
    )
    return lines


def conditions(repetition: Repetition) -> list[str]:
    """Return how runs were repeated, and which sources of spread that leaves out."""
    return [
        f"protocol {repetition.protocol}; {repetition.n} questions of {plain_names(repetition.corpus)}",
        f"deviations: {'; '.join(repetition.deviations) or 'none'}",
        *circumstances(repetition),
    ]


def circumstances(repetition: Repetition) -> list[str]:
    """Return the same without what the protocol says of it."""
    return [
        f"cold: {repetition.cold}",
        f"warm: {repetition.warm}",
        *(f"not let in: {limit}" for limit in repetition.limits),
    ]


def spread_table(repetition: Repetition) -> Table:
    """Return the spread, a row for each measure."""
    rows = [
        (
            spread.measure,
            *(figure(value) for value in (spread.minimum, spread.maximum, spread.range)),
            *(figure(value, 5) for value in (spread.sd, spread.cold_range, spread.warm_range)),
        )
        for spread in repetition.spread
    ]
    return Table(("measure", "min", "max", "range", "sd", "cold range", "warm range"), rows)


def markdown(repetition: Repetition) -> str:
    """Return `repeat.md`."""
    lines = [*(f"- {opening(line)}" for line in findings(repetition)), ""]
    lines += ["## How it was repeated", "", *(f"- {opening(line)}" for line in conditions(repetition)), ""]
    lines += ["## Spread over all passes", "", *spread_table(repetition).markdown(), ""]
    lines += ["## Passes", "", *_pass_table(repetition).markdown(), ""]
    if repetition.moved:
        lines += ["## Questions that moved", "", *_moved_table(repetition).markdown(), ""]
        if len(repetition.moved) > SHOWN:
            lines += [f"{len(repetition.moved) - SHOWN} more are in `{JSON}`.", ""]
    return headed(title(repetition), lines).rstrip() + "\n"


def _pass_table(repetition: Repetition) -> Table:
    measures = list(repetition.passes[0].values) if repetition.passes else []
    primary = [band.measure for band in repetition.bands if band.measure in measures]
    rows = [
        [
            Link(pass_.name, f"{pass_.name}/report.md" if pass_.content_sha256 else f"{pass_.name}.jsonl"),
            pass_.state,
            *(figure(pass_.values[measure]) for measure in primary),
            code(pass_.rankings_sha256[:12]),
        ]
        for pass_ in repetition.passes
    ]
    return Table(("pass", "index", *primary, "rankings"), rows)


def _moved_table(repetition: Repetition) -> Table:
    flipping_first = sorted(repetition.moved, key=lambda question: not question.flips)
    rows = [
        [
            question.question_id,
            "flips" if question.flips else "moves",
            ", ".join("–" if rank is None else str(rank) for rank in question.first_gold),
        ]
        for question in flipping_first[:SHOWN]
    ]
    return Table(("question", "at 10", "rank of the first gold"), rows)
