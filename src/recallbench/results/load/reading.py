"""A latency study read back from its folder."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from recallbench.errors import InputError
from recallbench.reading import document, parsed
from recallbench.results import manifest
from recallbench.results.load.levels import NAME, LatencyDocument

WRITTEN = "a folder that `recallbench latency` wrote"


def read_latency(folder: Path) -> LatencyDocument:
    """Return the study in a folder; raises InputError for another folder, and where a file was changed."""
    path = folder / NAME
    if not path.is_file():
        raise InputError(
            f"{folder} is no latency study",
            expected=f"{WRITTEN}, with its {NAME}",
            found=f"no {NAME}" if folder.is_dir() else "no such folder",
            remedy="recallbench latency CORPUS",
        )
    if changed := manifest.differences(folder):
        raise InputError(
            f"{folder} was changed after it was written",
            expected="the files that its manifest names",
            found="; ".join(changed),
            remedy="make the study again with `recallbench latency`",
        )
    try:
        return LatencyDocument.model_validate(parsed(document(path), path))
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{path} is no latency study of this release",
            expected=WRITTEN,
            found=f"{'.'.join(map(str, first['loc']))}: {first['msg']}",
            remedy="make the study again with `recallbench latency`",
        ) from None
