"""Systems side by side, best first: the document, its table and its plot."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from recallbench.escaping.markdown import opening
from recallbench.reports.cells import figure, interval, ten_digits
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.panel import LINE, Axis, Panel
from recallbench.reports.part import DocumentPart
from recallbench.reports.plot import Plot
from recallbench.reports.printing.conclusion import Conclusion, Tone
from recallbench.reports.table import Table
from recallbench.reports.units.unit_table import unit_sentences, unit_table
from recallbench.reports.units.units_part import UnitsPart
from recallbench.results.metrics import EstimatePart

SHORTEST = 36
"""Letters of a name that a plot shows."""


class StandingPart(DocumentPart):
    name: str = Field(description="the folder or file, as it was named")
    system: str = Field(
        description="store with its settings that are not defaults; empty for rankings of unknown origin"
    )
    version: str
    embedder: str
    verdict: str
    labelled: bool = Field(
        default=True, exclude=True, description="whether readers are told the verdict: the protocol speaks of it"
    )
    letters: str = Field(description="two that share a letter can't be told apart by the first measure")
    estimates: list[EstimatePart] = Field(description="by measure, the first one decides the order")
    p95_ms: float | None = Field(description="of warm queries, one by one; null where none were timed")
    build_s: float | None = Field(
        default=None,
        description="seconds in which its store took all segments in and built what searching needs; null where that "
        "was not timed by itself",
    )
    settings: dict[str, str] = Field(description="those that several state and that differ between them")
    note: str = Field(description="what to know of its figures; empty for nothing")


class ControlPart(DocumentPart):
    name: Literal["ceiling", "BM25", "static", "chance"]
    values: list[float | None] = Field(description="by measure")


class ApartPart(DocumentPart):
    name: str
    reason: str
    estimates: list[EstimatePart] = Field(description="its own figures, over other questions")


class Standings(DocumentPart):
    """Systems that were asked the same questions, best first, and those that were not."""

    schema_version: Literal["1"]
    recallbench_version: str
    asked: str = Field(description="what all of them were asked")
    measures: list[str]
    standings: list[StandingPart]
    controls: list[ControlPart]
    tests: int = Field(
        description="pairs of systems that were tested on the first measure, Holm corrects for all; systems that have "
        "the same value for every question count as one"
    )
    apart: list[ApartPart]
    notes: list[str]
    units: list[UnitsPart] = Field(
        default_factory=list,
        exclude_if=lambda units: not units,
        description="where results are over several units of the same questions: these side by side",
    )


def table(standings: Standings) -> Table:
    """Return a row for each system and each control: figures, then what was measured; an empty column is left out."""
    leading, *others = standings.measures
    settings = list(standings.standings[0].settings)
    identity = ["store", "version", "encoder", *settings, "verdict"]
    columns = ["name", leading, "95% interval", "group", *others, "p95 ms", "build s", *identity]
    rows = [
        [
            standing.name,
            figure(standing.estimates[0].value),
            interval(standing.estimates[0]),
            standing.letters,
            *(figure(estimate.value) for estimate in standing.estimates[1:]),
            figure(standing.p95_ms, 2),
            figure(standing.build_s, 2),
            standing.system or "–",
            standing.version or "–",
            standing.embedder or "–",
            *standing.settings.values(),
            verdict,
        ]
        for standing, verdict in zip(standings.standings, _told_verdicts(standings), strict=True)
    ]
    for control in standings.controls:
        first, *rest = map(figure, control.values)
        rows.append([control.name, first, "", "", *rest, "", "", *[""] * len(identity)])
    dropped = {len(columns) - 1} if _common_verdict(standings) else set()
    dropped |= {columns.index("group")} if len(standings.standings) == 1 else set()
    keep = [
        i for i in range(len(columns)) if i < 2 or (i not in dropped and any(row[i] not in ("", "–") for row in rows))
    ]
    return Table(
        [columns[i] for i in keep],
        [[row[i] for i in keep] for row in rows],
        caption=f"Systems by {leading}, best first",
        left=["name", *identity],
    )


def sheet(standings: Standings) -> Table:
    """Return the same for a spreadsheet: ten digits, and each end of an interval in a column of its own.

    Systems over several units follow, a row for each unit; two more columns tell these from the rows above.
    """
    measured = [f"{name}{end}" for name in standings.measures for end in ("", " low", " high")]
    settings = list(standings.standings[0].settings)
    columns = ["name", *measured, "group", "p95 ms", "build s", "store", "version", "encoder", *settings, "verdict"]
    rows = [
        [
            standing.name,
            *(ten_digits(value) for part in standing.estimates for value in (part.value, part.low, part.high)),
            standing.letters,
            ten_digits(standing.p95_ms),
            ten_digits(standing.build_s),
            standing.system,
            standing.version,
            standing.embedder,
            *standing.settings.values(),
            verdict,
        ]
        for standing, verdict in zip(standings.standings, _told_verdicts(standings), strict=True)
    ]
    for control in standings.controls:
        values = [cell for value in control.values for cell in (ten_digits(value), "", "")]
        rows.append([control.name, *values, *[""] * (len(columns) - 1 - len(values))])
    if standings.units:
        rows = [[*row, "", ""] for row in rows]
        columns += ["unit", "questions"]
    for part in standings.units:
        for place, unit in enumerate(part.units):
            counted = [unit.unit, str(part.n)]
            for each in part.rows:
                values = [ten_digits(end) for by in each.estimates[place] for end in (by.value, by.low, by.high)]
                identity = {"store": each.system, "encoder": each.embedder}
                rest = [identity.get(column, "") for column in columns[1 + len(values) : -2]]
                rows.append([each.name, *values, *rest, *counted])
            for name, by_unit in part.controls.items():
                values = [cell for value in by_unit[place] for cell in (ten_digits(value), "", "")]
                rows.append([name, *values, *[""] * (len(columns) - 3 - len(values)), *counted])
    return Table(columns, rows, caption="")


def _common_verdict(standings: Standings) -> str:
    """Return what all systems were called when they were written; empty where they differ or none is told."""
    verdicts = set(_told_verdicts(standings))
    return verdicts.pop() if len(verdicts) == 1 else ""


def _told_verdicts(standings: Standings) -> list[str]:
    """Return the verdict of each system as readers are told it; empty beside a system of which nobody looks for one."""
    labelled = all(standing.labelled for standing in standings.standings)
    return [standing.verdict if labelled else "" for standing in standings.standings]


def apart_table(standings: Standings) -> Table:
    """Return a row for each result that was asked something else, with the reason."""
    rows = [
        [part.name, *(figure(estimate.value) for estimate in part.estimates), *["–"] * missing, part.reason]
        for part in standings.apart
        for missing in [len(standings.measures) - len(part.estimates)]
    ]
    columns = ["not comparable", *standings.measures, "why"]
    return Table(columns, rows, caption="Not comparable with these", left=[columns[0], columns[-1]])


def reading(standings: Standings) -> list[str]:
    """Return sentences on how to read the table."""
    lines = [*standings.notes]
    leading, systems = standings.measures[0], len(standings.standings)
    if standings.tests:
        lines.append(
            f"Systems that share a letter can't be told apart by {leading}: paired tests over the same questions, "
            f"corrected by Holm for all {standings.tests} pairs." if standings.tests > 1 else
            f"Systems that share a letter can't be told apart by {leading}: a paired test over the same questions."
        )  # fmt: skip
    if standings.tests < systems * (systems - 1) // 2:
        lines.append(f"Systems that have the same {leading} for every question count as one.")
    if any(standing.p95_ms is not None for standing in standings.standings):
        stored = any(standing.system for standing in standings.standings)
        lines.append(
            "p95 ms is the nearest rank of warm queries, one by one, end to end." if stored else
            "p95 ms is that of the calls: the nearest rank, unless a report was made by another rule."
        )  # fmt: skip
    if any(standing.build_s is not None for standing in standings.standings):
        lines.append(
            "build s is how long taking all segments in and building what searching needs took, their vectors at hand; "
            "none is told of a pipeline, and of a store that was asked while it filled."
        )
    if verdict := _common_verdict(standings):
        lines.append(f"Verdict when written: {verdict}.")
    return lines


def conclusion(standings: Standings) -> Conclusion:
    """Return who is first, and who can't be told apart from it."""
    first, *others = standings.standings
    measure, estimate = standings.measures[0], first.estimates[0]
    between = "" if estimate.low is None else f" ({figure(estimate.low)} to {figure(estimate.high)})"
    value = f"{figure(estimate.value)}{between}, {estimate.n:,} questions"
    apart = f"; {len(standings.apart)} not comparable" if standings.apart else ""
    if not others:
        if apart:
            unread = not any(part.estimates for part in standings.apart)
            then = "name result folders in their place" if unread else "measure all on the same questions"
            return Conclusion(f"{first.name} stands alone: {measure} {value}{apart}", "", then, tone="open")
        return Conclusion(
            f"{first.name}: {measure} {value}", "one system alone says nothing of another", "name a second one"
        )
    alike = [other for other in others if set(other.letters) & set(first.letters)]
    if len(alike) == len(others):
        who = f"{first.name} and {others[0].name}" if len(others) == 1 else f"{len(others) + 1} systems"
        equal = len({each.estimates[0].value for each in standings.standings}) == 1
        holder = ("both have" if len(others) == 1 else "each has") if equal else "the highest has"
        happened = f"Nobody is first: {who} can't be told apart by {measure}; {holder} {value}{apart}"
        return Conclusion(happened, "", "ask more questions", tone="open")
    tone: Tone = "open" if apart else "good"
    second = next(other for other in others if other not in alike)
    if alike:
        who = alike[0].name if len(alike) == 1 else f"{len(alike)} others"
        happened = f"{first.name} and {who} are first, not told apart: {measure} {value}{apart}"
        rest = second.name if len(alike) + 1 == len(others) else "the others"
        return Conclusion(happened, f"paired tests tell {rest} apart from the first", tone=tone)
    belief = f"a paired test tells it apart from {second.name}"
    if len(others) > 1:
        belief = f"paired tests tell it apart from all {len(others)} others"
    return Conclusion(f"{first.name} is first: {measure} {value}{apart}", belief, tone=tone)


def title(standings: Standings) -> str:
    """Return what the systems were asked."""
    return standings.asked


def picture(standings: Standings) -> str:
    """Return the plot as a file of its own."""
    return plot(standings).picture()


def plot(standings: Standings) -> Plot:
    """Return a plot of each system's first measure with its interval, beside the controls."""
    names = [standing.name[-SHORTEST:] + f" {standing.letters}" for standing in standings.standings]
    places = [float(i) for i in range(len(names))]
    estimates = [standing.estimates[0] for standing in standings.standings]
    panel = Panel(
        title(standings),
        Axis(low=-0.6, high=len(names) - 0.4, ticks=list(zip(places, names, strict=True))),
        Axis(standings.measures[0]),
    )
    panel.intervals(places, estimates)
    panel.line(places, [estimate.value or 0.0 for estimate in estimates], LINE, "measured value", dash="none")
    for control, dash in zip(standings.controls, ("solid", "dashed", "dotted"), strict=False):
        if control.values[0] is not None:
            panel.across(control.values[0], control.name, dash=dash)
    return Plot(title(standings), max(520.0, 120 + 80.0 * len(names)), 260, [panel], describe(standings))


def describe(standings: Standings) -> str:
    """Return the plot's values in words."""
    shown = [
        f"{standing.name} {figure(standing.estimates[0].value)} ({interval(standing.estimates[0])})"
        for standing in standings.standings
    ] + [f"{control.name} {figure(control.values[0])}" for control in standings.controls]
    return f"{standings.measures[0]}: {'; '.join(shown)}."


def markdown(standings: Standings) -> str:
    """Return both tables with their notes."""
    blocks = ["\n".join(table(standings).markdown())]
    if standings.apart:
        blocks.append("\n".join(apart_table(standings).markdown()))
    for part in standings.units:
        blocks += ["\n".join(unit_table(part).markdown()), *map(opening, unit_sentences(part))]
    return "\n\n".join([opening(title(standings)), *blocks, *map(opening, reading(standings))]) + "\n"


def page(standings: Standings) -> str:
    """Return a self-contained page with the plot and the tables."""
    body = [
        *captioned(plot(standings).element(), "The table below has the same figures."),
        *table(standings).html(),
        *(apart_table(standings).html() if standings.apart else ()),
        *(line for part in standings.units for line in (*unit_table(part).html(), *listing(unit_sentences(part)))),
        *listing(reading(standings)),
    ]
    return Page(title(standings), body).html()
