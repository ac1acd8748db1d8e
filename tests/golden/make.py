"""Makes golden results, with what machines read off them: `python tests/golden/make.py`.

What is there already is never made anew: the golden files were made by the program as it was before it was rebuilt,
and hold it to what it wrote then. Only what a later format adds, in `formats.py`, is made and put beside them.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from golden.batch import run_commands
from golden.formats import (
    BLOCKED,
    EXPECTED,
    INPUTS,
    KEPT_RUNS,
    PGMNEMO,
    REPEAT,
    RESULTS,
    RUNS,
    SIGNED,
    SIGNING,
    VERSIONS,
)
from golden.reading import copy_inputs, make_repository, read_everything
from stores.standin import database
from versioned import versioned_server


def make_results(place: Path) -> None:
    """Put every result that is not there yet into `results`."""
    copy_inputs(place)
    wanted = {name: words for name, words in (RUNS | KEPT_RUNS).items() if not (RESULTS / name).exists()}
    _run(place, {name: (*words, "--folder", f"results/{name}") for name, words in wanted.items()})
    for made in sorted(place.glob("results/*")):
        shutil.copytree(made, RESULTS / made.name)
    if not (RESULTS / "repeat").exists():
        _run(place, {"repeat": REPEAT})
        _keep(place / "repeat", "repeat_*", RESULTS / "repeat")
    if not (RESULTS / "versions").exists():
        with versioned_server() as server:
            _run(place, {"versions": VERSIONS}, {"PGMNEMO_DSN": server.dsn}, code=3)
            with database(server.dsn, "2.0") as dsn:
                _run(place, {"pgmnemo": (*PGMNEMO, "--folder", "pgmnemo")}, {"PGMNEMO_DSN": dsn})
        shutil.copytree(place / "pgmnemo", RESULTS / "pgmnemo")
        shutil.copytree(place / "v", RESULTS / "versions")
    if not (RESULTS / "blocked").exists():
        _run(place, {"blocked": BLOCKED}, code=3)
        _keep(place / "blocked", "*_BLOCKED", RESULTS / "blocked")


def _keep(parent: Path, pattern: str, folder: Path) -> None:
    (made,) = parent.glob(pattern)
    shutil.copytree(made, folder)


def _run(
    place: Path, commands: Mapping[str, tuple[str, ...]], env: dict[str, str] | None = None, code: int = 0
) -> None:
    for name, outcome in run_commands(place, commands, env).items():
        if outcome.code not in (code, 1 if name == "team_failing" else code):
            sys.exit(f"{name} ended with {outcome.code}")


def make_attestation(place: Path) -> None:
    """Sign a result with a key that is not kept."""
    if (RESULTS / "canary_bm25.attestation.json").exists():
        return
    make_repository(place)
    _run(place, SIGNING)
    shutil.copy(place / f"{SIGNED}.attestation.json", RESULTS)
    shutil.copy(place.parent / "safe/key.pub", INPUTS / "golden.pub")


def make_expected(place: Path) -> None:
    """Put what machines read off the results into `expected`, a file for each command that has none yet."""
    EXPECTED.mkdir(exist_ok=True)
    for name, document in read_everything(place).items():
        path = EXPECTED / f"{name}.json"
        if not path.exists():
            path.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="golden-") as made:
        make_results(Path(made) / "made")
        make_attestation(Path(made) / "signing/repository")
        make_expected(Path(made) / "reading/repository")
