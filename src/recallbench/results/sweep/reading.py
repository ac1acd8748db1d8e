"""A sweep read back from its folder."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from recallbench.errors import InputError
from recallbench.reading import document, parsed
from recallbench.results import manifest
from recallbench.results.sweep.document import NAME, SweepDocument

_WRITTEN = "a folder that `recallbench sweep` wrote"
_REMEDY = "make the sweep again with `recallbench sweep`: answers that are kept are not asked again"


def read_sweep(folder: Path) -> SweepDocument:
    """Return the sweep in a folder; raises InputError for another folder, and where a file was changed."""
    path = folder / NAME
    if not path.is_file():
        found = f"no {NAME}" if folder.is_dir() else "no such folder"
        raise InputError(f"{folder} is no sweep", expected=f"{_WRITTEN}, with its {NAME}", found=found, remedy=_REMEDY)
    if changed := manifest.differences(folder):
        raise InputError(
            f"{folder} was changed after it was written",
            expected="the files that its manifest names",
            found="; ".join(changed),
            remedy=_REMEDY,
        )
    try:
        return SweepDocument.model_validate(parsed(document(path), path))
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{path} is no sweep of this release",
            expected=_WRITTEN,
            found=f"{'.'.join(map(str, first['loc']))}: {first['msg']}",
            remedy=_REMEDY,
        ) from None
