"""report.md and report.html give the re-scored figures and the recorded circumstances."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from recallbench import __version__
from recallbench.audit.checks.page import differing_lines, differing_words
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.escaping.markdown import inline
from recallbench.escaping.terminal import hidden
from recallbench.escaping.web import html
from recallbench.reading import lines
from recallbench.reports.circumstances.section import CIRCUMSTANCES
from recallbench.reports.report import ReportedRun, render, render_without_sentence
from recallbench.reports.result_page import PAGE, page_of
from recallbench.reports.returned import HEADING
from recallbench.reports.stages.beside import stage_costs
from recallbench.reports.standing.section import STANDING
from recallbench.results.known_texts import texts_of
from recallbench.results.latency import read_timings
from recallbench.scoring.calls import judge_calls
from recallbench.scoring.editions import CURRENT
from recallbench.scoring.returned import ReturnedRows, returned_rows

_NUMBER = re.compile(r"[0-9]+\.[0-9]+")
_FIGURE = re.compile(
    r"`[^`]*`|\*\*[^*]*\*\*|\b[0-9a-f]{12,}\b|(?<![\w.])[-+vp]?[0-9]+(?:[.,:T][0-9]+)*%?|–"
    r"|(?:not )?\bCANONICAL\b|\b(?:(?:UN)?VERIFIED|BLOCKED|pass|fail|pending|cannot-tell)\b"
)
"""Figures, hashes, versions, quoted and bold text, and verdicts: all of a line but its words."""
_SENTENCE = re.compile(r"^\*\*(.*\.)\*\*$")
_MARKUP = re.compile(r"^ {0,3}(?:#|>|~~~|```|=+\s*$|-+\s*$)|<[A-Za-z/!?]|\][(:\[]|^\[|&#?\w+;")
"""Headings, quotations, tags and links: a later release may word a report otherwise, but never adds these."""


def report(subject: AuditSubject) -> Finding:
    stated = [line for _, line in lines(subject.folder / "report.md")]
    pipeline, asked = subject.derived.pipeline, subject.derived.retrieval.asked
    costs = None if pipeline is None else stage_costs(subject.folder, pipeline, asked)
    returned = _returned(subject) if f"## {HEADING}" in stated else ()  # earlier releases did not tell of it
    run = ReportedRun(subject.environment, read_timings(subject.folder, subject.environment), costs, returned)
    of_this_release = subject.metrics.recallbench_version == __version__
    has_page = (subject.folder / PAGE).is_file()
    written = render(subject.derived, run, early=f"## {STANDING}" not in stated)
    if of_this_release and subject.metrics.statistics_edition == CURRENT.number:
        derived = written.removesuffix("\n").split("\n")
        compared, problems = "", list(_differing_lines(stated, derived))
    else:
        text = written if has_page else render_without_sentence(subject.derived, run)
        derived = text.removesuffix("\n").split("\n")
        compared, problems = "figures of ", list(_differing_figures(stated, derived))
        problems += _missing_deviations(subject, "\n".join(stated), inline)
    if has_page:
        problems += _differences_of_page(subject)
    elif not compared:
        problems.append(f"no {PAGE}, which every result of this release has")
    if problems and not of_this_release:
        problems.append(
            f"it was written by release {subject.metrics.recallbench_version}, this is {__version__}: audit with that"
        )
    page = ", and the page byte for byte" if of_this_release else ", and the figures of the page"
    cells = sum(line.count("|") - 1 for line in derived if line.startswith("|"))
    return pass_unless(
        problems,
        f"{compared}{len(derived)} lines and {cells} cells of tables as worked out again, at the printed precision"
        + (page if has_page else ""),
    )


def _returned(subject: AuditSubject) -> tuple[ReturnedRows, ...]:
    return returned_rows(judge_calls(subject.retrieval), [question.kind for question in subject.retrieval.questions])


def _differences_of_page(subject: AuditSubject) -> Iterator[str]:
    stated = "\n".join(line for _, line in lines(subject.folder / PAGE))
    told = f"<h2>{HEADING}</h2>" in stated
    early, texts = f"<h2>{STANDING}</h2>" not in stated, texts_of(subject.rows)
    page = page_of(subject.judged_result, subject.derived, texts, with_returned=told, early=early)
    derived = page.removesuffix("\n")
    if subject.metrics.recallbench_version == __version__:
        found = differing_lines(stated, derived, _excerpts)
    else:
        found = chain(differing_words(stated, derived, _differing_figures), _missing_deviations(subject, stated, html))
    yield from (f"{PAGE}: {difference}" for difference in found)


def _missing_deviations(subject: AuditSubject, text: str, escape: Callable[[str], str]) -> Iterator[str]:
    """Yield the deviations that a report or page does not name in the words of metrics.json."""
    for deviation in subject.deviations:
        if not any(escape(name(deviation.detail)) in text for name in (short_names, str)):
            yield f"the deviation {deviation.kind} is not named: {deviation.detail}"


def _differing_lines(stated: Sequence[str], derived: Sequence[str]) -> Iterator[str]:
    for number, (line, expected) in enumerate(zip(stated, derived, strict=False)):
        if line != expected:
            yield f"line {number + 1}: {_excerpts(line, expected)}"
    if len(stated) != len(derived):
        yield f"{len(stated)} lines, {len(derived)} follow"


def _differing_figures(stated: Sequence[str], derived: Sequence[str]) -> Iterator[str]:
    """Compare figures section by section, since a later release may word a report otherwise."""
    stated_figures, derived_figures = _figures(stated), _figures(derived)
    for heading in dict.fromkeys([*derived_figures, *stated_figures]):
        alike = _rounded if heading == CIRCUMSTANCES else str.__eq__
        pairs = zip_longest(stated_figures.get(heading, ()), derived_figures.get(heading, ()), fillvalue="nothing")
        for number, (figure, expected) in enumerate(pairs, 1):
            if not alike(figure, expected):
                yield f"{heading.removeprefix('## ')}, figure {number}: {figure} stated, {expected} follows"
                break  # a missing or added figure shifts all that follow
    known = set(derived)
    for number, line in enumerate(stated, 1):
        if line not in known and (hidden(line) or _MARKUP.search(line)):
            yield f"line {number}: markup that no report has: {line[:60]}"


def _figures(report: Iterable[str]) -> dict[str, list[str]]:
    """Return the figures under each heading, in order."""
    # A whole sentence in bold is words, and only what is bold inside one is quoted.
    return {
        heading: [figure for line in section for figure in _FIGURE.findall(_SENTENCE.sub(r"\1", line))]
        for heading, section in _by_heading(report).items()
    }


def _by_heading(report: Iterable[str]) -> dict[str, list[str]]:
    """Return the lines of each section with its heading; those above the first are under an empty one."""
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in report:
        heading = line if line.startswith("## ") else heading
        sections.setdefault(heading, []).append(line)
    return sections


def _rounded(line: str, other: str) -> bool:
    """Return whether two are equal but for the last printed digit of a time, rounded from more in earlier releases."""
    if line == other:
        return True
    if _NUMBER.sub("#", line) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(line), _NUMBER.findall(other), strict=True)
    return all(
        len(a) - a.index(".") == len(b) - b.index(".")
        and abs(float(a) - float(b)) < 1.5 * 10.0 ** (1 + a.index(".") - len(a))
        for a, b in pairs
    )


def _excerpts(line: str, expected: str) -> str:
    """Return both lines from shortly before their first difference."""
    place = next(
        (i for i, pair in enumerate(zip(line, expected, strict=False)) if pair[0] != pair[1]),
        min(len(line), len(expected)),
    )
    start = max(0, place - 30)
    return f"“{line[start : place + 40]}” stated, “{expected[start : place + 40]}” follows"


REPORT = Examination(
    "RB-REPORT",
    "report",
    "every table and sentence of report.md and its page as the re-scored figures tell it",
    report,
)
