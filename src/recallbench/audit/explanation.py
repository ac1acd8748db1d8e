"""What each check looks at, by its code: for whoever reads an audit and has nothing but the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recallbench.errors import UsageError
from recallbench.nearest_name import nearest_name
from recallbench.reading import toml
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.printed import Printed
from recallbench.reports.table import Table

ALL = "all"
"""In place of a code: every one."""
_FILE = Path(__file__).with_name("explained.toml")


@dataclass(frozen=True, slots=True)
class Explanation:
    """One check: when it passes, and what it means when it fails."""

    passes: str
    fails: str = ""
    """Empty for a check of another tool's folder, where that is the plain contrary."""


@cache
def explanations() -> Mapping[str, Explanation]:
    """Return the explanation of every check by its code, in the order of an audit."""
    return {code: Explanation(**texts) for code, texts in toml(_FILE.read_text("utf-8")).items()}


def explained(codes: Sequence[str]) -> Printed:
    """Return what these checks look at; raises UsageError for a code that no check has."""
    known = explanations()
    chosen = [name for code in codes for name in (known if code == ALL else [_known(code)])]
    rows = [(code, known[code].passes, known[code].fails) for code in dict.fromkeys(chosen)]
    lines = [
        line
        for code, passes, fails in rows
        for line in (code, f"  passes when:   {passes}", *([f"  when it fails: {fails}"] if fails else []))
    ]
    sheet = Table(("code", "passes when", "when it fails"), rows)
    document = {"checks": [{"code": code, "passes": passes, "fails": fails} for code, passes, fails in rows]}
    happened = f"{rows[0][0]} is one of {len(known)} checks" if len(rows) == 1 else f"{len(rows)} checks"
    conclusion = Conclusion(happened, next="recallbench audit DIR --verbose, to see what each found")
    return Printed(
        "Checks of an audit", lines, document, conclusion, own_markdown="\n".join(sheet.markdown()), own_sheet=sheet
    )


def _known(code: str) -> str:
    known = explanations()
    if code.upper() in known:
        return code.upper()
    near = nearest_name(code, known)
    raise UsageError(
        f"no check has the code {code}",
        expected=f"a code such as {next(iter(known))}, or {ALL}",
        found=code,
        remedy=f"did you mean {near}?" if near else f"recallbench audit --explain {ALL} lists them",
    )
