"""Studies read back from their folders, each by the document that it leaves there."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from recallbench.errors import InputError
from recallbench.reading import document, parsed
from recallbench.results import manifest

MATRIX = "matrix.json"
Document = TypeVar("Document", bound=BaseModel)


def read_study(folder: Path, name: str, kind: type[Document], what: str, command: str) -> Document:
    """Return the document of that name in a folder; raises InputError for another folder, and where a file was changed.

    `what` is the study in words, and `command` makes it.
    """
    path = folder / name
    written = f"a folder that `recallbench {command.split()[0]}` wrote"
    again = f"make the study again with `recallbench {command}`: what is kept is not measured again"
    if not path.is_file():
        raise InputError(
            f"{folder} is no {what}",
            expected=f"{written}, with its {name}",
            found=f"no {name}" if folder.is_dir() else "no such folder",
            remedy=f"recallbench {command}",
        )
    if changed := manifest.differences(folder):
        raise InputError(
            f"{folder} was changed after it was written",
            expected="the files that its manifest names",
            found="; ".join(changed),
            remedy=again,
        )
    try:
        return kind.model_validate(parsed(document(path), path))
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{path} is no {what} of this release",
            expected=written,
            found=": ".join(
                filter(None, (".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")))
            ),
            remedy=again,
        ) from None
