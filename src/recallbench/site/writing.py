"""The folder of a site: whole or absent, and never in the place of anything but a site."""

from __future__ import annotations

import json
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
from recallbench.whole_folder import replace_folder, strangers


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
            remedy="name another --folder",
        )


def write_site(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a site, which take the place of an earlier one at once; the same files are the same bytes."""
    problem = f"the site can't be written to {folder}"
    with write_errors(problem, expected="a writable place with room for it", remedy="name another place with --folder"):
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
            replace_folder(draft, folder, _known(folder) if folder.exists() else (), MARK)


def _others(folder: Path) -> str:
    """Return what a folder holds beside a site; empty where it is one and nothing else."""
    if folder.is_symlink() or not folder.is_dir():
        return "a link" if folder.is_symlink() else "a file"
    try:
        strange = strangers(folder, _known(folder))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return f"a folder without a {MARK} of a site"
    return f"files that are no part of a site: {', '.join(strange[:5])}" if strange else ""


def _known(folder: Path) -> set[str]:
    """Return the names of a site's files, as it states them."""
    return {MARK, *map(str, json.loads((folder / MARK).read_bytes())["files"])}
