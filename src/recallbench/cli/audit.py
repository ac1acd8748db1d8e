"""`recallbench audit`: decide result folders again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recallbench.cli import settings
from recallbench.cli.settings import option

if TYPE_CHECKING:
    from recallbench.verdict.audit import Audit

EPILOG = (
    "Exit codes: 0 every folder is VERIFIED, 1 one is not (what can't be told included), 2 one is no result folder. "
    "benchmarks/AUDIT.md explains each check by its code."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit", epilog=EPILOG)(audit)


def audit(
    folders: Annotated[list[Path], typer.Argument(help="Result folders, of this tool or others.", metavar="DIR...")],
    corpus_file: Annotated[
        list[Path] | None,
        option("corpus-file", "The dataset; repeat it for several [default: found by variable or data folder]."),
    ] = None,
    rerun_control: Annotated[
        bool, option("rerun-control", "Rank BM25 again from the dataset, too; LongMemEval takes half a minute.")
    ] = False,
    as_json: Annotated[bool, option("json", "Print one JSON document instead of lines.")] = False,
    failures: Annotated[bool, option("failures", "Show only what did not pass, and the verdict.")] = False,
    config: settings.Config = None,
) -> int:
    """Work out every figure again from rankings and dataset, check it all, and say what the result may be called."""
    from recallbench.errors import RecallBenchError
    from recallbench.verdict.audit import audit as examine

    done: list[dict[str, Any]] = []
    codes = []
    for folder in folders:
        try:
            found = examine(
                folder, corpus_files=corpus_file or (), environ=settings.environment(), rerun_control=rerun_control
            )
        except RecallBenchError as error:
            codes.append(error.exit_code)
            done.append({"folder": str(folder), "verdict": None, "error": str(error)})
            print(f"recallbench: {error}", file=sys.stderr)
            continue
        codes.append(0 if found.verdict.label == "VERIFIED" else 1)
        done.append(_document(found))
        if not as_json:
            print("\n".join(_lines(found, failures)), flush=True)
    if as_json:
        print(json.dumps({"audits": done}, indent=1))
    return max(codes)


def _lines(found: Audit, failures: bool) -> list[str]:
    lines = [str(found.folder)]
    width = max(len(check.code) for check in found.checks)
    for check in found.checks:
        if check.status == "pass" and failures:
            continue
        lines.append(f"  {check.status:<11} {check.code:<{width}} {check.name}: {check.observed}")
        if check.status != "pass":
            lines.append(f"  {'':<11} {'':<{width}} required: {check.required}")
    lines += [f"  deviation   {deviation}" for deviation in found.deviations]
    if found.recorded:
        lines.append(f"  recorded, not re-derived: {'; '.join(found.recorded)}")
    lines.append(f"  verdict: {found.verdict.text}, {'' if found.verdict.canonical else 'not '}CANONICAL")
    return lines


def _document(found: Audit) -> dict[str, Any]:
    return {
        "folder": str(found.folder),
        "verdict": found.verdict.label,
        "text": found.verdict.text,
        "canonical": found.verdict.canonical,
        "deviations": list(found.deviations),
        "recorded": list(found.recorded),
        "checks": [
            {
                "code": check.code,
                "name": check.name,
                "status": check.status,
                "needed": check.needed,
                "required": check.required,
                "observed": check.observed,
            }
            for check in found.checks
        ],
    }
