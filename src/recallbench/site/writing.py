"""The folder of a site: whole or absent, and never in the place of anything but a site."""

from __future__ import annotations

import ctypes
import errno
import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from recallbench import __version__
from recallbench.confidential import concealed
from recallbench.errors import UsageError
from recallbench.escaping.document import json_text
from recallbench.scratch import scratch
from recallbench.site.places import MARK
from recallbench.whole_file import write_errors

_AT_CWD, _EXCHANGE = -100, 2
"""Of renameat2: paths as they are, and both change places in one step."""
_CANT = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})


def refuse_other(folder: Path) -> None:
    """Raise UsageError where a folder exists that no site was written to, or that holds something else too."""
    if not folder.exists() and not folder.is_symlink():
        return
    others = _others(folder)
    if others:
        raise UsageError(
            f"{folder} exists already, and is no site",
            expected="a folder that does not exist, or one that this command wrote",
            found=others,
            remedy="name another --out",
        )


def write_site(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a site, which take the place of an earlier one at once; the same files are the same bytes."""
    problem = f"the site can't be written to {folder}"
    with write_errors(problem, expected="a writable place with room for it", remedy="name another place with --out"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch(folder.parent) as room:
            draft = room / "site"
            draft.mkdir()
            contents = {name: concealed(text).encode() for name, text in sorted(files.items())}
            for name, content in contents.items():
                (draft / name).write_bytes(content)
            hashes = {name: sha256(content).hexdigest() for name, content in contents.items()}
            marked = {"schema_version": "1", "recallbench_version": __version__, "files": hashes}
            (draft / MARK).write_text(json_text(marked, indent=1) + "\n", encoding="utf-8", newline="\n")
            refuse_other(folder)  # again: it took a while
            if folder.exists():
                _exchange(draft, folder, room / "former")
            else:
                draft.rename(folder)


def _others(folder: Path) -> str:
    """Return what a folder holds beside a site; empty where it is one and nothing else."""
    if folder.is_symlink() or not folder.is_dir():
        return "a link" if folder.is_symlink() else "a file"
    try:
        stated = json.loads((folder / MARK).read_bytes())
        known = {MARK, *stated["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return f"a folder without a {MARK} of a site"
    strange = sorted(path.name for path in folder.iterdir() if path.name not in known or path.is_dir())
    return f"files that are no part of a site: {', '.join(strange[:5])}" if strange else ""


def _exchange(draft: Path, folder: Path, former: Path) -> None:
    """Put a draft in the place of a folder, in one step where the system knows how."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None:
        if not rename(_AT_CWD, os.fsencode(draft), _AT_CWD, os.fsencode(folder), _EXCHANGE):
            return
        if ctypes.get_errno() not in _CANT:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
    folder.rename(former)
    try:
        draft.rename(folder)
    except OSError:
        former.rename(folder)
        raise
