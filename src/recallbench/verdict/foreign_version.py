"""Which version a foreign folder is of: by its name, by what it claims, and by what it states was measured."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recallbench.verdict.foreign_case import ForeignCase, check
from recallbench.verdict.gate import Check

MEASURED = "pgmnemo_version"
CLAIMED = "version"
_VERSION = re.compile(r"(?<![\w.])v?([0-9]+(?:\.[0-9]+)+)(?![.\d])|(?<![\w.])v([0-9]+)(?![\d])", re.IGNORECASE)


def version(case: ForeignCase) -> Iterator[Check]:
    """Failed where two of them differ; can't be told where one is named and none is stated as measured."""
    stated = case.imported.facts
    named = {
        "the folder is named": version_in(case.imported.folder.name),
        f"its field {CLAIMED} says": version_in(stated.get(CLAIMED, "")),
    }
    told = {place: found for place, found in named.items() if found}
    measured = version_in(stated.get(MEASURED, "")) or version_in(f"v{stated.get(MEASURED, '')}")
    if not told:
        yield check("RB-F-VERSION", "version as measured", "pass", "neither folder nor field names one")
        return
    versions = [*told.values(), *([measured] if measured else [])]
    text = ", ".join(f"{place} {found}" for place, found in told.items())
    text += f", measured was {measured}" if measured else f"; no {MEASURED} is stated"
    if any(not _alike(one, versions[-1]) for one in versions):
        yield check("RB-F-VERSION", "version as measured", "fail", text)
    else:
        yield check("RB-F-VERSION", "version as measured", "pass" if measured else "cannot-tell", text)


def version_in(text: str) -> str:
    """The first version that a text names, as 0.4.1; a single number only behind a v."""
    found = _VERSION.search(text.replace("_", " ").replace("-", " "))
    return (found[1] or found[2]) if found else ""


def _alike(one: str, other: str) -> bool:
    """Equal as far as both go: 0.4 is 0.4.1, and v062 is 0.6.2."""
    if "." not in one or "." not in other:
        one, other = one.replace(".", ""), other.replace(".", "")
        return one.lstrip("0") == other.lstrip("0")
    return all(int(a) == int(b) for a, b in zip(one.split("."), other.split("."), strict=False))
