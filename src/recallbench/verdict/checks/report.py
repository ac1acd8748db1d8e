"""report.md tells what the re-scored figures tell."""

from collections.abc import Iterator, Sequence

from recallbench import __version__
from recallbench.results.reading import lines
from recallbench.results.report import CIRCUMSTANCES, DEVIATIONS, GATES, HEADLINE, reproducible
from recallbench.verdict.case import Case
from recallbench.verdict.examination import Examination, listed
from recallbench.verdict.gate import Finding

_Table = tuple[list[str], list[list[str]]]


def report(case: Case) -> Finding:
    stated = [line for _, line in lines(case.folder / "report.md")]
    end = next((i for i, line in enumerate(stated) if line == CIRCUMSTANCES), len(stated))
    told, derived = stated[:end], reproducible(case.derived).splitlines()
    same_program = case.metrics.recallbench_version == __version__
    found = list(_lines(told, derived) if same_program else _essentials(told, derived))
    if end == len(stated):
        found.append(f"no section {CIRCUMSTANCES}")
    # Nothing may hide behind the one section that is not held to anything.
    found += [
        f"line {end + 1 + offset}: a heading behind {CIRCUMSTANCES}"
        for offset, line in enumerate(stated[end:])
        if offset and line.startswith("#")
    ]
    cells = sum(len(row) for _, rows in _found(derived) for row in rows)
    return listed(found, f"{cells} cells of its tables as re-scored, at the printed precision")


def _lines(stated: Sequence[str], derived: Sequence[str]) -> Iterator[str]:
    """Every line, where the same program wrote both."""
    derived = [*derived, ""]  # what parts it from the next section
    for number, (one, other) in enumerate(zip(stated, derived, strict=False), start=1):
        if one != other:
            yield f"line {number}: {_parting(one, other)}"
    if len(stated) != len(derived):
        yield f"{len(stated)} lines before {CIRCUMSTANCES}, {len(derived)} follow from the figures"


def _essentials(stated: Sequence[str], derived: Sequence[str]) -> Iterator[str]:
    """Title, deviations and every table, where another release may have worded the rest otherwise."""
    lines = set(stated)
    first = derived.index(HEADLINE)
    last = derived.index(GATES)
    for line in (*derived[:first], *derived[derived.index(DEVIATIONS) : last]):
        if line not in lines:
            yield f"“{line[:80]}” is missing"
    yield from _tables(stated, derived)


def _tables(stated: Sequence[str], derived: Sequence[str]) -> Iterator[str]:
    """Every cell that both have, by row and column, where another release may have worded things otherwise."""
    known = {tuple(header): rows for header, rows in _found(derived)}
    compared = 0
    for header, rows in _found(stated):
        if tuple(header) not in known:
            yield f"a table with the columns {', '.join(header)}, which this release does not work out"
            continue
        compared += 1
        should = {row[0]: row for row in known[tuple(header)]}
        for row in rows:
            derived_row = should.get(row[0], ["nothing"])
            if row != derived_row:
                yield f"table row {row[0]}: {' | '.join(row)} stated, {' | '.join(derived_row)} follows"
    if compared < len(known):
        yield f"{len(known) - compared} tables are missing"


def _found(text: Sequence[str]) -> Iterator[_Table]:
    """Header and rows of each Markdown table that has a header."""
    header: list[str] | None = None
    rows: list[list[str]] = []
    for line in [*text, ""]:
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if header is None:
                header, rows = cells, []
            elif set(line) - set("|- :"):
                rows.append(cells)
        elif header is not None:
            if any(header):
                yield header, rows
            header = None


def _parting(one: str, other: str) -> str:
    """Both lines from a little before the place where they part."""
    place = next(
        (i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )
    start = max(0, place - 30)
    return f"“{one[start : place + 40]}” stated, “{other[start : place + 40]}” follows"


REPORT = Examination(
    "RB-REPORT", "report", "every table and sentence of report.md as the re-scored figures tell it", report
)
