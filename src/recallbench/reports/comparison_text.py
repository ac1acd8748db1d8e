"""A comparison in words and tables, in a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from recallbench.escaping import markdown as escaped
from recallbench.escaping.terminal import visible
from recallbench.reports.cells import figure
from recallbench.reports.comparison import (
    DIFFERENCE_HEADER,
    LEVEL,
    NOT_STATED,
    ChangedPart,
    Comparison,
    HitPart,
    MeasuredPart,
    SidePart,
    UnlikePart,
    difference_cells,
    signed,
    signed_range,
)
from recallbench.reports.table import Table

TEXT = 160
"""Characters shown of a segment."""


def opening(found: Comparison) -> list[str]:
    """What is compared, on what, and in what the two differ."""
    dependent = f"paired over {found.clusters} clusters" if found.clusters else "paired by question"
    return [
        f"A: {_side(found.first)}",
        f"B: {_side(found.second)}",
        *found.basis,
        f"{found.n} question{'s' if found.n != 1 else ''} counted, {dependent}; difference is B minus A",
        *_unlike(found.unlike),
    ]


def _unlike(unlike: Sequence[UnlikePart]) -> Iterator[str]:
    """A line each, but one for all that only one of the two states: a release may bring dozens of settings."""
    alone = [one for one in unlike if NOT_STATED in (one.first, one.second)]
    for one in unlike:
        if one not in alone:
            yield f"they differ in {one.what}: {one.first} against {one.second}"
    if alone:
        yield f"only one states: {', '.join(one.what.removeprefix('setting ') for one in alone)}"


def verdict(found: Comparison) -> list[str]:
    """What it comes to: sameness, conditions, regressions, warnings, notes."""
    lines = []
    if found.identical:
        lines.append("The rankings are the same, place for place: the difference is 0 and p is 1.")
    lines += [f"warning: {visible(one)}" for one in found.warnings]
    lines += [f"note: {visible(one)}" for one in found.notes]
    lines += [f"{one.outcome}: {one.condition}: {one.reason}" for one in found.conditions]
    lines += [f"regression: {name} fell, at a corrected p of at most {LEVEL}" for name in found.regressions]
    return lines


def measure_table(found: Comparison) -> Table:
    """Return a row for each measure, the primary ones first."""
    order = sorted(found.measures, key=lambda one: one.role)
    rows = [[one.measure, one.role, figure(one.first), figure(one.second), *difference_cells(one)] for one in order]
    return Table(("measure", "", "A", "B", *DIFFERENCE_HEADER), rows)


def kind_table(found: Comparison) -> Table:
    """Return the primary measures of each kind, or all measures where none is primary."""
    return _slice_table(found, "kind", found.kinds)


def ability_table(found: Comparison) -> Table:
    """Return the same for each ability."""
    return _slice_table(found, "ability", found.abilities)


def _slice_table(found: Comparison, name: str, slices: Mapping[str, Sequence[MeasuredPart]]) -> Table:
    shown = {one.measure for one in found.measures if one.role == "primary"} or {one.measure for one in found.measures}
    rows = [
        (
            visible(kind),
            str(one.n),
            one.measure,
            figure(one.first),
            figure(one.second),
            signed(one.difference),
            signed_range(one.low, one.high),
            f"{one.wins}/{one.ties}/{one.losses}",
        )
        for kind, parts in slices.items()
        for one in parts
        if one.measure in shown
    ]
    return Table((name, "n", "measure", "A", "B", "difference", "95% interval", "win/tie/loss"), rows)


def reading(found: Comparison) -> list[str]:
    """How the tables are to be read, a sentence each."""
    primary = [one for one in found.measures if one.role == "primary"]
    tests = sorted({one.test for one in primary or found.measures if one.wins or one.losses})
    methods = sorted({one.method for one in found.measures if one.low is not None})
    source = " or ".join(tests) or "questions that do not differ"
    lines = [f"p is two-sided, from {source}. Intervals: {'; '.join(methods) or 'none'}."]
    if primary:
        lines.append(
            f"Holm corrects for the {len(primary)} primary measure{'s' if len(primary) > 1 else ''}; * marks "
            f"{LEVEL} or below. What is secondary, and each kind, is uncorrected: a hint, no finding."
        )
    lines.append(
        "Smallest p is the least that these questions could have reached; detectable is the true difference that "
        "would be found four times in five, before the correction."
    )
    return lines


def ranking_table(one: ChangedPart, rank: str = "rank") -> Table:
    """Return both rankings side by side; * marks gold."""
    ranks = sorted({hit.rank for hit in (*one.first, *one.second)})
    first, second = ({hit.rank: hit for hit in hits} for hits in (one.first, one.second))
    return Table((rank, "A", "B"), [(str(at), _hit(first.get(at)), _hit(second.get(at))) for at in ranks])


def changed_title(one: ChangedPart) -> str:
    """Which question, and what became of its values."""
    moved = [
        f"{measure} {figure(before)} to {figure(after)}" for measure, (before, after) in one.values.items()
        if before != after
    ]  # fmt: skip
    return visible(f"{one.question_id}{f' ({one.kind})' if one.kind else ''}: {', '.join(moved)}")


def texts(one: ChangedPart) -> Iterator[str]:
    """The question, its gold, and what each put first where that is none; nothing where no text is known."""
    if one.question:
        yield f"question: {visible(' '.join(one.question.split()))}"
    known = {hit.id: hit.text for hit in (*one.first, *one.second) if hit.text}
    best = [hits[0].id for hits in (one.first, one.second) if hits and not hits[0].gold]
    for id in dict.fromkeys([*one.gold, *best]):
        if text := " ".join(known.get(id, "").split()):
            yield visible(f"{id}{' *' if id in one.gold else ''}: {text[:TEXT]}{'…' if len(text) > TEXT else ''}")


def markdown(found: Comparison) -> str:
    """The whole comparison."""
    parts: list[Sequence[str]] = [
        ["# A against B", ""],
        [f"- {escaped.opening(line)}" for line in opening(found)],
        [""],
        measure_table(found).markdown(),
        [""],
        [line for finding in verdict(found) for line in (_finding(finding), "")],
        [escaped.opening(line) for line in reading(found)],
    ]  # fmt: skip
    if found.kinds:
        parts += [["", "## By kind", ""], kind_table(found).markdown()]
    if found.abilities:
        parts += [["", "## By ability", ""], ability_table(found).markdown()]
    if found.changed:
        parts.append(["", "## What changed most"])
    for one in found.changed:
        parts += [
            ["", f"### {escaped.inline(changed_title(one))}", ""],
            [f"- {escaped.opening(line)}" for line in texts(one)],
            [""],
            ranking_table(one).markdown(),
        ]
    return "\n".join(line for part in parts for line in part) + "\n"


def _finding(text: str) -> str:
    word, colon, rest = text.partition(":")
    return f"**{escaped.inline(word)}**{colon}{escaped.inline(rest)}"


def _side(side: SidePart) -> str:
    facts = [side.store, side.version, side.embedder]
    if not side.store:
        return f"{side.name}, {side.verdict}"
    # Nothing was audited: a verdict in a file is that file's word.
    canonical = "CANONICAL" if side.canonical else "not CANONICAL"
    return f"{', '.join([side.name, *facts])}; it states {side.verdict}, {canonical}"


def _hit(hit: HitPart | None) -> str:
    return "–" if hit is None else visible(f"{hit.id}{' *' if hit.gold else ''}")
