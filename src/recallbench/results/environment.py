"""`environment.json`: the circumstances of a run. None of it may decide a number."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from recallbench.embedding.machine import cpu_model

PACKAGES = (
    "numpy",
    "torch",
    "openvino",
    "sentence-transformers",
    "transformers",
    "psycopg",
    "pgvector",
    "bm25s",
    "ijson",
)


def git_state(folder: Path) -> dict[str, str | bool]:
    """Commit and cleanliness of the checkout a folder lies in; empty outside one or without git."""
    if shutil.which("git") is None:
        return {}
    while not folder.exists():
        folder = folder.parent
    asked = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if asked.returncode:
        return {}
    changed = subprocess.run(
        ["git", "-C", str(folder), "status", "--porcelain", "--untracked-files=no"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {"commit": asked.stdout.strip(), "clean": not changed.stdout.strip()}


def packages() -> dict[str, str]:
    """Versions of the installed packages that take part in a run."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def machine() -> dict[str, object]:
    """Hardware and system."""
    return {
        "python": sys.version.split()[0],
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
    }
