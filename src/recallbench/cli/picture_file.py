"""The file of --plot, refused before a store works for an hour."""

from __future__ import annotations

from pathlib import Path

from recallbench.errors import UsageError
from recallbench.whole_file import check_place


def check_picture(plot: Path | None) -> None:
    """Raise UsageError where --plot names no file of SVG, and InputError where its folder is not there."""
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
    check_place(plot)
    if plot.is_dir():
        raise UsageError("--plot names a folder", expected="a file that ends in .svg", found=str(plot))
