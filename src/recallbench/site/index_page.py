"""`index.html`: every group of the board with its picture, the histories, the studies, and what is kept out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from recallbench.audit.checks.ranges import NOT_DERIVED, recorded_words
from recallbench.escaping.web import address, html
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.table import Table
from recallbench.reports.versions import title as series_title
from recallbench.site.board import Board, Group
from recallbench.site.board_table import apart_table, rescored_table, result_table
from recallbench.site.choices import SiteChoices
from recallbench.site.curve import Standing
from recallbench.site.history import Series
from recallbench.site.links import Links, linked
from recallbench.site.picture import draw, front_words
from recallbench.site.studies import Study, study_table

SHEET = "board.csv"
_POINTS = re.compile(r"\bpoint(?=s?\b)")
"""The points that a set chooses among are results here."""
STYLE = """td:last-child { min-width: 22rem }
#kept-out td { white-space: normal }
"""


@dataclass(frozen=True, slots=True)
class Index:
    """All that the first page tells of."""

    board: Board
    standings: Sequence[Standing]
    choices: SiteChoices
    links: Links
    histories: Mapping[str, Series] = field(default_factory=dict)
    """By the name of their page."""
    studies: Mapping[str, Study] = field(default_factory=dict)
    """By the name of their page."""
    pictures: Mapping[int, str] = field(default_factory=dict)
    """By the number of the group, the name of its picture."""


def index_page(index: Index) -> str:
    """Return the page."""
    board = index.board
    groups = enumerate(zip(board.groups, index.standings, strict=True), 1)
    body = [
        f"<p><strong>{html(summary(board, len(index.studies)))}</strong></p>",
        *_contents(index),
        *(line for number, (group, standing) in groups for line in _group(index, number, group, standing)),
        *_histories(index),
        *_studies(index),
        *_apart(index),
        "<h2>How to read this</h2>",
        *listing(reading(index)),
    ]
    return Page(index.choices.title, body, style=STYLE).html()


def summary(board: Board, studies: int) -> str:
    """Return in a sentence what is here, and what is not."""
    groups = len(board.groups)
    of = f" in {groups} groups of what is comparable" if groups > 1 else ""
    told = [f"{_counted(board.admitted, 'result')} with an audit that holds{of}"]
    told += [f"{_counted(board.rescored, 'ranking')} of others, re-scored"] if board.rescored else []
    told += [_counted(studies, "study", "studies")] if studies else []
    apart = f"; {len(board.apart)} kept out, each with the reason" if board.apart else "; nothing was kept out"
    return f"{', '.join(told)}{apart}."


def heading(number: int, group: Group) -> str:
    """Return the heading of a group."""
    return f"{number}. {group.asked}: {_counted(group.size, 'entry', 'entries')}"


def group_words(index: Index, group: Group, standing: Standing) -> list[str]:
    """Return what follows from a group, a sentence each."""
    measure = index.choices.measures[0]
    lines = []
    if standing.best is not None:
        lines.append(f"By {measure} {_POINTS.sub('result', standing.best.description)}.")
    for curve in standing.curves:
        lines.append(f"Pareto front over {curve.label}: {front_words(curve)}.")
        if curve.knee is not None and curve.knee.point is not None:
            name, knee = curve.entries[curve.knee.point].name, curve.knee
            lines.append(
                f"Knee over {curve.label}: {name}, in {knee.support:.0%} of resamples, where a doubling must gain "
                f"{knee.worth:g}."
            )
        elif curve.knee is not None:
            lines.append(f"{curve.knee.reason[0].upper()}{curve.knee.reason[1:]} (over {curve.label}).")
        lines += curve.left_out
    return lines


def reading(index: Index) -> list[str]:
    """Return how to read the board, a sentence each."""
    choices = index.choices
    gates = [f"Gates: {', '.join(map(str, choices.gates))}."] if choices.gates else []
    return [
        "A result is on the board only where recallbench audit worked its figures out again and no check failed; "
        "UNVERIFIED (pending: committed) says that only git does not hold its files."
        if not choices.verified
        else "A result is on the board only where recallbench audit calls it VERIFIED.",
        "Results share a group where protocol, clarifications, dataset, matching, time, depth, scope and questions are "
        "the same; only they can be compared.",
        f"R{recorded_words(NOT_DERIVED)[1:]}. So p95, build time, cost, version and command, marked so, are worth "
        "what the word of the one who ran it is.",
        "In brackets stands the 95% interval of each value: it tells of other questions that might have been asked.",
        f"Not told from the best: by {choices.measures[0]}, with the whole group compared at once.",
        "Front: no other result finds as much for less; in brackets the share of resamples of the questions in "
        "which that is so, with times and costs as measured.",
        "p95 is the nearest rank of single warm queries, one by one, end to end; only times of one machine are drawn.",
        f"Cost is that of the ledgers query and generate at prices of {choices.prices.date}; a result that used "
        "something without a price has none.",
        *gates,
        "Re-scored are rankings that others published, judged here by the same gold; nothing vouches for their origin.",
        f"{SHEET} has the same figures with every digit.",
    ]


def _contents(index: Index) -> Iterator[str]:
    links = [(f"group-{number}", heading(number, group)) for number, group in enumerate(index.board.groups, 1)]
    links += [("history", "History")] if index.histories else []
    links += [("studies", "Sweeps and latency studies")] if index.studies else []
    links += [("kept-out", "Kept out")] if index.board.apart else []
    if len(links) > 1:
        yield '<nav aria-label="Contents"><ul>'
        yield from (f'<li><a href="#{id}">{html(text)}</a></li>' for id, text in links)
        yield "</ul></nav>"


def _group(index: Index, number: int, group: Group, standing: Standing) -> Iterator[str]:
    choices = index.choices
    yield f'<h2 id="group-{number}">{html(heading(number, group))}</h2>'
    if why := index.board.why_apart(group):
        yield f"<p>{html(f'Apart from group 1: {why}.')}</p>"
    if plot := draw(group, standing, choices.measures[0], choices.gates):
        caption = "Each result by its value with the 95% interval; the table below has the same figures."
        yield from captioned(plot.element(f"group-{number}"), caption)
    if group.entries:
        yield from listing(group_words(index, group, standing))
        yield from result_table(group, standing, choices, index.links, f"Group {number}: audited results").html()
    if group.rescored:
        yield f"<h3>{html(f'Group {number}: re-scored')}</h3>"
        yield "<p>Rankings that others published, judged here; nothing vouches for their origin.</p>"
        yield from rescored_table(group, choices, index.links, f"Group {number}: rankings of others, re-scored").html()
    files = [index.pictures[number]] if number in index.pictures else []
    if files:
        addresses = [f'<a href="{address(name)}">{html(name)}</a>' for name in (*files, SHEET)]
        yield f"<p>{', '.join(addresses)}</p>"


def _histories(index: Index) -> Iterator[str]:
    if not index.histories:
        return
    rows = [
        [linked(series_title(series.document), page), str(len(series.entries)), *_first_and_last(series)]
        for page, series in index.histories.items()
    ]
    columns = ["history", "results", "first", "last"]
    yield '<h2 id="history">History</h2>'
    yield "<p>One system over its versions: each measure with its interval, and the protocol's band where it has one."
    yield "</p>"
    yield from Table(columns, rows, caption="Systems with several results").html()


def _first_and_last(series: Series) -> list[str]:
    told = [f"{label}, {entry.day}" for label, entry in series.labels.items()]
    return [told[0], told[-1]]


def _studies(index: Index) -> Iterator[str]:
    if not index.studies:
        return
    yield '<h2 id="studies">Sweeps and latency studies</h2>'
    yield from study_table(index.studies.items(), index.links, "Studies, each with its page").html()
    for name, study in index.studies.items():
        if study.plot is not None:
            yield from captioned(study.plot.element(name.removesuffix(".html")), f"{study.title} ({name})")


def _apart(index: Index) -> Iterator[str]:
    if index.board.apart:
        yield '<section id="kept-out" aria-label="Kept out">'
        yield "<h2>Kept out</h2>"
        yield from apart_table(index.board, index.links).html()
        yield "</section>"


def _counted(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"
