"""Decides a result folder again from what lies in it: hashes and gates. It never writes there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from recallbench.corpora.registry import facts
from recallbench.errors import InputError
from recallbench.protocol.frozen import load
from recallbench.results.folder import BLOCKED
from recallbench.results.manifest import differences
from recallbench.results.metrics import Metrics
from recallbench.verdict.decision import Verdict, check_gates, decide
from recallbench.verdict.gate import Check, Evidence


@dataclass(frozen=True, slots=True)
class Audit:
    """One folder, check by check."""

    folder: Path
    checks: tuple[Check, ...]
    verdict: Verdict
    deviations: tuple[str, ...]


def audit(folder: Path) -> Audit:
    """Check a folder; raises InputError when it is no result folder at all."""
    if not folder.is_dir():
        raise _no_result(folder, "no such folder")
    if (folder / BLOCKED).exists():
        check = Check("BLOCKED absent", "fail", dict(load().gates)["BLOCKED absent"], f"{BLOCKED} is there")
        return Audit(folder, (check,), decide([check], ()), ())
    metrics = _read(folder)
    rules = load()
    stated = metrics.protocol
    wrong = differences(folder)
    checks = (
        _equal(
            "manifest", "every file has the hash the manifest states", "; ".join(wrong) or "all hashes agree", not wrong
        ),
        _equal("protocol", rules.sha256, stated.sha256, stated.sha256 == rules.sha256),
        _equal(
            "clarifications",
            f"{rules.clarifications_sha256}, or an earlier release",
            stated.clarifications_sha256,
            stated.clarifications_sha256 in (rules.clarifications_sha256, *rules.earlier_clarifications),
        ),
        *check_gates(Evidence(metrics, rules, facts(metrics.corpus.name, rules), folder)),
    )
    deviations = tuple(f"{one.kind}: {one.detail}" for one in metrics.deviations)
    return Audit(folder, checks, decide(checks, deviations), deviations)


def _equal(name: str, required: str, observed: str, holds: bool) -> Check:
    return Check(name, "pass" if holds else "fail", required, observed)


def _read(folder: Path) -> Metrics:
    path = folder / "metrics.json"
    try:
        return Metrics.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise _no_result(folder, "metrics.json is missing") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"]) or "the file"
        raise _no_result(folder, f"metrics.json: {place}: {first['msg']}") from error


def _no_result(folder: Path, found: str) -> InputError:
    return InputError(
        f"{folder} is not a result folder",
        expected="a folder that `recallbench run` wrote",
        found=found,
        remedy="name a folder under benchmarks/<corpus>/results/",
    )
