"""Thresholds on the p95 at a rate of questions, by a study that `recallbench latency` wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recallbench.compare.thresholds_file import AtLoad
from recallbench.reports.own_encoder import encoder_words
from recallbench.reports.thresholds import GateThreshold, Outcome
from recallbench.results.latency import differing_hardware
from recallbench.results.load.levels import LatencyDocument, LevelPart, MeasuredSystemPart
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.results.result import Result

OWN_SIZE = 1
"""The size of the haystacks that a result was measured with."""


@dataclass(frozen=True, slots=True)
class _Ruling:
    outcome: Outcome
    note: str
    level: LevelPart | None = None


def at_load(name: str, result: Result, study: LatencyDocument, limit: AtLoad) -> GateThreshold:
    """Return the threshold on the upper bound of the p95, where at least that many questions a second arrived.

    It is told by the lowest such rate of an open loop; nothing is told by a study of another system, corpus or machine.
    """
    ruled = _ruling(result, study, limit)
    outcome, note, level = ruled.outcome, ruled.note, ruled.level
    p95 = None if level is None else level.p95
    over = p95 is not None and p95.value is not None and p95.value > limit.ms
    return GateThreshold(
        result=name, part=OVERALL, what="p95_at_load", measure=f"p95 at {limit.rate:g} a second",
        required=limit.ms, observed=None if p95 is None else p95.value, low=None if p95 is None else p95.low,
        high=None if p95 is None else p95.high, ceiling=None, n=0 if level is None else level.n, outcome=outcome,
        by=p95.value - limit.ms if over and p95 is not None and p95.value is not None else None, note=note,
    )  # fmt: skip


def _ruling(result: Result, study: LatencyDocument, limit: AtLoad) -> _Ruling:
    sides = {system.side: "; ".join(_differences(result, study, system)) for system in study.systems}
    side = next((side for side, differing in sides.items() if not differing), None)
    if side is None:
        return _Ruling("cannot tell", f"the study measured something else: {' | '.join(sides.values())}")
    own = [row for row in study.rows if row.side == side and row.size == OWN_SIZE and row.kind == "open"]
    asked = sorted((row for row in own if _rate(row) >= limit.rate), key=_rate)
    if not asked:
        most = max(map(_rate, own), default=0.0)
        reached = f"the highest was {most:.4g}" if own else "no open loop was run over haystacks of their own size"
        return _Ruling("cannot tell", f"no level was asked {limit.rate:g} questions a second: {reached}")
    saturation = next((part for part in study.saturation if part.side == side and part.size == OWN_SIZE), None)
    if saturation is not None and saturation.reached and saturation.rate < limit.rate:
        note = f"it answers {saturation.rate:.4g} a second at most, with {saturation.clients} clients"
        return _Ruling("falls short", note, next((row for row in asked if not row.void), None))
    told = [row for row in asked if not row.void and not row.saturated]
    if not told:
        why = "; ".join(
            f"{row.rate:.4g} a second {f'void: {row.why_void}' if row.void else 'saturated'}" for row in asked
        )
        return _Ruling("cannot tell", f"no level that is asked enough can be used: {why}")
    level = told[0]
    return _decided(level, limit, study)


def _decided(level: LevelPart, limit: AtLoad, study: LatencyDocument) -> _Ruling:
    p95 = level.p95
    lost = [f"{count} {what}" for what, count in (("failed", level.failed), ("skipped", level.skipped)) if count]
    counts = ", ".join((f"{study.arrivals} arrivals", f"{level.clients} clients", f"{level.n} answers", *lost))
    which = f"open loop at {level.rate:.4g} a second ({counts}); {study.measures}; {level.machine.words}"
    if p95.value is None or p95.value > limit.ms:
        return _Ruling("falls short" if p95.value is not None else "cannot tell", which, level)
    if p95.high is None:
        why = "some calls had no answer" if p95.at_least else f"{level.n} answers are too few"
        return _Ruling("cannot tell", f"the p95 has no upper bound: {why}; {which}", level)
    if p95.high > limit.ms:
        return _Ruling("cannot tell", f"its upper bound, {p95.high:.3g} ms, does not keep it; {which}", level)
    return _Ruling("holds", f"by its upper bound; {which}", level)


def _rate(level: LevelPart) -> float:
    return level.rate or 0.0


def _differences(result: Result, study: LatencyDocument, system: MeasuredSystemPart) -> Iterator[str]:
    """Yield in what the study's system, corpus and machine are not those of the result."""
    metrics = result.metrics
    # Another store has another version and other settings, which say no more.
    of_store = (
        [
            ("version", metrics.store.version, system.version),
            *_settings(metrics, system.settings),
        ]
        if metrics.store.name == system.store
        else []
    )
    for what, ours, theirs in (
        ("corpus", metrics.corpus.sha256[:12], study.dataset_sha256[:12]),
        ("store", metrics.store.name, system.store),
        ("encoder", encoder_words(metrics), system.embedder or "no embedder"),
        ("pipeline", metrics.pipeline.words if metrics.pipeline else "none", system.pipeline or "none"),
        ("depth", str(metrics.retrieval.depth), str(study.depth)),
        *of_store,
    ):
        if ours != theirs:
            yield f"{what} {ours} and {theirs}"
    if hardware := differing_hardware(result.environment, study.environment):
        yield hardware


def _settings(metrics: Metrics, theirs: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    ours = metrics.guc_state
    for name in sorted({*ours, *theirs}):
        yield f"setting {name}", str(ours.get(name, "none")), str(theirs.get(name, "none"))
