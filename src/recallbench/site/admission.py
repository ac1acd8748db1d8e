"""Whether a result may stand on a board: only where its audit holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.audit.audit import Audit, audit_result
from recallbench.audit.gate import Check
from recallbench.audit.gates import artefacts
from recallbench.audit.kept_audits import KeptAudits, at_hand
from recallbench.audit.shared_readings import SharedReadings
from recallbench.errors import RecallBenchError
from recallbench.progress import Progress
from recallbench.results.result import Result
from recallbench.site.local_words import publishable

NAMED = 3
"""How many checks a reason names."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The outcome of a folder's audit for a board."""

    verdict: str
    """What the audit calls the result now; empty where there is no result."""
    why_not: str = ""
    """Why it is kept out; empty where it is admitted."""
    remark: str = ""
    """What an audit that holds could not tell."""


def admit(
    result: Result,
    corpus_files: Sequence[Path],
    environ: Mapping[str, str],
    progress: Progress,
    kept: KeptAudits,
    shared: SharedReadings,
    state: str,
    *,
    verified: bool,
    cache_dir: Path | None = None,
) -> Admission:
    """Audit a result, with fetched weights from `cache_dir`; what fails, or can't tell what it has to, is kept out.

    `state` is that of its folder before it was opened: a kept audit of other bytes is none of this result.
    Whether git holds the files says nothing of the figures: that alone keeps it out with `verified` only.
    """
    try:
        found = at_hand(result.metrics, corpus_files, environ, cache_dir)
        address = kept.address(result.folder, state, found)
        examined = kept.find(address, result.folder)
        if examined is None:
            examined = audit_result(
                result,
                corpus_files=corpus_files,
                environ=environ,
                progress=progress,
                cache_dir=cache_dir,
                shared=shared,
            )
            kept.keep(address, examined, state)
    except (RecallBenchError, OSError) as error:
        problem = error.brief if isinstance(error, RecallBenchError) else str(error)
        return Admission("", publishable(f"no result that can be audited: {problem}"))
    return decide_admission(examined, verified=verified)


def decide_admission(examined: Audit, *, verified: bool) -> Admission:
    """Return whether a result is admitted, by its audit."""
    verdict = publishable(examined.verdict.text) + (", CANONICAL" if examined.verdict.canonical else "")
    hindering = [check for check in examined.checks if _hinders(check, verified)]
    if hindering:
        return Admission(verdict, _told(hindering))
    aside = [check for check in examined.checks if check.status == "cannot-tell"]
    return Admission(verdict, remark=_told(aside) if aside else "")


def _hinders(check: Check, verified: bool) -> bool:
    # Git vouches for nobody's figures, and may not be here at all.
    if check.status == "pending" or (check.status == "cannot-tell" and check.code == artefacts.GATE.code):
        return verified
    return check.status == "fail" or (check.status == "cannot-tell" and check.needed)


def _told(checks: Sequence[Check]) -> str:
    words = {"fail": "fails", "cannot-tell": "can't tell", "pending": "is pending"}
    told = [publishable(f"{check.code} {words[check.status]}: {check.observed}") for check in checks[:NAMED]]
    more = len(checks) - len(told)
    return "; ".join([*told, *([f"and {more} more of its checks"] if more else [])])
