"""The baseline: a stored result that later ones are compared with."""

from __future__ import annotations

import shutil
from pathlib import Path

from recallbench.compare.gate_command import USUAL, gate_command
from recallbench.errors import UsageError
from recallbench.results import manifest
from recallbench.results.folder import staged
from recallbench.results.result import open_result
from recallbench.scratch import scratch, sweep


def store(result: Path, baseline: Path, *, replace: bool, config: str = USUAL) -> str:
    """Copy a result to the baseline's folder; raises UsageError where another one is there, but for `replace`.

    The text returned says what was done; `config` is the file that names the baseline.
    """
    if result.resolve() == baseline.resolve():
        raise UsageError(
            f"{baseline} is the result itself",
            expected="a baseline in another folder",
            found="the same folder for both",
            remedy="name another baseline",
        )
    sweep(baseline.parent)
    aside = baseline.with_name(f".{baseline.name}.before")
    _restore(baseline, aside)
    if not baseline.exists():
        _copy(result, baseline)
        return "stored"
    before, now = (open_result(folder).content_sha256 for folder in (baseline, result))
    if before == now and not manifest.differences(baseline):
        return "the same already"
    if not replace:
        again = gate_command(config, "--update", "--replace")
        raise UsageError(
            f"{baseline} holds another baseline",
            expected=f"content {now[:12]}, or --replace",
            found=f"content {before[:12]}",
            remedy=f"compare both with `recallbench compare`, then replace it: {again}",
        )
    try:
        _copy(result, baseline, aside)
    finally:
        _restore(baseline, aside)
    return "replaced"


def _copy(result: Path, baseline: Path, aside: Path | None = None) -> None:
    """Copy the result to its place. What stands there is moved aside only when the copy is complete."""
    with staged(baseline) as draft:
        for path in sorted(result.iterdir()):
            shutil.copyfile(path, draft.temporary / path.name)
        if aside is not None:
            baseline.rename(aside)


def _restore(baseline: Path, aside: Path) -> None:
    """Move a baseline that a killed run left aside back to its place, or remove it where another one stands there."""
    if not (aside / manifest.NAME).is_file():
        return
    if baseline.exists():
        # Moved before it is removed: a half-removed baseline could not be told from a folder of the user's.
        with scratch(aside.parent) as room:
            aside.rename(room / aside.name)
    else:
        aside.rename(baseline)
