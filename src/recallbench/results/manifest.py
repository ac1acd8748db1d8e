"""`manifest.json`: the hash of every file of a result, and one over those that a repeat must reproduce."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from recallbench.corpora.stream import sha256_of as file_sha256
from recallbench.errors import InputError
from recallbench.reading import document, parsed

NAME = "manifest.json"
VARYING = frozenset({"environment.json", "timings.jsonl", "report.md", "report.html"})
"""Files of times and circumstances; all others are byte-identical for the same vectors, store and settings."""


def content_sha256(files: dict[str, str]) -> str:
    """Return one hash over the names and hashes of the files that do not vary."""
    lines = [f"{name} {sha256}\n" for name, sha256 in sorted(files.items()) if name not in VARYING]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def build(folder: Path) -> str:
    """Return the manifest of the files in a folder."""
    files = {path.name: file_sha256(path) for path in sorted(folder.iterdir()) if path.name != NAME}
    return json.dumps({"files": files, "content_sha256": content_sha256(files)}, indent=1) + "\n"


def read(path: Path) -> tuple[dict[str, str], str]:
    """Return the hash of each file, and that over those that do not vary; raises InputError for a bad manifest."""
    stated = parsed(document(path), path)
    files, content = stated.get("files"), stated.get("content_sha256")
    whole = (
        isinstance(files, dict) and all(isinstance(file, str) for file in files.values()) and isinstance(content, str)
    )
    if not whole or stated.keys() != {"files", "content_sha256"}:
        raise InputError(
            f"{path} is not a manifest",
            expected='a JSON object with "files" and "content_sha256" alone',
            found=f"{', '.join(stated) or 'an empty object'}",
            remedy="make the result again with `recallbench run`",
        )
    return dict(files or {}), str(content)


def differences(folder: Path) -> list[str]:
    """Return the differences between a folder and its manifest, a line each."""
    path = folder / NAME
    if not path.exists() and not path.is_symlink():
        return [f"{NAME} is missing"]
    files, content = read(path)
    present = {entry.name for entry in folder.iterdir() if entry.name != NAME}
    problems = [f"{name} is missing" for name in sorted(files.keys() - present)]
    problems += [f"{name} is not in the manifest" for name in sorted(present - files.keys())]
    for name in sorted(present & files.keys()):
        actual = file_sha256(folder / name) if (folder / name).is_file() else "not a file"
        if actual != files[name]:
            problems.append(f"{name} has sha256 {actual}, the manifest says {files[name]}")
    if content != content_sha256(files):
        problems.append(f"content_sha256 is {content_sha256(files)}, the manifest says {content}")
    return problems
