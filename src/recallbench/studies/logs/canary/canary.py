"""A canary drawn from a labelled set, and drawn anew."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from recallbench.corpora.labelled_sets.canary_record import (
    NAME,
    CanaryRecord,
    CanarySource,
    HardCases,
    MixCount,
    Refreshed,
    StaleAfter,
    read_canary,
)
from recallbench.errors import InputError, UsageError
from recallbench.scoring.measures.registry import parse
from recallbench.studies.logs.canary.candidates import (
    AGREED,
    Candidate,
    QuestionSet,
    SetResult,
    read_result,
    read_set,
    with_hard,
)
from recallbench.studies.logs.canary.contradictions import contradictions
from recallbench.studies.logs.canary.drawing import DIGITS, Draw, Earlier, draw
from recallbench.studies.logs.canary.mix import Mix, Production, log_mix, production, set_mix, stratum_name
from recallbench.studies.logs.canary.power import MEASURE, power
from recallbench.studies.logs.canary.stale_after import again
from recallbench.studies.logs.canary.writing import refuse_existing, write_canary

FEWEST, MOST = 100, 300
"""Below, a paired comparison sees collapses alone; above, a canary is no quick check any more."""
RANK = 3
"""The last rank at which a first find is an easy one."""


@dataclass(frozen=True, slots=True)
class CanaryRequest:
    """A draw as it is asked for."""

    source: Path
    folder: Path
    split: str | None = None
    n: int = 200
    seed: int = 42
    by: tuple[str, ...] = ("kind", "tenant")
    logs: tuple[Path, ...] = ()
    skip_bad: bool = False
    results: tuple[Path, ...] = ()
    hard: float | None = None
    rank: int = RANK
    stale_after: StaleAfter | None = None
    earlier: Path | None = None
    """The canary that this one follows."""
    keep: float = 0.0
    """The share of each stratum that stays, of the questions that are still in the set."""


def draw_canary(request: CanaryRequest, today: date) -> CanaryRecord:
    """Draw and write a canary; raises UsageError where the set, the log or a result does not fit."""
    if not FEWEST <= request.n <= MOST:
        raise UsageError(
            f"--n {request.n} is no canary",
            expected=f"{FEWEST} to {MOST} questions: fewer see collapses alone, more are a test set and no quick check",
            found=str(request.n),
            remedy="--n 200; of a smaller set all questions are drawn",
        )
    refuse_existing(request.folder)
    questions = read_set(request.source, request.split)
    results = [read_result(folder, questions, parse(MEASURE)) for folder in request.results]
    candidates = _by(with_hard(questions.candidates, results, request.rank), request.by)
    mix = _mix(request, candidates)
    asked = production(mix, candidates)
    earlier = _earlier(request)
    drawn = draw(candidates, asked.shares, request.n, request.seed, request.hard, earlier, request.keep)
    record = CanaryRecord(
        schema_version="1",
        drawn=today.isoformat(),
        seed=request.seed,
        by=list(request.by),
        asked=request.n,
        questions=len(drawn.questions),
        source=CanarySource(
            name=request.source.resolve().name,
            folder=_beside(request.source.resolve(), request.folder.resolve()),
            sha256=questions.sha256,
            split=request.split,
            questions=len(candidates),
        ),
        log=list(mix.logs),
        mix=[MixCount(kind=kind, tenant=tenant, recalls=count) for (kind, tenant), count in sorted(mix.counts.items())],
        uncovered=round(asked.uncovered, DIGITS),
        strata=list(drawn.strata),
        bias=drawn.bias,
        proportional=drawn.proportional,
        hard=_hard(request, drawn, results),
        detects=power(drawn.questions, results),
        stale_after=request.stale_after,
        refreshed=None
        if earlier is None
        else Refreshed(record_sha256=earlier.record_sha256, kept=list(drawn.kept), stayed=dict(drawn.kept)),
        notes=list(_notes(request, questions, mix, asked, drawn)),
    )
    write_canary(request.folder, questions, drawn.questions, record)
    return record


def refresh_request(folder: Path, stated: CanaryRequest, given: Collection[str], today: date) -> CanaryRequest:
    """Return the request that draws a canary anew as it was drawn, but for the fields of `stated` that are `given`.

    A source other than the canary itself is the set that it is from, where that has moved. Raises UsageError where a
    result or a log that it was drawn by is not named again.
    """
    record, _ = open_canary(folder)
    source = source_of(folder, record) if stated.source == folder else stated.source
    if source is None:
        raise UsageError(
            f"{folder} was drawn from a set {record.source.name} that is not beside it",
            expected="--source DIR, the set as it is now",
            found="none",
            remedy=f"name the folder that {record.source.name} is in now; the record holds no path of a machine",
        )
    by_result, by_log = bool(record.hard.results), bool(record.log)
    for what, lacking in (("result", by_result and not stated.results), ("log", by_log and not stated.logs)):
        if lacking:
            raise UsageError(
                f"{folder} was drawn by a {what}",
                expected=f"--{what}, as it is now",
                found="none",
                remedy=f"name the {what}; without one draw from the set itself, without --refresh",
            )
    before: dict[str, Any] = {
        "n": record.asked,
        "seed": record.seed,
        "by": tuple(record.by),
        "hard": record.hard.asked,
        "rank": record.hard.rank,
    }
    after = stated.stale_after or (again(record.stale_after, today) if record.stale_after else None)
    return replace(
        stated,
        source=source,
        split=record.source.split,
        stale_after=after,
        earlier=folder,
        **{name: value for name, value in before.items() if name not in given},
    )


def open_canary(folder: Path) -> tuple[CanaryRecord, str]:
    """Return the record of a canary and its sha256.

    Raises InputError where the folder is none, or holds something else than its record says.
    """
    read = read_canary(folder)
    if read is None:
        raise InputError(
            f"{folder} is no canary",
            expected="a folder with canary.json, as `recallbench canary` writes it",
            found="a folder without" if folder.is_dir() else "no such folder",
            remedy=f"draw one: recallbench canary {folder}",
        )
    record, sha256 = read
    questions = _by(read_set(folder, record.source.split).candidates, record.by)
    if told := list(contradictions(record, questions)):
        raise InputError(
            f"{folder} is not what its record says",
            expected="the questions that were drawn, and the canary.json that was written with them",
            found=f"{NAME} has {'; '.join(told[:3])}" + (f"; and {len(told) - 3} more" if len(told) > 3 else ""),
            remedy="leave the folder of a canary as it was drawn, or draw it anew",
        )
    return record, sha256


def source_of(folder: Path, record: CanaryRecord) -> Path | None:
    """Return the folder of the set that a canary was drawn from; None where it is not beside the canary."""
    if record.source.folder is None:
        return None
    source = folder.resolve() / record.source.folder
    return Path(os.path.relpath(source)) if source.is_dir() else None


def _beside(source: Path, folder: Path) -> str | None:
    """Return the way from a canary to a set in the same folder; no other way leaves the machine."""
    return f"../{source.name}" if source.parent == folder.parent and source.name.strip(".") else None


def _by(candidates: Sequence[Candidate], names: Sequence[str]) -> tuple[Candidate, ...]:
    """Return the questions without the kind, or the tenant, that the draw does not go by."""
    return tuple(
        replace(
            candidate,
            kind=candidate.kind if "kind" in names else "",
            tenant=candidate.tenant if "tenant" in names else "",
        )
        for candidate in candidates
    )


def _mix(request: CanaryRequest, candidates: Sequence[Candidate]) -> Mix:
    return log_mix(request.logs, by=request.by, skip_bad=request.skip_bad) if request.logs else set_mix(candidates)


def _earlier(request: CanaryRequest) -> Earlier | None:
    """Return the earlier canary, with its questions that read now as they did then."""
    if request.earlier is None:
        return None
    record, sha256 = open_canary(request.earlier)
    before = {} if record.refreshed is None else record.refreshed.stayed
    return Earlier(
        sha256, {id: before.get(id, 1) for id in unchanged_questions(request.earlier, request.source, record)}
    )


def unchanged_questions(folder: Path, source: Path, record: CanaryRecord) -> frozenset[str]:
    """Return the questions of a canary that its set still has, with the same words and the same gold."""
    before = read_set(folder, record.source.split).fingerprints
    now = read_set(source, record.source.split).fingerprints
    return frozenset(id for id, fingerprint in before.items() if now.get(id) == fingerprint)


def _hard(request: CanaryRequest, drawn: Draw, results: Sequence[SetResult]) -> HardCases:
    rules = [f"the first find comes after rank {request.rank}, or not at all"] if results else []
    return HardCases(
        rank=request.rank,
        rule="; ".join([*rules, f"marked in the set (hard, or agreement below {AGREED:g})"]),
        results=[result.result.content_sha256 for result in results],
        asked=request.hard,
        production=round(drawn.hard_in_production, DIGITS),
        drawn=round(drawn.hard_share, DIGITS),
        questions={question.id: question.hard for question in drawn.questions if question.hard},
    )


def _notes(request: CanaryRequest, questions: QuestionSet, mix: Mix, asked: Production, drawn: Draw) -> Sequence[str]:
    notes = list(asked.notes)
    if not mix.logs:
        notes.append("no log was named: the set's own mix counts as production's")
    if asked.missing:
        notes.append(
            f"the set has no question for {asked.uncovered:.1%} of the recalls ({_named(asked.missing)}): they are "
            "left out of the mix; label some with `recallbench sample` and `recallbench label`"
        )
    if asked.idle:
        notes.append(f"not drawn, since the log never asks for it: {_named(asked.idle)}")
    if len(drawn.questions) < request.n:
        there = sum(stratum.available for stratum in drawn.strata)
        notes.append(f"{request.n} were asked for; the set has {there} that fit, and all of them are here")
    if request.hard is not None and drawn.hard_share < request.hard - 1e-9:
        notes.append(f"the set has too few hard questions for --hard {request.hard:g}: all that fit are here")
    short = [
        stratum for stratum in drawn.strata if stratum.drawn == stratum.available and stratum.quota - stratum.drawn >= 1
    ]
    if short:
        named = ", ".join(
            f"{stratum_name((stratum.kind, stratum.tenant))} {stratum.drawn} of {stratum.quota:.0f}"
            for stratum in short[:5]
        )
        notes.append(f"too few questions for production's share: {named}")
    return notes


def _named(strata: Sequence[tuple[str, str]]) -> str:
    return ", ".join(map(stratum_name, strata[:5])) + (f" and {len(strata) - 5} more" if len(strata) > 5 else "")
