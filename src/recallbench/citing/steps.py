"""What has to be done before a result can be cited, in order, each step as a command."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.audit.conclusion import commit_step
from recallbench.citing.publication import lacking
from recallbench.errors import InputError
from recallbench.results.result import repository_path

if TYPE_CHECKING:
    from recallbench.citing.citation import AuditedResult


def steps(cited: AuditedResult, as_deviation: bool, history: Path | None = None) -> list[str]:
    """Return the steps; where a check of the audit stands in the way, to look at it is the only one."""
    folder, checks = shlex.quote(repository_path(cited.result.folder)), cited.audit.checks
    look = [f"recallbench audit {folder}"]
    if any(check.status == "fail" or (check.status == "cannot-tell" and check.needed) for check in checks):
        return look
    pending = next((check for check in checks if check.status == "pending"), None)
    if pending is None and cited.audit.verdict.label != "VERIFIED":
        return look
    told = [] if pending is None else [commit_step(pending.observed, folder)]
    if record := record_command(cited, history):
        told.append(record)
    # What was just typed is no step by itself.
    if not told and (as_deviation or not cited.audit.deviations):
        return look
    words = " --as-deviation" if cited.audit.deviations else ""
    words += f" --history {shlex.quote(str(history))}" if history is not None else ""
    return [*told, f"recallbench cite {folder}{words}"]


def numbered(told: list[str]) -> str:
    """Return steps in lines, with their numbers where there are several."""
    return told[0] if len(told) == 1 else "\n".join(f"{i}. {step}" for i, step in enumerate(told, 1))


def record_command(cited: AuditedResult, history: Path | None = None) -> str:
    """Return the command that puts on record what HISTORY.md lacks of a result's deviations; empty where it has all."""
    corpus = cited.result.metrics.corpus.name
    try:
        missing = lacking(cited.audit.deviations, corpus, cited.result.folder, history)
    except (InputError, ValueError):
        return ""  # HISTORY.md can't be read, which is a reason of its own
    if not missing:
        return ""
    words = ["recallbench", "history", "add", "--kind", "deviation", "--title", f"What {cited.path} departs in"]
    for name in missing:
        words += ["--deviation", f"{name} on {corpus}"]
    return shlex.join([*words, *(["--file", str(history)] if history else [])])
