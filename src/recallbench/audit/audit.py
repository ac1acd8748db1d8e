"""Decide a result folder again from its rankings and dataset. No figure in it is trusted, and nothing is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from recallbench.audit.anew import command_anew
from recallbench.audit.checks import (
    CHECKS,
    LAST,
    OF_A_PACK,
    OF_A_PIPELINE,
    OF_THE_STATIC_CONTROL,
    ON_DEMAND,
    static_control,
)
from recallbench.audit.checks.ranges import NOT_DERIVED
from recallbench.audit.decision import Verdict, decide
from recallbench.audit.examination import CannotTell, Examination
from recallbench.audit.gate import Check, Finding, Gate, GateEvidence
from recallbench.audit.gates import GATES, blocked
from recallbench.audit.shared_readings import SharedReadings
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.registry import facts
from recallbench.errors import RecallBenchError, UsageError
from recallbench.progress import Progress, Silent, counted
from recallbench.protocol.frozen import load
from recallbench.results.folder import BLOCKED, not_a_result
from recallbench.results.result import METRICS, Result, open_result
from recallbench.retrieval.static_control import ENCODER

QUICK = 5000
"""Segments up to which the lexical control is ranked again by default."""


@dataclass(frozen=True, slots=True)
class Audit:
    """One folder, check by check."""

    folder: Path
    checks: tuple[Check, ...]
    verdict: Verdict
    deviations: tuple[str, ...]
    recorded: tuple[str, ...] = ()
    """Statements of the folder that were not checked."""
    corpus: str = ""
    """The corpus by its name; empty where the folder does not say."""
    summary: tuple[str, ...] = ()
    """For a foreign folder: lines to paste into an issue."""
    store: str = ""
    """The store by its name; empty where the folder does not say."""
    anew: str = ""
    """The command that measures the same once more; empty where none is known."""

    def with_check(self, check: Check) -> Audit:
        """Return the audit with one more check, and the verdict that follows."""
        checks = (*self.checks, check)
        return replace(self, checks=checks, verdict=decide(checks, self.deviations))


def audit(
    folder: Path,
    *,
    corpus_files: Sequence[Path] = (),
    environ: Mapping[str, str] | None = None,
    rerun_control: bool | None = None,
    progress: Progress | None = None,
    cache_dir: Path | None = None,
) -> Audit:
    """Check a folder; raises InputError when it is no result folder at all.

    The dataset is one of `corpus_files`, or lies where corpora lie; where it is not at hand the gold can't be derived,
    and the result is not VERIFIED. `rerun_control` ranks BM25 again; by default where that takes no time worth mention.
    Fetched weights lie in `cache_dir`; by default where RECALLBENCH_CACHE_DIR says, else in the user's cache folder.
    """
    required = dict(load().gates)
    if (folder / BLOCKED).exists():
        gate = blocked.GATE
        check = Check(gate.name, "fail", required[gate.name], f"{BLOCKED} is there", code=gate.code)
        return Audit(folder, (check,), decide([check], ()), ())
    return audit_result(
        open_result(folder),
        corpus_files=corpus_files,
        environ=environ,
        rerun_control=rerun_control,
        progress=progress,
        cache_dir=cache_dir,
    )


def audit_result(
    result: Result,
    *,
    corpus_files: Sequence[Path] = (),
    environ: Mapping[str, str] | None = None,
    rerun_control: bool | None = None,
    progress: Progress | None = None,
    cache_dir: Path | None = None,
    shared: SharedReadings | None = None,
) -> Audit:
    """Check a result that was opened; what it reads of it, it leaves with it. The folder is not a BLOCKED one.

    Several audits may be given the same `shared` readings: what they read alike is then read once.
    """
    rules = load()
    required = dict(rules.gates)
    folder, metrics = result.folder, result.metrics
    try:
        corpus = facts(metrics.corpus.name, rules)
    except UsageError as error:
        raise not_a_result(folder, f"{METRICS}: corpus.name: {error.problem}") from error
    progress = progress or Silent()
    environ = os.environ if environ is None else environ
    subject = AuditSubject(result, rules, corpus, corpus_files, environ, progress, shared, cache_dir)
    gates = tuple(
        Examination(gate.code, gate.name, required.get(gate.name, gate.required), _decided(gate)) for gate in GATES
    )
    again = metrics.corpus.segments <= QUICK if rerun_control is None else rerun_control
    of_pipeline = OF_A_PIPELINE if metrics.pipeline is not None else ()
    of_pack = OF_A_PACK if metrics.embedder is not None and metrics.embedder.pack is not None else ()
    of_static = OF_THE_STATIC_CONTROL if metrics.control_static is not None else ()
    ranked_again = again and bool(of_static) and static_control.weights_here(subject)
    on_demand = (*(ON_DEMAND if again else ()), *([static_control.AGAIN] if ranked_again else []))
    examinations = (*CHECKS, *of_pack, *of_pipeline, *of_static, *on_demand, *gates, *LAST)
    with progress.stage(f"auditing {folder.name}", len(examinations), "checks") as advance:
        checks = tuple(examination.check(subject) for examination in counted(examinations, advance))
    with suppress(Exception):  # whoever asks for the rankings is told why there are none
        _ = subject.judged_result
    recorded = NOT_DERIVED if again else (*NOT_DERIVED, "that the control's run is BM25's (--rerun-control)")
    if of_static and not ranked_again:
        missing = "--rerun-control" if not again else f"recallbench fetch {ENCODER}"
        recorded = (*recorded, f"that the static control's run is {ENCODER}'s ({missing})")
    if metrics.retrieval.missing_hits:
        short = f"{metrics.retrieval.missing_hits} hits, from {metrics.retrieval.short_questions} questions"
        recorded = (*recorded, f"why the store returned fewer than it could: {short} are declared missing")
    stated = (f"{deviation.kind}: {deviation.detail}" for deviation in metrics.deviations)
    deviations = tuple(dict.fromkeys([*map(str, subject.deviations), *stated]))
    verdict = decide(checks, deviations)
    store, anew = metrics.store.name, command_anew(result)
    return Audit(folder, checks, verdict, deviations, recorded, corpus.name, store=store, anew=anew)


def _decided(gate: Gate) -> Callable[[AuditSubject], Finding]:
    """Return the gate as an examination: decided from the derived metrics, or the stated ones where none follow."""

    def look(subject: AuditSubject) -> Finding:
        try:
            metrics = subject.derived
        except (CannotTell, RecallBenchError):
            metrics = subject.metrics  # other checks report what is wrong with the rest
        return gate.check(GateEvidence(metrics, subject.rules, subject.corpus, subject.folder))

    return look
