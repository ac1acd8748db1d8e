"""The baseline: a stored result that later ones are compared with."""

from __future__ import annotations

import shutil
from pathlib import Path

from recallbench.errors import UsageError
from recallbench.results import manifest
from recallbench.results.folder import staged
from recallbench.results.result import open_result
from recallbench.scratch import scratch, sweep


def store(result: Path, place: Path, *, replace: bool) -> str:
    """Copy a result to `place`, and return what was done; raises UsageError for another one there without `replace`."""
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
    before, now = (open_result(folder).content_sha256 for folder in (place, result))
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
    """Copy the result to its place. What stands there is moved aside only when the copy is complete."""
    with staged(place) as draft:
        for path in sorted(result.iterdir()):
            shutil.copyfile(path, draft.place / path.name)
        if aside is not None:
            place.rename(aside)


def _restore(place: Path, aside: Path) -> None:
    """Move a baseline that a killed run left aside back to its place, or remove it where another one stands there."""
    if not (aside / manifest.NAME).is_file():
        return
    if place.exists():
        # Moved before it is removed: a half-removed baseline could not be told from a folder of the user's.
        with scratch(aside.parent) as room:
            aside.rename(room / aside.name)
    else:
        aside.rename(place)


def _same_place(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
