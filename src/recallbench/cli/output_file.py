"""Files that a command writes where its user says."""

from __future__ import annotations

from pathlib import Path

from recallbench.whole_file import write_errors, write_whole


def write_output(path: Path, text: str, *, overwrite: bool = True) -> None:
    """Write the file whole; raises InputError where that can't be. A link to an older one stays a link."""
    with write_errors(
        f"{path} can't be written", expected="a file in a folder that may be written to", remedy="name another file"
    ):
        write_whole(path.resolve() if overwrite else path, text, overwrite=overwrite)
