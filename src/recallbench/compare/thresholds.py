"""Results held to thresholds: floors, drops from a baseline, abstention and latency; overall, per kind and tenant."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recallbench import __version__
from recallbench.audit.audit import audit
from recallbench.compare import thresholds_abstention, thresholds_latency
from recallbench.compare.folders import folder_side
from recallbench.compare.frame import unlike
from recallbench.compare.pairs import by_question
from recallbench.compare.rule import Condition, decide
from recallbench.compare.side import Side
from recallbench.compare.thresholds_file import EVERY, Demands, Held, ThresholdsFile
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.escaping.terminal import visible
from recallbench.progress import Progress
from recallbench.reading import lines
from recallbench.reports.comparison import MeasuredPart, difference_fields
from recallbench.reports.thresholds import REACHES, TOO_SHORT, GateThreshold, Gating, MissingPart, ResultPart
from recallbench.results import manifest
from recallbench.results.dated import latest
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.results.rows import NAME as ROWS
from recallbench.scoring.estimate import Estimate, estimates
from recallbench.scoring.intervals import cluster_codes, is_too_short
from recallbench.scoring.judgement import Bools
from recallbench.scoring.measures.registry import parse

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Sound:
    """A result whose files are those of its manifest, and whose rankings give its figures."""

    name: str
    held: Held
    folder: Path
    side: Side
    metrics: Metrics
    tenants: tuple[str, ...]
    baseline: tuple[Side, Metrics] | None

    def parts(self) -> Iterator[tuple[str, Bools, Demands]]:
        """All questions, then each kind, ability and tenant that something is demanded of, with its questions."""
        yield OVERALL, np.ones(len(self.tenants), dtype=np.bool_), self.held
        for what, values, demanded in (
            ("kind", self.side.kinds, self.held.kinds),
            ("ability", self.side.abilities, self.held.abilities),
            ("tenant", self.tenants, self.held.tenants),
        ):
            there = np.array(values)
            for name, demands in demanded.items():
                # Of every kind those count that have something to find: abstention has nothing.
                found = dict.fromkeys(one for one, gold in zip(values, self.side.gold, strict=True) if gold)
                if what == "ability":
                    found.pop("", None)  # of a kind that the paper does not name
                for one in found if name == EVERY else [name]:
                    yield visible(f"{what} {one}"), there == one, demands


def gate(
    file: ThresholdsFile,
    base: Path,
    given: Mapping[str, Path],
    environ: Mapping[str, str],
    progress: Progress | None = None,
) -> Gating:
    """Every threshold beside what was measured; `given` names other folders than the file does.

    A result that is not there, and a threshold that no ranking could keep, are told beside the others. Raises Blocked
    where no result is there, and InputError for a folder that is not sound.
    """
    sound: list[Sound] = []
    missing: dict[str, Blocked] = {}
    for name, held in file.result.items():
        try:
            sound.append(look(name, held, base, given.get(name)))
        except Blocked as error:
            missing[name] = error
    if not sound:
        raise next(iter(missing.values()))
    measured = [_measured(one) for one in sound]
    found = [
        part
        for one, values in zip(sound, measured, strict=True)
        for part in _decided(one, values, base, environ, progress)
    ]
    return Gating(
        schema_version="1",
        recallbench_version=__version__,
        passed=not missing and not any(one.outcome in ("falls short", "out of reach") for one in found),
        results=[_told(one) for one in sound],
        missing=[
            MissingPart(result=name, problem=error.problem, found=error.found, remedy=error.remedy)
            for name, error in missing.items()
        ],
        thresholds=found,
    )


def look(name: str, held: Held, base: Path, given: Path | None, *, baseline: bool = True) -> Sound:
    """The result, and with `baseline` also what it is compared with; raises InputError where either is not sound."""
    if given is not None:
        folder = given if given.exists() else latest(str(given), Path())
    else:
        folder = latest(held.folder, base)
    side, metrics = _side(folder)
    if held.abilities and not any(side.abilities):
        raise InputError(
            f"{name}: {folder} tells no abilities apart",
            expected="a result over LongMemEval",
            found=metrics.corpus.name,
            remedy=f"take [result.{name}.abilities] out, or name kinds",
        )
    compared = None
    if baseline and held.baseline is not None and held.compared:
        place = base / held.baseline
        if not place.exists():
            raise InputError(
                f"{name}: the baseline {held.baseline} is not there",
                expected="a result folder",
                found="no such folder",
                remedy="store this result as the baseline with `recallbench gate --update`",
            )
        compared = _side(place)
        unlike(compared[1], metrics, (str(place), str(folder)), held.allow)
    return Sound(name, held, folder, side, metrics, _tenants(folder), compared)


def _side(folder: Path) -> tuple[Side, Metrics]:
    side, metrics = folder_side(folder)
    wrong = manifest.differences(folder)
    if wrong:
        raise InputError(
            f"{folder} is not as it was written",
            expected="the files that its manifest names, unchanged",
            found="; ".join(wrong),
            remedy="get it again from where it was made; `recallbench audit` tells more",
        )
    return side, metrics


def _tenants(folder: Path) -> tuple[str, ...]:
    """Whose each question is: its tenant where the rows name one, else its scope."""
    rows = (json.loads(line) for _, line in lines(folder / ROWS))
    return tuple(str(row.get("tenant") or row["scope"]) for row in rows)


_Values = dict[str, dict[str, Estimate]]


def _measured(one: Sound) -> _Values:
    """By part and measure; raises InputError for a part without questions, and a measure too deep."""
    rankings, depth = one.side.rankings, one.metrics.retrieval.depth
    asked = dict.fromkeys(m for part in one.held.demands for m in (*part.at_least, *part.drops))
    measures = [parse(text) for text in asked]
    deeper = next((measure for measure in measures if measure.k > depth), None)
    if deeper is not None:
        raise UsageError(
            f"{one.name}: {deeper} can't be taken from {one.folder}",
            expected=f"a depth of {depth} or less",
            found=str(deeper),
            remedy="name a measure within the depth of the result",
        )
    masks = {name: mask for name, mask, _ in one.parts()}
    found = estimates(measures, rankings.calls, rankings.clusters, masks)
    for name, mask in masks.items():
        if not (mask & (rankings.calls[0].gold > 0)).any():
            raise _empty(one, name)
    # By what the file says, which may stand between blanks.
    values = {name: dict(zip(asked, row, strict=True)) for name, row in found.items()}
    for name, _, demands in one.parts():
        for measure in (*demands.at_least, *demands.drops):
            if values[name][measure].value is None:
                raise InputError(
                    f"{one.name}: {name} has no question that {measure} counts in {one.folder}",
                    expected="questions that have grades",
                    found="none",
                    remedy=f"name another measure, as {measure.partition('(')[0]}",
                )
    return values


def _empty(one: Sound, part: str) -> InputError:
    what = part.partition(" ")[0]
    there = {"kind": one.side.kinds, "ability": one.side.abilities, "tenant": one.tenants}.get(what, ())
    shown = list(dict.fromkeys(name for name, gold in zip(there, one.side.gold, strict=bool(there)) if gold))
    return InputError(
        f"{one.name}: {part} has no question with something to find in {one.folder}",
        expected=f"one of {', '.join(shown[:12])}{' …' if len(shown) > 12 else ''}" if shown else "questions with gold",
        found=part,
        remedy=f"name a {what} that is there" if shown else "measure with a set that has answers",
    )


def unreachable(found: Gating) -> UsageError | None:
    """What is to be said of the thresholds that not even an oracle keeps."""
    beyond = [one for one in found.thresholds if one.outcome == "out of reach"]
    if not beyond:
        return None
    return UsageError(
        f"no ranking could keep {'this threshold' if len(beyond) == 1 else 'these thresholds'}",
        expected="; ".join(
            f"{one.result}, {one.part}: {one.measure} of at most {one.ceiling or 0.0:.4f}, the ceiling of an oracle"
            for one in beyond
        ),
        found="; ".join(f"{one.measure} >= {one.required:g}" for one in beyond),
        remedy="lower it, or take another measure: recall_frac@k is not bounded by how little there is to find, nor is "
        "precision@k(retrieved)",
    )


def _decided(
    one: Sound, values: _Values, base: Path, environ: Mapping[str, str], progress: Progress | None
) -> Iterator[GateThreshold]:
    if one.held.audit:
        yield _audited(one, base, environ, progress)
    for part, mask, demands in one.parts():
        for name, floor in demands.at_least.items():
            yield _floor(one, part, values[part][name], floor)
        for name, drop in demands.drops.items():
            yield _dropped(one, part, mask, values[part][name], drop)
    if one.held.abstention.said:
        yield from thresholds_abstention.decided(one.name, one.folder, one.metrics, one.held.abstention)
    for state, limit in one.held.p95_ms.items():
        yield thresholds_latency.absolute(
            one.name, one.folder, state, limit, strict=one.held.strict, rule=one.held.percentiles
        )
    for state, limit in one.held.p95_ratio.items():
        against = base / str(one.held.baseline)
        yield thresholds_latency.relative(
            one.name, one.folder, against, state, limit, strict=one.held.strict, rule=one.held.percentiles
        )


def _floor(one: Sound, part: str, found: Estimate, floor: float) -> GateThreshold:
    assert found.value is not None
    short = found.value < floor - _ROUNDING
    beyond = floor > (found.ceiling or 0.0) + _ROUNDING
    within = short and not beyond and found.high is not None and found.high >= floor
    notes = ["no ranking could keep it"] * beyond + [REACHES] * within
    notes += [TOO_SHORT] * is_too_short(found.value, found.design_effect)
    return _part(
        one, part, "at_least", str(found.measure),
        required=floor, observed=found.value, low=found.low, high=found.high, ceiling=found.ceiling, n=found.n,
        outcome="out of reach" if beyond else "falls short" if short else "holds",
        by=floor - found.value if short else None, note="; ".join(notes),
    )  # fmt: skip


def _dropped(one: Sound, part: str, mask: Bools, found: Estimate, drop: float) -> GateThreshold:
    assert one.baseline is not None
    first, second = one.baseline[0].rankings, one.side.rankings
    counted = second.calls[0].gold > 0
    clustered = cluster_codes([second.clusters[i] for i in np.flatnonzero(counted)]) is not None
    (pair,) = by_question(first, second, [found.measure], clustered=clustered, keep=mask)
    measured = MeasuredPart.model_validate(
        {
            **difference_fields(str(found.measure), pair, None),
            "first": first.mean(found.measure, mask),
            "second": second.mean(found.measure, mask),
            "role": "secondary",
            "turning": list(pair.turning),
        }
    )
    ruled = decide(Condition(found.measure, drop), measured)
    inconclusive = ruled.outcome == "inconclusive"
    short = ruled.outcome == "fails" or (inconclusive and one.held.strict)
    return _part(
        one, part, "drops", str(found.measure),
        required=drop, observed=measured.difference, low=measured.low, high=measured.high, ceiling=found.ceiling,
        outcome="falls short" if short else "inconclusive" if inconclusive else "holds",
        n=pair.n, by=max(0.0, -measured.difference - drop) if short else None,
        note=("inconclusive, which `strict` forbids: " if short and inconclusive else "") + ruled.reason,
    )  # fmt: skip


def _audited(one: Sound, base: Path, environ: Mapping[str, str], progress: Progress | None) -> GateThreshold:
    files = [base / one.held.corpus_file] if one.held.corpus_file else []
    done = audit(one.folder, corpus_files=files, environ=environ, progress=progress)
    failed = [
        check for check in done.checks if check.status == "fail" or (check.status == "cannot-tell" and check.needed)
    ]
    told = [f"{check.code} {check.status}: {check.observed}" for check in failed]
    return _part(
        one, OVERALL, "audit", "audit: no check fails",
        required=None, observed=None, low=None, high=None, ceiling=None, n=one.metrics.retrieval.asked,
        outcome="falls short" if failed else "holds", by=None,
        note="; ".join(told) or f"{len(done.checks)} checks; {done.verdict.text}",
    )  # fmt: skip


def _part(one: Sound, part: str, what: str, measure: str, **rest: object) -> GateThreshold:
    return GateThreshold.model_validate({"result": one.name, "part": part, "what": what, "measure": measure, **rest})


def _told(one: Sound) -> ResultPart:
    part, against = one.side.part, one.baseline
    return ResultPart(
        result=one.name,
        folder=str(one.folder),
        content_sha256=part.content_sha256,
        system=", ".join((part.store, part.version, part.embedder)),
        baseline=against[0].part.name if against else None,
        baseline_sha256=against[0].part.content_sha256 if against else None,
        failed=len(one.metrics.retrieval.failed),
    )
