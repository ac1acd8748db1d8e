"""A row of a board: what was measured, what was found, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recallbench.compare.entrant import Entrant
from recallbench.compare.standings import stated_version
from recallbench.errors import InputError
from recallbench.reports.cells import system_name
from recallbench.reports.own_encoder import encoder_words
from recallbench.results import manifest
from recallbench.results.costs.ledgers import ledgers
from recallbench.results.dated import start_of
from recallbench.results.environment import named_servers
from recallbench.results.latency import HARDWARE, build_seconds, query_times
from recallbench.results.metrics import OVERALL, EstimatePart, Metrics
from recallbench.results.rankings import Rankings
from recallbench.results.result import Result
from recallbench.scoring.costs import Prices
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.quantiles import quantile
from recallbench.site.local_words import command_line, publishable
from recallbench.site.places import Place


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One result, or the rankings of others judged again, with its figures."""

    place: Place
    rankings: Rankings
    """Without the ids that came back, so that hundreds fit into memory."""
    estimates: tuple[EstimatePart | None, ...]
    """By measure of the board; None where the rankings are not deep enough."""
    metrics: Metrics | None = None
    """Without slices; None of rankings that others published."""
    content_sha256: str = ""
    state: str = ""
    """A hash over every byte of its folder, as it was audited."""
    started: datetime | None = None
    store: str = "–"
    version: str = "–"
    embedder: str = "–"
    pipeline: str = "–"
    command: str = ""
    verdict: str = "re-scored"
    p95_ms: float | None = None
    """Of single warm queries, end to end."""
    build_s: float | None = None
    """What filling its store took, in seconds."""
    hardware: tuple[str, ...] = ()
    """Empty where the folder does not say what its times were taken on."""
    usd_per_1000: float | None = None
    """None where some of what was used has no price."""
    unpriced: str = ""
    """What has no price."""
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The end of its path that tells it from all others."""
        return self.place.name

    @property
    def day(self) -> str:
        """The day on which its run began; a dash where it is not known."""
        return "–" if self.started is None else self.started.date().isoformat()


def result_entry(
    place: Place,
    result: Result,
    base: Rankings,
    measures: Sequence[Measure],
    prices: Prices,
    verdict: str,
    remarks: Sequence[str],
    state: str,
) -> Entry:
    """Return the row of an audited result, which was asked what `base` was."""
    metrics = result.metrics
    p95, hardware, remark = _times(result)
    usd, unpriced = _price(result, prices)
    short = metrics.retrieval.short_questions
    told = [*remarks, remark, f"{short} questions answered with fewer hits than asked for" if short else ""]
    failed = len(metrics.retrieval.failed)
    told.append(f"{failed} questions failed, counted as the worst answers" if failed else "")
    pipeline = metrics.pipeline
    return Entry(
        place=place,
        rankings=_light(result.rankings, base),
        estimates=_estimates(result.rankings, measures),
        metrics=_without_slices(metrics),
        content_sha256=manifest.read(result.folder / manifest.NAME)[1],  # which the audit held the files to
        state=state,
        started=start_of(result.folder),
        store=publishable(system_name(metrics.store.name, metrics.store.variant)),
        version=publishable(stated_version(result)) or "–",
        embedder=publishable(encoder_words(metrics)),
        pipeline="search alone" if pipeline is None else publishable(pipeline.words),
        command=command_line(result.environment),
        verdict=verdict,
        p95_ms=p95,
        build_s=build_seconds(result.environment, metrics),
        hardware=hardware,
        usd_per_1000=usd,
        unpriced=unpriced,
        remarks=tuple(filter(None, told)),
    )


def rescored_entry(place: Place, entrant: Entrant, base: Rankings, measures: Sequence[Measure]) -> Entry:
    """Return the row of rankings that others published."""
    estimates = _estimates(entrant.rankings, measures)
    return Entry(
        place, _light(entrant.rankings, base), estimates, verdict="re-scored", remarks=(publishable(entrant.note),)
    )


def _light(rankings: Rankings, base: Rankings) -> Rankings:
    """Return rankings without what a board does not read; what all in a group share is held once."""
    return replace(
        rankings,
        questions=base.questions,
        clusters=base.clusters,
        gold=base.gold,
        kinds=base.kinds,
        gold_ids=base.gold_ids,
        hit_ids=(),
        tenants=(),
        abstention=(),
        first_scores=(),
        names={},
    )


def _estimates(rankings: Rankings, measures: Sequence[Measure]) -> tuple[EstimatePart | None, ...]:
    depth = rankings.calls[-1].depth
    reached = [measure for measure in measures if measure.k <= depth]
    by_measure = dict(zip(reached, rankings.estimates(reached), strict=True))
    return tuple(by_measure.get(measure) for measure in measures)


def _without_slices(metrics: Metrics) -> Metrics:
    """Return the metrics over all questions alone."""
    return metrics.model_copy(
        update={
            "estimates": {OVERALL: metrics.estimates[OVERALL]},
            "control_bm25": {OVERALL: metrics.control_bm25[OVERALL]},
            "tenants": None,
            "abilities": None,
            "worst": None,
        }
    )


def _times(result: Result) -> tuple[float | None, tuple[str, ...], str]:
    """Return the p95 of single warm queries, what it was taken on, and why there is none."""
    try:
        times = query_times(result.folder, "warm")
    except InputError as error:
        return None, (), publishable(error.brief)
    machine, options = (result.environment.get(name) for name in ("machine", "options"))
    stated = [str(machine.get(part) or "") for part in HARDWARE] if isinstance(machine, dict) else []
    server = " and ".join(named_servers(options)) or "embedded"
    known = tuple(publishable(part) for part in (*stated, server)) if stated and all(stated) else ()
    return quantile(times, 0.95), known, ""


def _price(result: Result, prices: Prices) -> tuple[float | None, str]:
    """Return what 1,000 questions cost, or what of it has no price."""
    try:
        used = ledgers(result)
    except InputError as error:
        return None, publishable(error.problem)
    money = used.sum(prices, "query", "generate").per(used.questions / 1000)
    if money.unpriced or money.amount is None:
        return None, publishable(", ".join(money.unpriced) or "nothing was counted")
    return money.amount, ""
