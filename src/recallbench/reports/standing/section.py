"""What the protocol calls a result: the last section of its report, and the first lines of earlier ones."""

from __future__ import annotations

from collections.abc import Callable

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.escaping.markdown import inline
from recallbench.protocol.frozen import load
from recallbench.reports import summary
from recallbench.reports.conclusions.labels import may_be_labelled
from recallbench.reports.table import Table
from recallbench.results.metrics import GatePart, Metrics

STANDING = "Under the protocol"
"""The heading of the last section; earlier reports had the labels at their beginning."""
_COLUMNS = ("gate", "status", "required", "observed")
_OF_LOCOMO = "LoCoMo: "
"""The beginning of what the protocol requires of one corpus alone."""
_OF_OTHER_CORPORA = {
    "oracle coverage": "each question with evidence has a segment that answers it",
    "corpus granularity": "segments as large as registered, where that is registered of the corpus",
}
_SPOKEN_OTHERWISE = (
    "The protocol's own words, in `metrics.json`, are of its own corpora and of pgmnemo: where this is another, what"
    " corresponds stands here."
)
_SEED = "RecallBench sets the hash seed itself."


def last_section(metrics: Metrics) -> list[str]:
    """Return the last section: what the protocol calls the result, and why."""
    parts = [deviations(metrics, short_names), own_gates(metrics)]
    return [
        f"## {STANDING}",
        *(line for told in standing_sentences(metrics) for line in ("", inline(told))),
        *(line for part in parts for line in ("", f"#{part[0]}", *part[1:])),
    ]


def standing_sentences(metrics: Metrics) -> list[str]:
    """Return what the result is called and by which rules; of what the protocol does not speak of, why it is told."""
    protocol, measured_by = metrics.protocol.cited_as, f"by RecallBench {metrics.recallbench_version}"
    if may_be_labelled(metrics.corpus.name, metrics.store.name):
        return [f"Measured under {protocol}, {measured_by}.", summary.verdict_sentence(metrics)]
    return [
        f"The rules of {protocol.partition(' (')[0]} were applied where they speak of such data, {measured_by}. "
        "Whoever cites no figure under that protocol needs nothing of what follows.",
        summary.verdict_sentence(metrics),
    ]


def standing(metrics: Metrics) -> list[str]:
    """Return what the result may be called, and what it was measured under, as reports of release 0.1 begin."""
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
    """Return the protocol's gates, as the run decided them, all in the protocol's words."""
    rows = [(gate.name, gate.status, gate.required, gate.observed) for gate in metrics.gates]
    return ["## Gates", "", *Table(_COLUMNS, rows).markdown()]


def own_gates(metrics: Metrics) -> list[str]:
    """Return the same; where the protocol speaks of another corpus or store, what corresponds for this one."""
    rows = [(gate.name, gate.status, *_in_plain_words(gate, metrics)) for gate in metrics.gates]
    spoken = any(required != gate.required for gate, (*_, required, _) in zip(metrics.gates, rows, strict=True))
    reading = ["", _SPOKEN_OTHERWISE] if spoken else []
    return ["## Gates", "", *Table(_COLUMNS, rows).markdown(), *reading, "", _SEED]


def _in_plain_words(gate: GatePart, metrics: Metrics) -> tuple[str, str]:
    """Return what a gate requires and what was observed, of a corpus or store that the protocol does not name."""
    own_file = metrics.corpus.name not in load().corpora
    required, observed = gate.required, gate.observed
    if required.startswith(_OF_LOCOMO) and metrics.corpus.name != "locomo":
        required = _OF_OTHER_CORPORA.get(gate.name, required)
    elif gate.name == "dataset integrity" and own_file:
        required = "the corpus file's sha256 is the one that the corpus' name stands for"
    elif gate.name == "version pin" and metrics.store.name != load().canonical_store:
        required = "the store states one version before and after the run, and the one that was asked for, if any was"
        observed = observed.replace(", pgmnemo_version is null", "").replace(
            "--version not given", "none was asked for"
        )
    return required, observed
