"""What the protocol calls a result: the last section of its report, and the first lines of earlier ones."""

from __future__ import annotations

from collections.abc import Callable

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.escaping.markdown import inline
from recallbench.reports import summary
from recallbench.reports.table import Table
from recallbench.results.metrics import Metrics

STANDING = "Under the protocol"
"""The heading of the last section; earlier reports had the labels at their beginning."""

_READING_GATES = (
    "What is required stands in the protocol's words, and so speaks of its own corpora and of pgmnemo. Elsewhere a",
    "gate asks what corresponds: that the file is the one that the corpus' name stands for, and that the store stated",
    "one version before and after the run, the one asked for. RecallBench sets the hash seed itself.",
)
"""Without a figure: reports of earlier releases are held to their figures, section by section."""


def last_section(metrics: Metrics) -> list[str]:
    """Return the last section: what the protocol calls the result, and why."""
    verdict, _, measured = standing(metrics)[:3]
    parts = [deviations(metrics, short_names), gates(metrics)]
    return [
        f"## {STANDING}",
        "",
        verdict,
        "",
        measured,
        *(line for part in parts for line in ("", f"#{part[0]}", *part[1:])),
    ]


def standing(metrics: Metrics) -> list[str]:
    """Return what the result may be called, and what it was measured under."""
    label = "CANONICAL" if metrics.verdict.canonical else "not CANONICAL"
    return [
        f"**Verdict when written: {inline(metrics.verdict.text)}**, {label}. `recallbench audit` decides it again.",
        "",
        inline(f"Measured under {metrics.protocol.cited_as}, by RecallBench {metrics.recallbench_version}."),
        *(line for told in summary.about_corpus(metrics) for line in ("", inline(told))),
    ]


def deviations(metrics: Metrics, named: Callable[[str], str]) -> list[str]:
    """Return what departs from the protocol, and what is registered of the corpus and not so."""
    lines = [f"- **{inline(deviation.kind)}**: {inline(named(deviation.detail))}" for deviation in metrics.deviations]
    lines = lines or ["None."]
    if any(deviation.kind == "corpus" for deviation in metrics.deviations):
        lines += ["", "A corpus is *registered* where the protocol itself names it and its file."]
    failing = [check for check in metrics.corpus.checks if not check.holds]
    if failing:
        lines += ["", "The corpus file does not hold what is registered of it:", ""]
        rows = [(check.name, check.expected, check.found) for check in failing]
        lines += Table(("what", "registered", "found"), rows).markdown()
    return ["## Deviations from the protocol", "", *lines]


def gates(metrics: Metrics) -> list[str]:
    """Return the protocol's gates, as the run decided them."""
    rows = [(gate.name, gate.status, gate.required, gate.observed) for gate in metrics.gates]
    table = Table(("gate", "status", "required", "observed"), rows).markdown()
    return ["## Gates", "", *table, "", *_READING_GATES]
