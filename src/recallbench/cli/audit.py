"""`recallbench audit`: decide result folders again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit)


def audit(folders: Annotated[list[Path], typer.Argument(help="Result folders.", metavar="DIR...")]) -> int:
    """Check hashes and gates of result folders; exit 0 only when every one is VERIFIED."""
    from recallbench.verdict.audit import audit as examine

    verified = []
    for folder in folders:
        found = examine(folder)
        print(f"{folder}")
        for check in found.checks:
            print(f"  {check.status:<11} {check.name}: {check.observed}")
            if check.status != "pass":
                print(f"  {'':<11} required: {check.required}")
        for deviation in found.deviations:
            print(f"  deviation   {deviation}")
        print(f"  verdict: {found.verdict.text}, {'' if found.verdict.canonical else 'not '}CANONICAL")
        verified.append(found.verdict.label == "VERIFIED")
    return 0 if all(verified) else 1
