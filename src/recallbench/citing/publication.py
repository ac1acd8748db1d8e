"""The check that HISTORY.md records every deviation of a result that is to be published."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from recallbench.audit.gate import Check
from recallbench.errors import InputError
from recallbench.protocol.deviations import Deviation
from recallbench.protocol.history import NAME, nearest, unrecorded
from recallbench.reading import document

CODE = "RB-HISTORY"
REQUIRED = f"an entry of {NAME} names each deviation, before anything is published"


def deviation(text: str) -> Deviation:
    """Return the deviation that an audit writes as `<kind>: <detail>`; raises ValueError for any other text."""
    kind, _, detail = text.partition(": ")
    return Deviation(kind, detail)


def lacking(deviations: Iterable[str], corpus: str, folder: Path, history: Path | None = None) -> list[str]:
    """Return the names of the deviations that HISTORY.md, by default the nearest above the folder, does not record."""
    file = history or nearest(folder)
    missing = unrecorded(map(deviation, deviations), "" if file is None else read_text(file), corpus)
    return [one.name for one in missing]


def published(deviations: Iterable[str], corpus: str, folder: Path, history: Path | None = None) -> Check:
    """Check that HISTORY.md, by default the nearest above the folder, records each deviation for the corpus."""

    def check(status: bool, observed: str) -> Check:
        remedy = "" if status else "recallbench history add"
        return Check("deviations on record", "pass" if status else "fail", REQUIRED, observed, code=CODE, remedy=remedy)

    texts = tuple(deviations)
    if not texts:
        return check(True, "no deviation")
    file = history or nearest(folder)
    try:
        missing = lacking(texts, corpus, folder, history)
    except InputError as error:
        return check(False, f"{error.problem} ({error.found})" if error.found else error.problem)
    except ValueError as error:
        return check(False, str(error))
    if missing:
        names = ", ".join(f"`{name} on {corpus}`" for name in missing)
        where = f"no {NAME} lies in {folder.name} or above it to" if file is None else f"{file.name} does not"
        return check(False, f"{where} name {names}; put it on record with `recallbench history add`")
    return check(True, f"{NAME if file is None else file.name} names all {len(texts)}")


def read_text(file: Path) -> str:
    """Return a text file; raises InputError where it can't be read."""
    try:
        # benchmarks/HISTORY.md is a link to the one of the repository, which lies above it.
        return document(file.resolve()).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8", expected="a text file", found=str(error), remedy="mend it") from None
