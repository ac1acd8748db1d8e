"""report.md tells what the re-scored figures tell, and its last section what was recorded."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from recallbench import __version__
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.escaping.terminal import hidden
from recallbench.reading import lines, objects
from recallbench.reports.report import CIRCUMSTANCES, ReportedRun, render
from recallbench.retrieval.timing import QueryTime, Timings
from recallbench.scoring.editions import CURRENT

_NUMBER = re.compile(r"[0-9]+\.[0-9]+")
_FIGURE = re.compile(
    r"`[^`]*`|\*\*[^*]*\*\*|\b[0-9a-f]{12,}\b|(?<![\w.])[-+vp]?[0-9]+(?:[.,:T][0-9]+)*%?|–"
    r"|(?:not )?\bCANONICAL\b|\b(?:(?:UN)?VERIFIED|BLOCKED|pass|fail|pending|cannot-tell)\b"
)
"""What a line says beside its words: figures, hashes, versions, what is quoted or in bold, and how it was decided."""
_MARKUP = re.compile(r"^ {0,3}(?:#|>|~~~|```|=+\s*$|-+\s*$)|<[A-Za-z/!?]|\][(:\[]|^\[|&#?\w+;")
"""Headings, quotations, tags, links: words may have moved on since a report was written, these can't have."""


def report(subject: AuditSubject) -> Finding:
    stated = [line for _, line in lines(subject.folder / "report.md")]
    derived = (
        render(subject.derived, ReportedRun(subject.environment, _timings(subject))).removesuffix("\n").split("\n")
    )
    earlier = subject.metrics.statistics_edition != CURRENT.number
    problems = list(_figures_parted(stated, derived) if earlier else _parted(stated, derived))
    if problems and subject.metrics.recallbench_version != __version__:
        problems.append(
            f"it was written by release {subject.metrics.recallbench_version}, this is {__version__}: audit with that"
        )
    cells = sum(line.count("|") - 1 for line in derived if line.startswith("|"))
    return pass_unless(
        problems, f"{len(derived)} lines and {cells} cells of tables as worked out again, at the printed precision"
    )


def _timings(subject: AuditSubject) -> Timings:
    """As kept: in the file they have a few digits less than the report was made from."""
    timings = Timings(cold=str(subject.environment.get("cold_queries", "timed")).removeprefix("timed"))
    for _, row in objects(subject.folder / "timings.jsonl"):
        if "phase" in row:
            timings.phases[str(row["phase"])] = float(row["seconds"])
        else:
            timings.sample.append(QueryTime(str(row["question_id"]), str(row["state"]), float(row["ms"])))
    return timings


def _parted(stated: Sequence[str], derived: Sequence[str]) -> Iterator[str]:
    circumstances = derived.index(CIRCUMSTANCES)
    for number, (one, other) in enumerate(zip(stated, derived, strict=False)):
        alike = _rounded(one, other) if number > circumstances else one == other
        if not alike:
            yield f"line {number + 1}: {_parting(one, other)}"
    if len(stated) != len(derived):
        yield f"{len(stated)} lines, {len(derived)} follow"


def _figures_parted(stated: Sequence[str], derived: Sequence[str]) -> Iterator[str]:
    """Section by section what is figured and named; words may have moved on since the report was written."""
    ours, theirs = _figures(stated), _figures(derived)
    for heading in dict.fromkeys([*theirs, *ours]):
        alike = _rounded if heading == CIRCUMSTANCES else str.__eq__
        pairs = zip_longest(ours.get(heading, ()), theirs.get(heading, ()), fillvalue="nothing")
        for number, (one, other) in enumerate(pairs, 1):
            if not alike(one, other):
                yield f"{heading.removeprefix('## ')}, figure {number}: {one} stated, {other} follows"
                break  # one left out or added moves all that come after it
    known = set(derived)
    for number, line in enumerate(stated, 1):
        if line not in known and (hidden(line) or _MARKUP.search(line)):
            yield f"line {number}: markup that no report has: {line[:60]}"


def _figures(report: Iterable[str]) -> dict[str, list[str]]:
    """Return the figures under each heading, in order; those above the first are under an empty one."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in report:
        heading = line if line.startswith("## ") else heading
        found.setdefault(heading, []).extend(_FIGURE.findall(line))
    return found


def _rounded(one: str, other: str) -> bool:
    """The same but for the last printed digit of a time."""
    if one == other:
        return True
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(
        len(a) - a.index(".") == len(b) - b.index(".")
        and abs(float(a) - float(b)) < 1.5 * 10.0 ** (1 + a.index(".") - len(a))
        for a, b in pairs
    )


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
