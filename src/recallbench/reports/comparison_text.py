"""A comparison told to a person, in a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from recallbench.escaping import markdown as escaped
from recallbench.escaping.markdown import table
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

TEXT = 160
"""Characters shown of a segment."""
HEADER = ("measure", "", "A", "B", *DIFFERENCE_HEADER)
KIND_HEADER = ("kind", "n", "measure", "A", "B", "difference", "95% interval", "win/tie/loss")
ABILITY_HEADER = ("ability", *KIND_HEADER[1:])


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
    told = []
    if found.identical:
        told.append("The rankings are the same, place for place: the difference is 0 and p is 1.")
    told += [f"warning: {visible(one)}" for one in found.warnings]
    told += [f"note: {visible(one)}" for one in found.notes]
    told += [f"{one.outcome}: {one.condition}: {one.reason}" for one in found.conditions]
    told += [f"regression: {name} fell, at a corrected p of at most {LEVEL}" for name in found.regressions]
    return told


def rows(found: Comparison) -> list[list[str]]:
    """One row per measure, the primary ones first."""
    order = sorted(found.measures, key=lambda one: one.role)
    return [[one.measure, one.role, figure(one.first), figure(one.second), *difference_cells(one)] for one in order]


def kind_rows(found: Comparison) -> list[list[str]]:
    """Per kind the primary measures, or all where none is compared."""
    return _sliced(found, found.kinds)


def ability_rows(found: Comparison) -> list[list[str]]:
    """The same per ability."""
    return _sliced(found, found.abilities)


def _sliced(found: Comparison, slices: Mapping[str, Sequence[MeasuredPart]]) -> list[list[str]]:
    def told(kind: str, one: MeasuredPart) -> list[str]:
        values = (figure(one.first), figure(one.second), signed(one.difference))
        return [
            visible(kind), str(one.n), one.measure, *values, signed_range(one.low, one.high),
            f"{one.wins}/{one.ties}/{one.losses}",
        ]  # fmt: skip

    shown = {one.measure for one in found.measures if one.role == "primary"} or {one.measure for one in found.measures}
    return [told(kind, one) for kind, ones in slices.items() for one in ones if one.measure in shown]


def reading(found: Comparison) -> list[str]:
    """How the tables are to be read, a sentence each."""
    primary = [one for one in found.measures if one.role == "primary"]
    tests = sorted({one.test for one in primary or found.measures if one.wins or one.losses})
    methods = sorted({one.method for one in found.measures if one.low is not None})
    source = " or ".join(tests) or "questions that do not differ"
    told = [f"p is two-sided, from {source}. Intervals: {'; '.join(methods) or 'none'}."]
    if primary:
        told.append(
            f"Holm corrects for the {len(primary)} primary measure{'s' if len(primary) > 1 else ''}; * marks "
            f"{LEVEL} or below. What is secondary, and each kind, is uncorrected: a hint, no finding."
        )
    told.append(
        "Smallest p is the least that these questions could have reached; detectable is the true difference that "
        "would be found four times in five, before the correction."
    )
    return told


def changed_rows(one: ChangedPart) -> list[tuple[str, str, str]]:
    """Both rankings side by side; * marks gold."""
    ranks = sorted({hit.rank for hit in (*one.first, *one.second)})
    first, second = ({hit.rank: hit for hit in hits} for hits in (one.first, one.second))
    return [(str(rank), _hit(first.get(rank)), _hit(second.get(rank))) for rank in ranks]


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
        table(HEADER, rows(found)),
        [""],
        [line for told in verdict(found) for line in (_finding(told), "")],
        [escaped.opening(line) for line in reading(found)],
    ]  # fmt: skip
    if found.kinds:
        parts += [["", "## By kind", ""], table(KIND_HEADER, kind_rows(found))]
    if found.abilities:
        parts += [["", "## By ability", ""], table(ABILITY_HEADER, ability_rows(found))]
    if found.changed:
        parts.append(["", "## What changed most"])
    for one in found.changed:
        parts += [
            ["", f"### {escaped.inline(changed_title(one))}", ""],
            [f"- {escaped.opening(line)}" for line in texts(one)],
            [""],
            table(("rank", "A", "B"), changed_rows(one)),
        ]
    return "\n".join(line for part in parts for line in part) + "\n"


def _finding(told: str) -> str:
    word, colon, rest = told.partition(":")
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
