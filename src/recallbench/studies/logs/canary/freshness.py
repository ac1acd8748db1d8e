"""Whether a canary still asks what production asks: its age, the mix of the log, and the documents of its gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

import numpy as np

from recallbench.corpora.labelled_sets.canary_record import CanaryRecord
from recallbench.corpora.labelled_sets.labelled_files import read_documents
from recallbench.errors import UsageError
from recallbench.reports.canary.check import CanaryCheck, StalenessPart, WeightedPart
from recallbench.results.result import open_unchanged
from recallbench.scoring.measures.registry import parse
from recallbench.scoring.planning.mix_drift import mix_drift
from recallbench.scoring.strata import Sampled, weighted_mean
from recallbench.studies.logs.canary.canary import open_canary, source_of, unchanged_questions
from recallbench.studies.logs.canary.candidates import read_result, read_set
from recallbench.studies.logs.canary.mix import BOTH, Mix, Stratum, log_mix, stratum_name
from recallbench.studies.logs.canary.power import MEASURE

DRIFT = 0.1
"""A mix that has moved by this share is another one, where chance does not explain it."""
UNDATED = "only a dated log tells what came since the draw, and this one has no dates"
NAMED = 5
ENDLESS = 1e9
"""Recalls that stand for all those of production."""
MEASURES = (MEASURE, "mrr@50")


def check_canary(
    folder: Path,
    today: date,
    logs: Sequence[Path] = (),
    result: Path | None = None,
    drift: float = DRIFT,
    *,
    source: Path | None = None,
    skip_bad: bool = False,
) -> CanaryCheck:
    """Return whether it is fresh, and the figures of a result over it, weighted to production's mix.

    `source` is the set that it is from, where that has moved.
    """
    record, _ = open_canary(folder)
    mix = log_mix(logs, record.drawn, by=record.by, skip_bad=skip_bad) if logs else None
    reasons = [
        _age(record, today, mix),
        *([_drift(record, mix, drift)] if mix else [_no_log(record)]),
        *_documents(folder, record, source or source_of(folder, record)),
    ]
    return CanaryCheck(
        schema_version="1",
        canary=str(folder),
        drawn=record.drawn,
        today=today.isoformat(),
        stale=any(reason.stale for reason in reasons),
        reasons=reasons,
        result=None if result is None else str(result),
        weighted=[] if result is None else list(_weighted(folder, record, result)),
    )


def _age(record: CanaryRecord, today: date, mix: Mix | None) -> StalenessPart:
    after, days = record.stale_after, (today - date.fromisoformat(record.drawn)).days
    age = f"drawn on {record.drawn}, {days} {'day' if days == 1 else 'days'} ago"
    if after is None:
        return StalenessPart(what="age", stale=None, reason=f"{age}; no --stale-after was set")
    if after.on is not None:
        stale = record.staleness(today)
        return StalenessPart(what="age", stale=bool(stale), reason=stale or f"{age}, stale on {after.on}")
    if mix is None or after.recalls is None:
        reason = f"{age}; stale after {after.recalls} recalls, which --log LOG counts"
        return StalenessPart(what="age", stale=None, reason=reason)
    if mix.dated:
        since = sum(mix.since.values())
        reason = f"{age}; {since} recalls since (by their dates{_undated(mix)}), stale after {after.recalls}"
        return StalenessPart(what="age", stale=since >= after.recalls, reason=reason)
    if not record.log:
        reason = f"{age}; only a dated log tells recalls since: drawn without a log, nothing tells how many there were"
        return StalenessPart(what="age", stale=None, reason=reason)
    more = max(0, sum(mix.counts.values()) - sum(count.recalls for count in record.mix))
    reason = f"{age}; {more} recalls more than then, stale after {after.recalls}; {UNDATED}, and a log that was rotated"
    # As many more than then have been logged since, whatever became of the old ones.
    return StalenessPart(what="age", stale=True if more >= after.recalls else None, reason=f"{reason} holds fewer")


def _no_log(record: CanaryRecord) -> StalenessPart:
    why = "--log LOG compares the mix" if record.log else "drawn without a log, so there is no mix of production"
    return StalenessPart(what="mix", stale=None, reason=why)


def _drift(record: CanaryRecord, mix: Mix, limit: float) -> StalenessPart:
    if not record.log:
        return _no_log(record)
    before: dict[Stratum, int] = {(count.kind, count.tenant): count.recalls for count in record.mix}
    dated = f"recalls since the draw{_undated(mix)}"
    now, which = (mix.since, dated) if mix.dated else (mix.counts, "recalls of the whole log")
    if not now:
        return StalenessPart(what="mix", stale=None, reason=f"the log has no recall after {record.drawn}")
    moved = mix_drift(before, now)
    facts = (
        f"{moved.distance:.1%} of the mix moved ({sum(now.values())} {which} against {sum(before.values())}; "
        f"chance alone stays below {moved.chance:.1%} in 95 of 100 cases, p {moved.p:.3g})"
    )
    if moved.distance >= limit and moved.p <= 0.05:
        return StalenessPart(what="mix", stale=True, reason=f"{facts}: {_largest(before, now)}")
    if not mix.dated:
        reason = f"{facts}: {UNDATED}, and old recalls that are in it hide what moved"
        return StalenessPart(what="mix", stale=None, reason=reason)
    if moved.chance > limit:
        return StalenessPart(what="mix", stale=None, reason=f"{facts}: too few recalls to see a drift of {limit:.0%}")
    return StalenessPart(what="mix", stale=False, reason=f"{facts}, below {limit:.0%} or within chance")


def _undated(mix: Mix) -> str:
    """Return how many recalls have no date among others that have one."""
    without = sum(mix.counts.values()) - mix.dated
    return f"; {without} without a date are left out" if without else ""


def _largest(before: Mapping[Stratum, int], now: Mapping[Stratum, int]) -> str:
    totals = sum(before.values()), sum(now.values())
    moves = {name: now.get(name, 0) / totals[1] - before.get(name, 0) / totals[0] for name in sorted({*before, *now})}
    largest = sorted((name for name in moves if round(moves[name], 3)), key=lambda name: -round(abs(moves[name]), 9))
    return ", ".join(f"{stratum_name(name)} {moves[name]:+.1%}" for name in largest[:NAMED])


def _documents(folder: Path, record: CanaryRecord, source: Path | None) -> Iterator[StalenessPart]:
    """Yield whether the set still has the questions and the documents of their gold."""
    if source is None or not source.is_dir():
        where = "beside it" if source is None else f"at {source}"
        reason = f"the set {record.source.name} that it is from is not {where}: --source DIR names it"
        yield StalenessPart(what="documents", stale=None, reason=reason)
        return
    drawn, now = read_set(folder, record.source.split), read_set(source, record.source.split)
    there = {(document.scope, document.id) for document in read_documents(now.files, source.name)}
    gone = [
        f"{id} of {candidate.id}"
        for candidate in drawn.candidates
        for id in drawn.gold[candidate.id]
        if (candidate.scope, id) not in there
    ]
    if gone:
        more = f" and {len(gone) - NAMED} more" if len(gone) > NAMED else ""
        count = "1 document of its gold is" if len(gone) == 1 else f"{len(gone)} documents of its gold are"
        named = f"{count} no longer in {source}: {', '.join(gone[:NAMED])}{more}"
        yield StalenessPart(what="documents", stale=True, reason=named)
    else:
        yield StalenessPart(what="documents", stale=False, reason=f"all documents of its gold are in {source}")
    same = unchanged_questions(folder, source, record)
    changed = [candidate.id for candidate in drawn.candidates if candidate.id not in same]
    if changed:
        named = ", ".join(changed[:NAMED]) + (f" and {len(changed) - NAMED} more" if len(changed) > NAMED else "")
        count = (
            "1 of its questions reads or is" if len(changed) == 1 else f"{len(changed)} of its questions read or are"
        )
        reason = f"{count} answered otherwise in {source} now, or gone from it: {named}"
        yield StalenessPart(what="questions", stale=True, reason=reason)


def _weighted(folder: Path, record: CanaryRecord, result: Path) -> Iterator[WeightedPart]:
    """Yield the measures of a result over the canary, each kind and tenant weighing as much as in production."""
    questions = read_set(folder, record.source.split)
    depth = open_unchanged(result).metrics.retrieval.depth
    weights = {(s.kind, s.tenant, s.hard): s.weight or 0.0 for s in record.strata}
    drawn: dict[tuple[Stratum, float], list[str]] = {}
    for candidate in questions.candidates:
        kind, tenant = (getattr(candidate, name) if name in record.by else "" for name in BOTH)
        weight = weights[kind, tenant, candidate.id in record.hard.questions]
        # Hard questions that weigh as much as the others are no stratum of their own: their number is left to chance.
        drawn.setdefault(((kind, tenant), weight), []).append(candidate.id)
    # Of production the questions are a vanishing part; of the set itself they may be all.
    scale = ENDLESS if record.log else record.source.questions / record.questions
    for name in MEASURES:
        if parse(name).k > depth:
            continue
        values = read_result(result, questions, parse(name)).values
        strata = [
            Sampled(
                weight * len(ids) * scale,
                np.array([values.get(id, 0.0) for id in ids]),
                np.array([float(id in values) for id in ids]),
                np.ones(len(ids)),
            )
            for (_, weight), ids in drawn.items()
        ]
        value, bounds = weighted_mean(strata)
        if value is None:
            raise UsageError(f"{result} has no question with gold", expected="a result over the canary", found="none")
        yield WeightedPart(
            measure=name,
            plain=float(np.mean(list(values.values()))),
            value=value,
            low=bounds.low,
            high=bounds.high,
            method=bounds.method,
        )
