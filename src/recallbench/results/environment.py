"""`environment.json`: the circumstances of a run. None of it may decide a number."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from recallbench.embedding.machine import cpu_model, version_of

FIELDS = frozenset(
    {"started", "ended", "recallbench_version", "command", "options", "git", "machine", "packages", "variables"}
    | {"embedding", "seconds", "cold_queries", "store_calls", "stages", "quantities", "prices"}
)
"""Its fields; earlier releases did not write recallbench_version, nor the quantities and prices, nor how
the store's calls were timed."""
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
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
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
