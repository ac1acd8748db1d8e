"""A folder as it is now, by every byte of it: what was audited is what is shown."""

from __future__ import annotations

import hashlib
from pathlib import Path

from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError


def folder_state(folder: Path) -> str:
    """Return a hash over all that lies in a folder, the targets of its links and what they hold included."""
    lines = []
    for path in sorted(folder.rglob("*")):
        link = str(path.readlink()) if path.is_symlink() else ""
        held = sha256_of(path) if path.is_file() else "no file"
        lines.append(f"{path.relative_to(folder).as_posix()}\0{link}\0{held}")
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def refuse_changed(folder: Path, state: str, name: str) -> None:
    """Raise InputError where a folder is no more as it was."""
    if folder_state(folder) != state:
        raise InputError(
            f"{name} changed while it was read",
            expected="a folder that nobody writes to",
            found="other bytes than before",
            remedy="make the site again",
        )
