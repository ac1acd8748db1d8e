"""A result kept as the baseline that later ones are compared with."""

from __future__ import annotations

import shutil
from pathlib import Path

from recallbench.errors import UsageError
from recallbench.results import manifest
from recallbench.results.folder import staged
from recallbench.results.result import open_result
from recallbench.scratch import scratch, sweep


def store(result: Path, place: Path, *, replace: bool) -> str:
    """Copy a whole result to `place`, and say what happened; another one there is kept unless it is to be replaced."""
    if _same_place(result, place):
        raise UsageError(
            f"{place} is the result itself",
            expected="a baseline in a place of its own",
            found="one folder named as both",
            remedy="name another baseline",
        )
    sweep(place.parent)
    aside = place.with_name(f".{place.name}.before")
    _restore(place, aside)
    if not place.exists():
        _copy(result, place)
        return "stored"
    before, now = (open_result(one).content_sha256 for one in (place, result))
    if before == now and not manifest.differences(place):
        return "the same already"
    if not replace:
        raise UsageError(
            f"{place} holds another baseline",
            expected=f"content {now[:12]}, or --replace",
            found=f"content {before[:12]}",
            remedy="look at `recallbench compare` of both, then `recallbench gate --update --replace`",
        )
    try:
        _copy(result, place, aside)
    finally:
        _restore(place, aside)
    return "replaced"


def _copy(result: Path, place: Path, aside: Path | None = None) -> None:
    """Put a copy of the result into its place; what is there goes aside in the moment in which the copy is whole."""
    with staged(place) as draft:
        for path in sorted(result.iterdir()):
            shutil.copyfile(path, draft.place / path.name)
        if aside is not None:
            place.rename(aside)


def _restore(place: Path, aside: Path) -> None:
    """Put a baseline that is aside, perhaps by a run that was killed, back where none stands; else remove it."""
    if not (aside / manifest.NAME).is_file():
        return
    if place.exists():
        # Out of its place whole: one that is half removed could neither be put back nor be told from the user's own.
        with scratch(aside.parent) as room:
            aside.rename(room / aside.name)
    else:
        aside.rename(place)


def _same_place(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
