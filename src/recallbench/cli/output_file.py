"""Files that a command writes where its user says."""

from __future__ import annotations

from pathlib import Path

from recallbench.errors import UsageError
from recallbench.whole_file import write_errors, write_whole


def write_output(path: Path, text: str, *, overwrite: bool = True) -> None:
    """Write the file whole; raises InputError where that can't be. A link to an older one stays a link."""
    with write_errors(
        f"{path} can't be written", expected="a file in a folder that may be written to", remedy="name another file"
    ):
        write_whole(path.resolve() if overwrite else path, text, overwrite=overwrite)


def refuse_no_picture(plot: Path | None) -> None:
    """Raise UsageError where --plot names no file that an SVG can be written to: before a store works for an hour."""
    if plot is None:
        return
    if plot.suffix.lower() != ".svg":
        named = plot.with_suffix(".svg") if plot.name else "picture.svg"
        raise UsageError(
            "--plot draws SVG",
            expected="a file that ends in .svg",
            found=str(plot),
            remedy=f"--plot {named}; for a page: --format html > FILE.html",
        )
    if plot.is_dir():
        raise UsageError("--plot names a folder", expected="a file that ends in .svg", found=str(plot))
