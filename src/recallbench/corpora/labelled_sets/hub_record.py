"""The record of a folder with files of the hub: their origin, and the sha256 that each must have."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from recallbench.corpora.location import data_folder
from recallbench.corpora.records import HubFiles
from recallbench.errors import InputError
from recallbench.reading import document, parsed
from recallbench.whole_file import write_whole

NAME = "hub.json"
_FOLDER = re.compile(r"(.+--.+)-([0-9a-f]{40})((?:\+[0-9a-f]{40})?)(?:-([\w.+-]+))?", re.ASCII)


def sets_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of hub sets."""
    return data_folder(environ) / "sets"


def fetched_folder(label: str, environ: Mapping[str, str]) -> Path | None:
    """Return the folder of a hub set that was fetched before, by the name of its corpus."""
    parts = _FOLDER.fullmatch(label)
    task = f"#{parts[4]}" if parts and parts[4] else ""
    folder = sets_folder(environ) / f"{parts[1]}@{parts[2]}{parts[3]}{task}" if parts else None
    return folder if folder is not None and (folder / NAME).is_file() else None


def read_record(folder: Path) -> HubFiles | None:
    """Return the record; None for a folder that is not of the hub. Raises InputError where it can't be read."""
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        stated = parsed(document(path), path)
        files, pinned = dict(stated["files"]), frozenset(stated["pinned"])
        repo, revision, judged, judged_at = (
            stated[name] for name in ("repo", "revision", "qrels_repo", "qrels_revision")
        )
        task = stated.get("task", "")
        fields = (repo, revision, judged, judged_at, task, *files, *files.values(), *pinned)
        if not all(isinstance(word, str) for word in fields):
            raise TypeError("not text")
        return HubFiles(repo, revision, judged, judged_at, files, pinned, task)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} can't be read",
            expected="the record of a hub set's files",
            found=f"{type(error).__name__}: {error}",
            remedy=f"remove {folder}, and evaluate the set by its hub name again",
        ) from None


def write_record(folder: Path, record: HubFiles) -> None:
    """Write the record whole."""
    text = json.dumps(
        {
            "repo": record.repo,
            "revision": record.revision,
            "qrels_repo": record.qrels_repo,
            "qrels_revision": record.qrels_revision,
            **({"task": record.task} if record.task else {}),
            "files": dict(sorted(record.files.items())),
            "pinned": sorted(record.pinned),
        },
        indent=1,
    )
    write_whole(folder / NAME, f"{text}\n")


def check_recorded(record: HubFiles | None, folder: Path, name: str, sha256: str) -> str:
    """Return the hash; raises InputError where the record has another one."""
    if record is not None and record.files.get(name) != sha256:
        raise InputError(
            f"{folder / name} is not the file of {record.repo} that was recorded",
            expected=f"sha256 {record.files.get(name, 'of a file in ' + NAME)}",
            found=f"sha256 {sha256}",
            remedy="remove that file, and evaluate "
            f"hub:{record.repo}@{record.revision}{f'#{record.task}' if record.task else ''} again: it is fetched anew",
        )
    return sha256
