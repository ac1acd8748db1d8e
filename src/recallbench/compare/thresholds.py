"""Thresholds on results: floors, drops from a baseline, abstention and latency; overall, per kind and tenant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType

import numpy as np

from recallbench import __version__
from recallbench.audit.audit import audit
from recallbench.compare import thresholds_abstention, thresholds_latency
from recallbench.compare.folders import result_side
from recallbench.compare.frame import unlike
from recallbench.compare.gate_command import gate_command
from recallbench.compare.pairs import measured_parts, pair
from recallbench.compare.pipelines import refuse_other_pipeline
from recallbench.compare.rules import Rule, decide, is_out_of_reach, keeps_floor
from recallbench.compare.side import Side
from recallbench.compare.thresholds_at_load import at_load
from recallbench.compare.thresholds_file import EVERY, PartThresholds, ResultThresholds, ThresholdsFile
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.escaping.terminal import visible
from recallbench.progress import Progress
from recallbench.reports.canary.drawn import canary_lines
from recallbench.reports.thresholds import (
    FORBIDDEN,
    REACHES,
    TOO_SHORT,
    UNTOLD,
    GateThreshold,
    Gating,
    MissingPart,
    Outcome,
    ResultPart,
    counts,
    state_of,
)
from recallbench.results.dated import latest_result
from recallbench.results.load.reading import read_latency
from recallbench.results.metrics import OVERALL
from recallbench.results.result import Result, open_unchanged
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.scoring.estimate import Estimate, estimates
from recallbench.scoring.intervals import is_too_short
from recallbench.scoring.judgement import Bools
from recallbench.scoring.measures.registry import parse


@dataclass(frozen=True, slots=True, eq=False)
class GatedResult:
    """A checked result with its thresholds: its files are as in its manifest, and its rankings give its figures."""

    name: str
    thresholds: ResultThresholds
    result: Result
    side: Side
    baseline: Result | None

    @property
    def folder(self) -> Path:
        return self.result.folder

    def parts(self) -> Iterator[tuple[str, Bools, PartThresholds]]:
        """Yield the thresholds of all questions, then of kinds, abilities and tenants, each with its questions."""
        rankings = self.side.rankings
        yield OVERALL, np.ones(len(rankings.questions), dtype=np.bool_), self.thresholds
        for what, values, demanded in (
            ("kind", rankings.kinds, self.thresholds.kinds),
            ("ability", self.side.abilities, self.thresholds.abilities),
            ("tenant", rankings.tenants, self.thresholds.tenants),
        ):
            labels = np.array(values)
            for name, demands in demanded.items():
                # `*` stands for the kinds with gold: abstention has none.
                present = dict.fromkeys(value for value, gold in zip(values, rankings.gold, strict=True) if gold)
                if what == "ability":
                    present.pop("", None)  # kinds that the paper names no ability for
                for part in present if name == EVERY else [name]:
                    yield visible(f"{what} {part}"), labels == part, demands


def gate(
    file: ThresholdsFile,
    config: Path,
    folders: Mapping[str, Path],
    environ: Mapping[str, str],
    progress: Progress | None = None,
    *,
    today: date,
    studies: Mapping[str, Path] = MappingProxyType({}),
) -> Gating:
    """Return every threshold with the measured value; `config` is where the file was read, `folders` overrides its own.

    `studies` are the folders of latency studies by result, in place of the file's. `today` decides whether a canary
    whose questions were asked is stale, which is told and fails nothing.

    Missing results, and thresholds that no ranking could keep, are reported with the others. Raises Blocked
    where no result is there, and InputError for a damaged folder.
    """
    base = config.parent
    opened: list[GatedResult] = []
    missing: dict[str, Blocked] = {}
    for name, thresholds in file.result.items():
        try:
            opened.append(open_gated(name, thresholds, config, folders.get(name)))
        except Blocked as error:
            missing[name] = error
    if not opened:
        raise next(iter(missing.values()))
    measured = [_measured(gated) for gated in opened]
    decided = [
        _ruled(part, strict=gated.thresholds.strict)
        for gated, values in zip(opened, measured, strict=True)
        for part in [
            *_decided(gated, values, base, environ, progress),
            *_at_load(gated, base, studies.get(gated.name)),
        ]
    ]
    return Gating(
        schema_version="1",
        recallbench_version=__version__,
        passed=not missing and not any(part.fails for part in decided),
        counts=counts(decided),
        results=[_result_part(gated, today) for gated in opened],
        missing=[
            MissingPart(result=name, problem=error.problem, found=error.found, remedy=error.remedy)
            for name, error in missing.items()
        ],
        thresholds=decided,
    )


def open_gated(
    name: str, thresholds: ResultThresholds, config: Path, other_folder: Path | None, *, baseline: bool = True
) -> GatedResult:
    """Return the checked result and, with `baseline`, its baseline; raises InputError where either is damaged.

    Paths of the file `config` count from its folder.
    """
    base = config.parent
    if other_folder is not None:
        folder = other_folder if other_folder.exists() else latest_result(str(other_folder), Path())
    else:
        folder = latest_result(thresholds.folder, base)
    result = open_unchanged(folder)
    if thresholds.pipeline is not None:
        refuse_other_pipeline(result.metrics, f"{name}: {folder}", Pipeline.read(base / thresholds.pipeline))
    side = result_side(result)
    if thresholds.abilities and not any(side.abilities):
        raise InputError(
            f"{name}: {folder} has no abilities",
            expected="a result over LongMemEval",
            found=result.metrics.corpus.name,
            remedy=f"take [result.{name}.abilities] out, or name kinds",
        )
    compared = None
    if baseline and thresholds.baseline is not None and thresholds.compared:
        place = base / thresholds.baseline
        if not place.exists():
            raise InputError(
                f"{name}: the baseline {thresholds.baseline} is not there",
                expected="a result folder",
                found="no such folder",
                remedy=f"store this result as the baseline: {gate_command(str(config), '--update')}",
            )
        compared = open_unchanged(place)
        where = f" in [result.{name}] of {config}"
        unlike(compared.metrics, result.metrics, (str(place), str(folder)), thresholds.allow, where)
    return GatedResult(name, thresholds, result, side, compared)


_Values = dict[str, dict[str, Estimate]]


def _measured(gated: GatedResult) -> _Values:
    """Return estimates by part and measure; raises InputError for a part without questions."""
    rankings, depth = gated.side.rankings, gated.result.metrics.retrieval.depth
    names = dict.fromkeys(m for part in gated.thresholds.demands for m in (*part.at_least, *part.drops))
    measures = [parse(text) for text in names]
    deeper = next((measure for measure in measures if measure.k > depth), None)
    if deeper is not None:
        raise UsageError(
            f"{gated.name}: {deeper} can't be taken from {gated.folder}",
            expected=f"a depth of {depth} or less",
            found=str(deeper),
            remedy="name a measure within the depth of the result",
        )
    masks = {name: mask for name, mask, _ in gated.parts()}
    by_part = estimates(measures, rankings.calls, rankings.clusters, masks)
    for name, mask in masks.items():
        if not (mask & rankings.answerable).any():
            raise _empty(gated, name)
    # Keyed by the measure's text in the file, which may have blanks around it.
    values = {name: dict(zip(names, row, strict=True)) for name, row in by_part.items()}
    for name, _, demands in gated.parts():
        for measure in (*demands.at_least, *demands.drops):
            if values[name][measure].value is None:
                raise InputError(
                    f"{gated.name}, {name}: no question counts for {measure} in {gated.folder}",
                    expected="questions that have grades",
                    found="none",
                    remedy=f"name another measure, such as {measure.partition('(')[0]}",
                )
    return values


def _empty(gated: GatedResult, part: str) -> InputError:
    what, rankings = part.partition(" ")[0], gated.side.rankings
    labels = {"kind": rankings.kinds, "ability": gated.side.abilities, "tenant": rankings.tenants}.get(what, ())
    shown = list(dict.fromkeys(name for name, gold in zip(labels, rankings.gold, strict=bool(labels)) if gold))
    return InputError(
        f"{gated.name}: {part} has no question with gold in {gated.folder}",
        expected=f"one of {', '.join(shown[:12])}{' …' if len(shown) > 12 else ''}" if shown else "questions with gold",
        found=part,
        remedy="name one of these" if shown else "measure with a set that has gold",
    )


def unreachable(gating: Gating) -> UsageError | None:
    """Return the error for the thresholds that not even an oracle keeps; None where there are none."""
    beyond = [threshold for threshold in gating.thresholds if threshold.outcome == "out of reach"]
    if not beyond:
        return None
    return UsageError(
        f"no ranking could keep {'this threshold' if len(beyond) == 1 else 'these thresholds'}",
        expected="; ".join(
            f"{threshold.result}, {threshold.part}: {threshold.measure} of at most {threshold.ceiling or 0.0:.4f},"
            " the ceiling of an oracle"
            for threshold in beyond
        ),
        found="; ".join(f"{threshold.measure} >= {threshold.required:g}" for threshold in beyond),
        remedy="lower it, or take a measure that reaches 1 with little gold: recall_frac@k or precision@k(retrieved)",
    )


def _decided(
    gated: GatedResult, values: _Values, base: Path, environ: Mapping[str, str], progress: Progress | None
) -> Iterator[GateThreshold]:
    if gated.thresholds.audit:
        yield _audited(gated, base, environ, progress)
    for part, mask, demands in gated.parts():
        for name, floor in demands.at_least.items():
            yield _floor(gated, part, values[part][name], floor)
        for name, drop in demands.drops.items():
            yield _dropped(gated, part, mask, values[part][name], drop)
    if gated.thresholds.abstention.stated:
        yield from thresholds_abstention.abstention_thresholds(gated.name, gated.result, gated.thresholds.abstention)
    for state, limit in gated.thresholds.p95_ms.items():
        yield thresholds_latency.absolute(gated.name, gated.folder, state, limit, rule=gated.thresholds.percentiles)
    for state, limit in gated.thresholds.p95_ratio.items():
        against = base / str(gated.thresholds.baseline)
        yield thresholds_latency.relative(
            gated.name,
            gated.folder,
            against,
            state,
            limit,
            rule=gated.thresholds.percentiles,
        )


def _at_load(gated: GatedResult, base: Path, folder: Path | None) -> Iterator[GateThreshold]:
    limit, named = gated.thresholds.p95_at_load, gated.thresholds.latency
    if limit is None:
        return
    if folder is None and named is None:
        raise InputError(
            f"{gated.name}: p95_at_load is told by a latency study, and none is named",
            expected=f'latency = "DIR" below [result.{gated.name}], or --latency DIR',
            found="neither",
            remedy="make one with `recallbench latency`, of the same store, corpus and encoder",
        )
    study = read_latency(folder if folder is not None else base / str(named))
    yield at_load(gated.name, gated.result, study, limit)


def _ruled(threshold: GateThreshold, *, strict: bool) -> GateThreshold:
    """Return a threshold with whether it fails the gate."""
    told = state_of(threshold) != UNTOLD
    # Nothing else holds a store to a rate: a p95 at load that can't be told is no pass.
    fails = threshold.outcome != "holds" if told or strict else threshold.what == "p95_at_load"
    note = threshold.note if told or not strict else f"{threshold.note}; {FORBIDDEN}"
    return threshold.model_copy(update={"fails": fails, "note": note})


def _floor(gated: GatedResult, part: str, estimate: Estimate, floor: float) -> GateThreshold:
    assert estimate.value is not None
    short = not keeps_floor(estimate.value, floor)
    beyond = is_out_of_reach(floor, estimate.ceiling or 0.0)
    within = short and not beyond and estimate.high is not None and estimate.high >= floor
    notes = ["no ranking could keep it"] * beyond + [REACHES] * within
    notes += [TOO_SHORT] * is_too_short(estimate.value, estimate.design_effect)
    return _part(
        gated, part, "at_least", str(estimate.measure),
        required=floor, observed=estimate.value, low=estimate.low, high=estimate.high, ceiling=estimate.ceiling,
        n=estimate.n,
        outcome="out of reach" if beyond else "falls short" if short else "holds",
        by=floor - estimate.value if short else None, note="; ".join(notes),
    )  # fmt: skip


def _dropped(gated: GatedResult, part: str, mask: Bools, estimate: Estimate, drop: float) -> GateThreshold:
    assert gated.baseline is not None
    pairs = pair(gated.baseline.rankings, gated.side.rankings, [estimate.measure], keep=mask)
    (measured,) = measured_parts([str(estimate.measure)], pairs)
    ruled = decide(Rule(estimate.measure, "drops", drop), measured)
    short = ruled.outcome == "fails"
    outcome: Outcome = "falls short" if short else "inconclusive" if ruled.outcome == "inconclusive" else "holds"
    return _part(
        gated, part, "drops", str(estimate.measure),
        required=drop, observed=measured.difference, low=measured.low, high=measured.high, ceiling=estimate.ceiling,
        outcome=outcome, n=measured.n, by=max(0.0, -measured.difference - drop) if short else None, note=ruled.reason,
    )  # fmt: skip


def _audited(gated: GatedResult, base: Path, environ: Mapping[str, str], progress: Progress | None) -> GateThreshold:
    files = [base / gated.thresholds.corpus_file] if gated.thresholds.corpus_file else []
    done = audit(gated.folder, corpus_files=files, environ=environ, progress=progress)
    failed = [
        check for check in done.checks if check.status == "fail" or (check.status == "cannot-tell" and check.needed)
    ]
    failures = [f"{check.code} {check.status}: {check.observed}" for check in failed]
    return _part(
        gated, OVERALL, "audit", "audit: no check fails",
        required=None, observed=None, low=None, high=None, ceiling=None, n=gated.result.metrics.retrieval.asked,
        outcome="falls short" if failed else "holds", by=None,
        note="; ".join(failures) or f"{len(done.checks)} checks; {done.verdict.text}",
    )  # fmt: skip


def _part(gated: GatedResult, part: str, what: str, measure: str, **rest: object) -> GateThreshold:
    return GateThreshold.model_validate({"result": gated.name, "part": part, "what": what, "measure": measure, **rest})


def _result_part(gated: GatedResult, today: date) -> ResultPart:
    part, against = gated.side.part, gated.baseline
    return ResultPart(
        result=gated.name,
        folder=str(gated.folder),
        content_sha256=part.content_sha256,
        system=", ".join((part.store, part.version, part.embedder)),
        baseline=str(against.folder) if against else None,
        baseline_sha256=against.content_sha256 if against else None,
        failed=len(gated.result.metrics.retrieval.failed),
        canary=canary_lines(gated.result.metrics.canary, today),
        shares=part.shares,
    )
