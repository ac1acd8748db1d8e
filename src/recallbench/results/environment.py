"""`environment.json`: the circumstances of a run. None of it may decide a number."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from recallbench.embedding.machine import cpu_model, version_of
from recallbench.machine_load import MachineLoad
from recallbench.reading import is_finite

FIELDS = frozenset(
    {"started", "ended", "recallbench_version", "command", "options", "git", "machine", "packages", "variables"}
    | {"embedding", "pack", "seconds", "cold_queries", "store_calls", "machine_load", "stages", "quantities", "prices"}
)
"""Its fields; earlier releases did not write recallbench_version, nor the quantities and prices, nor how
the store's calls were timed, nor what else the machine did."""
LOAD = "machine_load"
PACK = "pack"
PACKAGES = (
    "numpy",
    "torch",
    "openvino",
    "transformers",
    "psycopg",
    "pgvector",
    "bm25s",
    "ijson",
)


def load_document(load: MachineLoad | None) -> dict[str, object]:
    """Return what else the machine did, as a field; none where it is not known."""
    if load is None:
        return {}
    stated = asdict(load)
    return {LOAD: {name: round(value, 4) if isinstance(value, float) else value for name, value in stated.items()}}


def recorded_load(environment: Mapping[str, Any]) -> MachineLoad | None:
    """Return what a run told of its machine; None where it told nothing, or what no run tells."""
    stated = environment.get(LOAD)
    if not isinstance(stated, Mapping) or stated.keys() != {field.name for field in fields(MachineLoad)}:
        return None
    load = MachineLoad(**stated)
    numbers = (load.seconds, load.others, load.steal, load.load_average)
    whole = is_finite(load.seconds) and type(load.cores) is int and load.throttled in (None, False, True)
    return load if whole and all(value is None or (is_finite(value) and value >= 0) for value in numbers) else None


def named_servers(options: Any) -> tuple[str, ...]:
    """Return the Postgres servers that recorded options name; none where they name none or can't be read."""
    stated = options.get("dsn") if isinstance(options, Mapping) else None
    return tuple(map(str, stated)) if isinstance(stated, list) else (str(stated),) if stated else ()


def git_state(folder: Path, only: str | None = None) -> dict[str, str | bool]:
    """Return commit and cleanliness of the checkout that a folder lies in; empty outside one or without git.

    `only` limits it to that part, untracked files included; empty where git does not track the part at all.
    """
    if shutil.which("git") is None:
        return {}
    folder = folder.resolve()
    while not folder.exists():
        folder = folder.parent

    def ask(*words: str) -> str | None:
        # Without its lock: somebody may commit in that checkout at this moment.
        command = ["git", "--no-optional-locks", "-C", str(folder), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return None if done.returncode else done.stdout.strip()

    commit = ask("rev-parse", "HEAD")
    if commit is None or (only and not ask("ls-files", "--", only)):
        return {}
    changed = ask("status", "--porcelain", *(["--", only] if only else ["--untracked-files=no"]))
    return {"commit": commit, "clean": not changed}


def packages() -> dict[str, str]:
    """Return the versions of the installed packages that take part in a run."""
    return {name: version_of(name) or "not installed" for name in PACKAGES}


def machine() -> dict[str, object]:
    """Return facts of hardware and system."""
    return {
        "python": sys.version.split()[0],
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
    }
