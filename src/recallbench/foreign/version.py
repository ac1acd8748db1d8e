"""The versions that a foreign folder names, claims, and states as measured."""

from __future__ import annotations

from collections.abc import Iterator

from recallbench.audit.gate import Check
from recallbench.audit.named_version import alike, leading_version, version_in
from recallbench.foreign.case import ForeignCase, check

MEASURED = "pgmnemo_version"
CLAIMED = "version"
LABEL = "run_label"


def check_version(case: ForeignCase) -> Iterator[Check]:
    """Fail where two versions differ; it can't be told where one is named and none is stated as measured."""
    stated = case.imported.facts
    named = {
        "the folder is named": version_in(case.imported.folder.resolve().name),
        f"its field {CLAIMED} says": version_in(stated.get(CLAIMED, "")),
        # A label may also name versions of other things.
        f"its field {LABEL} says": leading_version(stated.get(LABEL, "")),
    }
    named_by = {place: version for place, version in named.items() if version}
    measured = version_in(stated.get(MEASURED, "")) or version_in(f"v{stated.get(MEASURED, '')}")
    if not named_by:
        yield check("RB-F-VERSION", "version as measured", "pass", "neither folder nor field names one")
        return
    versions = [*named_by.values(), *([measured] if measured else [])]
    text = ", ".join(f"{place} {version}" for place, version in named_by.items())
    text += f", measured was {measured}" if measured else f"; no {MEASURED} is stated"
    if any(not alike(version, versions[-1]) for version in versions):
        yield check("RB-F-VERSION", "version as measured", "fail", text)
    else:
        yield check("RB-F-VERSION", "version as measured", "pass" if measured else "cannot-tell", text)
