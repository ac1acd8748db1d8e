"""Downloads: a corpus file is in its place whole and with the registered sha256, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from recallbench.corpora.location import DATA_DIR, data_folder
from recallbench.corpora.release import Release
from recallbench.corpora.sources import Download, from_repository
from recallbench.corpora.stream import sha256_of
from recallbench.errors import Blocked, InputError
from recallbench.progress import Progress, Silent
from recallbench.protocol.rules import CorpusRules
from recallbench.whole_file import draft_of, write_errors


def fetch_file(
    rules: CorpusRules, download: Download, environ: Mapping[str, str], progress: Progress | None = None
) -> Path:
    """Return the registered file in the data folder, downloaded unless it is there; raises Blocked without it."""
    progress = progress or Silent()
    target = data_folder(environ) / rules.file
    if target.is_file():
        if (actual := sha256_of(target)) != rules.sha256:
            raise _wrong_file(rules, str(target), actual, f"move {target} away, then `recallbench fetch {rules.name}`")
        progress.note(f"{target} is there already, with the registered sha256")
        return target
    unwritable = write_errors(
        f"{target}: can't be written",
        expected="a data folder with room for the file",
        remedy=f"free space or permissions there, or name another folder in {DATA_DIR}",
        kind=Blocked,
    )
    with unwritable, draft_of(target) as body:
        download(rules, body, environ, progress)
        if (actual := sha256_of(body)) != rules.sha256:
            again = f"`recallbench fetch {rules.name}` again; if it stays so, the source no longer has this file"
            raise _wrong_file(rules, f"the downloaded {rules.file}", actual, again)
    progress.note(f"{target}: sha256 {rules.sha256}, as registered")
    return target


def fetch_release(
    rules: CorpusRules, release: Release, environ: Mapping[str, str], progress: Progress | None = None
) -> Path:
    """Return the folder with every file of a release; those that are there already with their hash are not asked for.

    A download that was cut off goes on with the next file. Raises Blocked where one can't be had.
    """
    progress = progress or Silent()
    root = data_folder(environ) / release.folder
    for name, sha256 in release.files.items():
        if (present := root / name).is_file() and (actual := sha256_of(present)) != sha256:
            remedy = f"move {present} away, then `recallbench fetch {rules.name}`"
            raise _wrong_file(replace(rules, sha256=sha256), str(present), actual, remedy)
    missing = {name: sha256 for name, sha256 in release.files.items() if not (root / name).is_file()}
    unwritable = write_errors(
        f"{root}: can't be written",
        expected="a data folder with room for the files",
        remedy=f"free space or permissions there, or name another folder in {DATA_DIR}",
        kind=Blocked,
    )
    with unwritable, progress.stage(f"fetching {rules.name}", len(missing), "files") as advance:
        for name, sha256 in missing.items():
            single = replace(rules, file=name, sha256=sha256)
            with draft_of(root / name) as body:
                from_repository(single, body, environ, Silent())
                if (actual := sha256_of(body)) != sha256:
                    again = f"`recallbench fetch {rules.name}` again; if it stays so, the source has it no longer"
                    raise _wrong_file(single, f"the downloaded {name}", actual, again)
            advance(1)
    progress.note(f"{root}: {len(release.files)} files, each with its registered sha256, {rules.sha256} over all")
    return root


def _wrong_file(rules: CorpusRules, what: str, found: str, remedy: str) -> InputError:
    return InputError(
        f"{what} is not the registered file of {rules.name}",
        expected=f"sha256 {rules.sha256}",
        found=f"sha256 {found}",
        remedy=remedy,
    )
