"""The last line of a measurement: what was found, the first reason to doubt it, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.corpora.labelled_sets.set_name import is_set_name, plain_names
from recallbench.corpora.registry import CORPORA
from recallbench.escaping.shell import command
from recallbench.escaping.terminal import shortened
from recallbench.reports.cells import figure, share, system
from recallbench.reports.conclusions.labels import mattering, of_protocol
from recallbench.reports.printing.conclusion import Conclusion, Tone
from recallbench.reports.result_page import PAGE
from recallbench.reports.summary import leading
from recallbench.results.metrics import EstimatePart, Metrics
from recallbench.results.sets.asked_depth import AskedDepth
from recallbench.scoring.intervals import is_too_short

FEW = 30
"""Questions below which a share is hardly known."""
WIDE = 0.2
"""The width from which on an interval leaves nearly everything open."""
SATURATED = 0.1
"""The share of questions that any order answers, from which on that has to be said."""
LONGEST = 34
"""Characters of a system's name, which with the stages of a pipeline may be long."""
UNTOUCHED = "nothing in the run speaks against it"
"""What is said of a result that nobody has a doubt of."""
MOST = 2
"""Corpora whose figures the line over several has."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A result that was just made, with what else is known of its run."""

    metrics: Metrics
    folder: Path
    busy: bool = False
    """Whether the machine had other load."""
    busy_counts: bool = False
    """Whether that was asked not to be."""
    untimed: int = 0
    """Questions that failed when they were timed."""
    stale: str = ""
    """Why questions or labels are too old, in words; empty where they are not."""
    asked: AskedDepth | None = None
    """The figure at the k that was asked for, which then decides; None for that of the headline."""

    @property
    def name(self) -> str:
        """The corpus, for whoever reads of several."""
        return plain_names(self.metrics.corpus.name)

    @property
    def estimate(self) -> EstimatePart | None:
        """The figure that answers; None where nothing was asked that has anything to find."""
        estimate = leading(self.metrics) if self.asked is None else self.asked.estimate
        return None if estimate is None or estimate.value is None else estimate


def conclude_measured(measured: Measured) -> Conclusion:
    """Return how one measurement ends."""
    metrics = measured.metrics
    doubt, tone = _doubt(measured)
    if of_protocol(metrics.corpus.name, metrics.store.name) and tone == "good":
        then = f"commit it, then {command('audit', measured.folder)}"
    elif _failing_gate(metrics):
        then = command("audit", measured.folder)
    else:
        then = _opened(measured)
    return Conclusion(_found(measured), doubt, then, tone)


def conclude_several(
    results: Sequence[Measured], failed: Sequence[str] = (), ranked: Conclusion | None = None
) -> Conclusion:
    """Return how measurements of several stores or corpora end; those that `failed` are named.

    `ranked` says who of several stores on one corpus is first; nothing does where there are several corpora.
    """
    whole = len(results) + len(failed)
    broken = f"{len(failed)} of {whole} runs failed" if failed else ""
    if not results:
        return Conclusion(f"All {whole} runs failed, each with the reason above", tone="bad")
    if len(results) == 1:
        only = conclude_measured(results[0])
        return Conclusion(only.happened, broken or only.belief, only.next, "bad" if failed else only.tone)
    doubts = [(each, *_doubt(each)) for each in results]
    first = next((doubt for grave in ("bad", "open") for doubt in doubts if doubt[2] == grave), None)
    tone: Tone = "bad" if failed else "good" if first is None else first[2]
    if ranked is None:
        doubt = UNTOUCHED if first is None else f"{first[0].name}: {first[1].partition('; ')[0]}"
        return Conclusion(_over_corpora(results), broken or doubt, _opened(results[0]), tone)
    # Where nobody is told apart, that is what has to be said.
    doubt = ranked.belief if first is None else f"{_system(first[0].metrics)}: {first[1]}"
    tone = ranked.tone if tone == "good" else tone
    then = command("table", *(each.folder for each in results))
    return Conclusion(ranked.happened, broken or doubt, then, tone)


def counted(questions: int) -> str:
    """Return so many questions, in words."""
    return f"{questions} question{'' if questions == 1 else 's'}"


def segment_word(metrics: Metrics) -> str:
    """Return what is found on a corpus: a session or a turn, or a document of somebody's own data."""
    if is_set_name(metrics.corpus.name):
        return "document"
    entry = CORPORA.get(metrics.corpus.name)
    return (entry.unit if entry is not None else "") or "session"


def _opened(measured: Measured) -> str:
    """Return the step to the page of a result, which its run has written."""
    return f"open {shlex.quote(str(measured.folder / PAGE))}"


def _found(measured: Measured) -> str:
    metrics, estimate = measured.metrics, measured.estimate
    if estimate is None:
        return f"{_system(metrics)} was asked nothing that has anything to find"
    found = f"{_system(metrics)} finds a right {segment_word(metrics)} {_among(estimate)}"
    figures = "" if estimate.saturated == 1 else f" ({_figures(measured, estimate)})"
    return f"{found} for {share(estimate.value)} of {counted(estimate.n)}{figures}"


def _system(metrics: Metrics) -> str:
    return shortened(system(metrics), LONGEST)


def _among(estimate: EstimatePart) -> str:
    k = estimate.measure.partition("@")[2]
    return "as the first hit" if k == "1" else f"among the first {k}"


def _figures(measured: Measured, estimate: EstimatePart) -> str:
    metrics = measured.metrics
    bounds = "" if estimate.low is None else f", {figure(estimate.low)} to {figure(estimate.high)}"
    bm25 = metrics.bm25(estimate.measure) if measured.asked is None else measured.asked.bm25
    beside = f"; BM25 {figure(bm25)}" if bm25 is not None and system(metrics) != "bm25" else ""
    return f"{estimate.measure} {figure(estimate.value)}{bounds}{beside}"


def _over_corpora(results: Sequence[Measured]) -> str:
    stores = {_system(each.metrics) for each in results}
    single = stores.pop() if len(stores) == 1 else ""
    found: list[str] = []
    for each in results[:MOST]:
        estimate = leading(each.metrics)
        if estimate is None or estimate.value is None:
            found.append(f"nothing to find on {each.name}")
        else:
            by = "" if single else f" by {_system(each.metrics)}"
            questions = str(estimate.n) if found else counted(estimate.n)
            found.append(f"{share(estimate.value)} of {questions} on {each.name}{by}")
    more = f" and {len(results) - MOST} more" if len(results) > MOST else ""
    return f"{single or 'The stores'} {'finds' if single else 'find'} a right hit for {', '.join(found)}{more}"


def _doubt(measured: Measured) -> tuple[str, Tone]:
    """Return the first reason to doubt a result, and how grave it is; or that there is none."""
    return next(_doubts(measured), (UNTOUCHED, "good"))


def _doubts(measured: Measured) -> Iterator[tuple[str, Tone]]:
    """Yield the reasons to doubt a result, the gravest first."""
    metrics = measured.metrics
    if failed := len(metrics.retrieval.failed):
        count = "1 question that failed counts" if failed == 1 else f"{failed} questions that failed count"
        yield f"{count} as the worst answer", "bad"
    if measured.untimed:
        yield f"{counted(measured.untimed)} failed when timed", "bad"
    if gate := _failing_gate(metrics):
        yield f"the protocol's gate on {gate} fails", "bad"
    if measured.busy and measured.busy_counts:
        yield "the machine was not quiet, as it was asked to be", "bad"
    for detail in mattering(metrics.deviations):
        yield shortened(detail, 60), "open"
    if (estimate := measured.estimate) is not None:
        yield from _doubts_of_figure(metrics, estimate)
    if measured.stale:
        yield measured.stale, "open"
    if measured.busy:
        yield "the machine was busy, so its times tell little", "open"


def _doubts_of_figure(metrics: Metrics, estimate: EstimatePart) -> Iterator[tuple[str, Tone]]:
    value, chance, retrieval = estimate.value or 0.0, estimate.chance, metrics.retrieval
    if estimate.saturated == 1:
        yield f"any order would: so few are there{_of_order(metrics)}", "open"
        return
    if chance is not None and (value if estimate.low is None else estimate.low) <= chance:
        yield "that is no more than chance would find", "open" if value > chance else "bad"
    if retrieval.short_questions:
        yield f"{counted(retrieval.short_questions)} got fewer hits than there were to get", "open"
    if estimate.n < FEW:
        yield f"{counted(estimate.n)} {'is' if estimate.n == 1 else 'are'} too few to rely on", "open"
    elif estimate.low is not None and estimate.high is not None and estimate.high - estimate.low > WIDE:
        yield "the interval is too wide to rely on", "open"
    if (estimate.saturated or 0.0) >= SATURATED:
        yield f"for {share(estimate.saturated)} of them any order would do", "open"
    if is_too_short(estimate.value, estimate.design_effect):
        yield "its interval is too short: few conversations decide", "open"


def _of_order(metrics: Metrics) -> str:
    """Return a figure of the headline that tells of the order, which others no longer do."""
    ordered = next((part for part in metrics.headline if part.estimate.ordered), None)
    if ordered is None or ordered.estimate.value is None:
        return ""
    e = ordered.estimate
    return f"; {ordered.protocol_name} tells more: {figure(e.value)} against {figure(e.chance)} by chance"


def _failing_gate(metrics: Metrics) -> str:
    """Return the first gate of the protocol that does not hold; empty where none is in doubt."""
    return next((gate.name for gate in metrics.gates if gate.status in ("fail", "cannot-tell")), "")


def gate_words(observed: str) -> str:
    """Return what a gate observed, without a field that tells nothing of a store that is not the protocol's."""
    return observed.replace(", pgmnemo_version is null", "")
