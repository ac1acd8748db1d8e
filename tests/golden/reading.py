"""What machines read off a result: the documents that commands print, without the sentences in them."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from golden.batch import Outcome, run_commands
from golden.formats import CHECKS, INPUTS, RESULTS, SIGNED, SIGNING

COMMITTED = Path(__file__).parents[2] / "benchmarks/locomo/results/pgvector_20261118"
PROSE = frozenset(
    {"required", "observed", "reason", "reasons", "recorded", "basis", "warnings", "note", "notes"}
    | {"second_notes", "gold", "scopes", "place", "recallbench_version"}
)
"""Fields whose sentences may be worded anew, and the release."""
CONCLUSION = "conclusion"
"""The last line in words, which documents have had since; all of it is prose."""
DIGITS = 9
"""Kept behind the point: the last digits may differ from one processor to the next."""
LATER_DEFINITION = "(found)"
"""What a definition ends with that the multiverse has taken on since."""
CHECK_FIELDS = {"code", "name", "status", "needed", "required", "observed"}


def read_everything(place: Path) -> dict[str, Any]:
    """Sign a result and run every command of CHECKS beside the golden results; what machines read, by its name."""
    make_repository(place)
    outcomes = run_commands(place, SIGNING | CHECKS)
    assert all(outcomes.pop(name).code == 0 for name in SIGNING)
    return {name: machine_part(outcome) for name, outcome in outcomes.items()}


def copy_inputs(place: Path) -> None:
    """Copy the inputs; a user's own key is for the user's eyes alone."""
    shutil.copytree(INPUTS, place, dirs_exist_ok=True)
    (place / "settings/recallbench/vectors.key").chmod(0o600)


def make_repository(place: Path) -> None:
    """Commit the golden results, one to sign and one that was altered to a repository of their own."""
    copy_inputs(place)
    shutil.copytree(RESULTS, place / "results")
    shutil.copytree(RESULTS / "canary_bm25", place / "altered")
    shutil.copytree(RESULTS / "canary_bm25", place / SIGNED)
    shutil.copytree(COMMITTED, place / "committed")
    (place.parent / "safe").mkdir()
    raise_a_figure(place / "altered" / "metrics.json")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "results")):
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], cwd=place, check=True, capture_output=True)


def raise_a_figure(path: Path) -> None:
    """Let the first headline of a metrics.json be 0.01 higher."""
    metrics = json.loads(path.read_text())
    metrics["headline"][0]["estimate"]["value"] += 0.01
    path.write_text(json.dumps(metrics, indent=1) + "\n")


def machine_part(outcome: Outcome) -> dict[str, Any]:
    """The exit code and the document that was printed, without its sentences."""
    document = without_prose(outcome.document)
    if isinstance(document, dict) and "audits" in document:
        document["audits"] = [_by_status(audit) for audit in document["audits"]]
    if isinstance(document, dict) and "cells" in document:
        document["cells"] = _digest(document["cells"])
    return {"exit": outcome.code, "document": document}


def without_prose(document: Any) -> Any:
    """The same document without its sentences and the release, its numbers rounded."""
    if isinstance(document, list):
        return [without_prose(part) for part in document]
    if isinstance(document, dict):
        return {
            name: "…" if name in PROSE and not isinstance(part, float) else without_prose(part)
            for name, part in document.items()
            if name != CONCLUSION
        }
    return round(document, DIGITS) if isinstance(document, float) else document


def _by_status(audit: dict[str, Any]) -> dict[str, Any]:
    """An audit whose checks are lists of codes, by their status."""
    codes: dict[str, list[str]] = {}
    for check in audit["checks"]:
        codes.setdefault(check["status"], []).append(check["code"])
    assert all(check.keys() == CHECK_FIELDS for check in audit["checks"])
    return audit | {"checks": codes}


def _digest(cells: list[dict[str, Any]]) -> list[int | str]:
    """How many cells of a multiverse there are, and one hash over their figures, by the definitions of that time."""
    figures = [
        [cell["definition"], cell["k"], cell["n"], f"{cell['low']:.{DIGITS}f}", f"{cell['high']:.{DIGITS}f}"]
        for cell in cells
        if not cell["definition"].endswith(LATER_DEFINITION)
    ]
    return [len(figures), hashlib.sha256(json.dumps(figures).encode()).hexdigest()]
