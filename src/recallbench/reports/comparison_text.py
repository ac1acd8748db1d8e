"""A comparison in words and tables, in a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.escaping import markdown as escaped
from recallbench.escaping.terminal import visible
from recallbench.reports.cells import figure, share, ten_digits
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
    why_no_interval,
)
from recallbench.reports.table import Part, Table
from recallbench.results.matching_part import SharePart

CLUSTERS = "(groups of questions that depend on each other, such as those of one conversation)"
_NAMED = {
    "smallest p": "smallest p before Holm",
    "win/tie/loss": "B wins/ties/loses",
    "one left out": "one cluster left out",
}
"""Columns that by their names in other tables would leave open whose they are."""
COLUMNS = tuple(_NAMED.get(name, name) for name in DIFFERENCE_HEADER)
TEXT = 160
"""Characters shown of a segment."""


def opening(comparison: Comparison) -> list[str]:
    """Return lines on the two sides, their common ground and their differences."""
    dependent = (
        f"paired over {comparison.clusters} clusters {CLUSTERS}" if comparison.clusters else "paired by question"
    )
    return [
        f"A: {_side(comparison.first)}",
        f"B: {_side(comparison.second)}",
        *map(plain_names, comparison.basis),
        f"{comparison.n} question{'s' if comparison.n != 1 else ''} counted, {dependent}; difference is B minus A",
        *_difference_lines(comparison.unlike),
        *(
            f"{name}: {line}"
            for name, side in (("A", comparison.first), ("B", comparison.second))
            for line in decided_by_step(side.shares)
        ),
    ]


def decided_by_step(shares: Sequence[SharePart]) -> list[str]:
    """Return which share of the questions each step of hybrid matching decided; nothing where gold has no steps."""
    steps = [f"by {part.step} for {share(part.share)} of the questions ({part.found_10})" for part in shares]
    return [f"--match hybrid: the first hit that counts was decided {', '.join(steps)}"] if steps else []


def _difference_lines(unlike: Sequence[UnlikePart]) -> Iterator[str]:
    """Yield a line for each difference, and one for all settings that only one side states: there may be dozens."""
    alone = [difference for difference in unlike if NOT_STATED in (difference.first, difference.second)]
    for difference in unlike:
        if difference not in alone:
            yield f"they differ in {difference.what}: {difference.first} against {difference.second}"
    if alone:
        yield f"only one states: {', '.join(difference.what.removeprefix('setting ') for difference in alone)}"


def verdict(comparison: Comparison) -> list[str]:
    """Return the findings: sameness, warnings, notes, conditions, regressions."""
    lines = []
    if comparison.identical:
        lines.append("The rankings are the same, place for place: the difference is 0 and p is 1.")
    lines += [f"warning: {visible(warning)}" for warning in comparison.warnings]
    lines += [f"note: {visible(note)}" for note in comparison.notes]
    lines += [condition.text for condition in comparison.conditions]
    lines += [f"regression: {name} fell, at a corrected p of at most {LEVEL}" for name in comparison.regressions]
    return lines


def measure_table(comparison: Comparison) -> Table:
    """Return a row for each measure, the primary ones first."""
    order = sorted(comparison.measures, key=lambda part: part.role)
    rows = [
        [part.measure, part.role, figure(part.first), figure(part.second), *difference_cells(part)] for part in order
    ]
    return Table(("measure", "", "A", "B", *COLUMNS), rows)


def kind_table(comparison: Comparison) -> Table:
    """Return the primary measures of each kind, or all measures where none is primary."""
    return _slice_table(comparison, "kind", comparison.kinds)


def ability_table(comparison: Comparison) -> Table:
    """Return the primary measures of each ability, or all measures where none is primary."""
    return _slice_table(comparison, "ability", comparison.abilities)


def _slice_table(comparison: Comparison, name: str, slices: Mapping[str, Sequence[MeasuredPart]]) -> Table:
    shown = _foremost(comparison)
    rows = [
        (
            visible(kind),
            str(part.n),
            part.measure,
            figure(part.first),
            figure(part.second),
            signed(part.difference),
            signed_range(part.low, part.high),
            f"{part.wins}/{part.ties}/{part.losses}",
        )
        for kind, parts in slices.items()
        for part in parts
        if part.measure in shown
    ]
    return Table((name, "n", "measure", "A", "B", "difference", "95% interval", "B wins/ties/loses"), rows)


def _foremost(comparison: Comparison) -> set[str]:
    """Return the primary measures, or all where none is."""
    primary = {measure.measure for measure in comparison.measures if measure.role == "primary"}
    return primary or {measure.measure for measure in comparison.measures}


def reading(comparison: Comparison) -> list[str]:
    """Return sentences on how to read the tables."""
    primary = [measure for measure in comparison.measures if measure.role == "primary"]
    tests = sorted({measure.test for measure in primary or comparison.measures if measure.moved})
    methods = sorted({measure.method for measure in comparison.measures if measure.low is not None})
    moved = [measure for measure in comparison.measures if measure.low is None and measure.moved]
    reasons = sorted({why_no_interval(measure.method) for measure in moved})
    intervals = "; ".join(methods) or ("none, since " if reasons else "none") + "; ".join(reasons)
    source = " or ".join(tests) or "questions that do not differ"
    lines = [f"p is two-sided, from {source}. Intervals: {intervals}."]
    if primary:
        lines.append(
            f"Holm corrects for the {len(primary)} primary measure{'s' if len(primary) > 1 else ''}; * marks "
            f"{LEVEL} or below. What is secondary, and each kind, is uncorrected: a hint, no finding."
        )
    lines.append(
        "Smallest p is the least that these questions could have reached; detectable is the true difference that "
        "would be found four times in five; both before the correction."
    )
    if comparison.clusters:
        lines.append("One cluster left out: the smallest and the largest difference without any one of the clusters.")
    return lines


def ranking_table(change: ChangedPart, rank: str = "rank") -> Table:
    """Return both rankings side by side; * marks gold."""
    ranks = sorted({hit.rank for hit in (*change.first, *change.second)})
    first, second = ({hit.rank: hit for hit in hits} for hits in (change.first, change.second))
    return Table((rank, "A", "B"), [(str(at), _hit(first.get(at)), _hit(second.get(at))) for at in ranks])


def changed_title(change: ChangedPart, shown: Collection[str]) -> str:
    """Return the question's id and kind, and its changed values of these measures."""
    moved = [
        f"{measure} {figure(before)} to {figure(after)}" for measure, (before, after) in change.values.items()
        if before != after and measure in shown
    ]  # fmt: skip
    return visible(f"{change.question_id}{f' ({change.kind})' if change.kind else ''}: {', '.join(moved)}")


def texts(change: ChangedPart) -> Iterator[str]:
    """Yield the known texts: of the question, its gold, and the first hit of each side where that is not gold."""
    if change.question:
        yield f"question: {visible(' '.join(change.question.split()))}"
    known = {hit.id: hit.text for hit in (*change.first, *change.second) if hit.text}
    best = [hits[0].id for hits in (change.first, change.second) if hits and not hits[0].gold]
    for id in dict.fromkeys([*change.gold, *best]):
        if text := " ".join(known.get(id, "").split()):
            yield visible(f"{id}{' *' if id in change.gold else ''}: {text[:TEXT]}{'…' if len(text) > TEXT else ''}")


def parts(comparison: Comparison, *, file_option: str = "") -> list[Part]:
    """Return the whole comparison for a terminal; `file_option` is how a user names the file with missing texts."""
    shown: list[Part] = [*opening(comparison), "", measure_table(comparison), *reading(comparison)]
    if comparison.kinds:
        shown += ["", kind_table(comparison)]
    if comparison.abilities:
        shown += ["", ability_table(comparison)]
    for changed in comparison.changed:
        shown += ["", changed_title(changed, _foremost(comparison)), *(f"  {line}" for line in texts(changed))]
        shown.append(replace(ranking_table(changed, rank=""), indent=2))
    lacking = comparison.changed and not any(change.question for change in comparison.changed)
    if file_option and comparison.first.store and lacking:
        shown += ["", f"The texts are not at hand: {file_option} names the file or folder that was measured."]
    return [*shown, "", *verdict(comparison)]


SHEET = (
    *("part", "measure", "role", "n", "A", "B", "difference", "low", "high"),
    *("p", "p (Holm)", "smallest p", "wins", "ties", "losses", "detectable"),
)


def sheet(comparison: Comparison) -> Table:
    """Return a row for each measure of all questions, of each kind and of each ability, with every digit."""
    every = {
        "overall": comparison.measures,
        **{f"kind {kind}": parts for kind, parts in comparison.kinds.items()},
        **{f"ability {ability}": parts for ability, parts in comparison.abilities.items()},
    }
    rows = [
        [
            part,
            *(measured.measure, measured.role, str(measured.n)),
            *map(ten_digits, (measured.first, measured.second, measured.difference, measured.low, measured.high)),
            *map(ten_digits, (measured.p, measured.p_holm, measured.smallest_p)),
            *(str(measured.wins), str(measured.ties), str(measured.losses), ten_digits(measured.detectable)),
        ]
        for part, measures in every.items()
        for measured in measures
    ]
    return Table(SHEET, rows)


def markdown(comparison: Comparison) -> str:
    """Return the whole comparison as Markdown."""
    lines = ["# A against B", "", *(f"- {escaped.opening(line)}" for line in opening(comparison)), ""]
    lines += [*measure_table(comparison).markdown(), ""]
    lines += [line for finding in verdict(comparison) for line in (_finding(finding), "")]
    lines += map(escaped.opening, reading(comparison))
    if comparison.kinds:
        lines += ["", "## By kind", "", *kind_table(comparison).markdown()]
    if comparison.abilities:
        lines += ["", "## By ability", "", *ability_table(comparison).markdown()]
    if comparison.changed:
        lines += ["", "## What changed most"]
    for change in comparison.changed:
        lines += ["", f"### {escaped.inline(changed_title(change, _foremost(comparison)))}", ""]
        lines += [*(f"- {escaped.opening(line)}" for line in texts(change)), "", *ranking_table(change).markdown()]
    return "\n".join(lines) + "\n"


def _finding(text: str) -> str:
    word, colon, rest = text.partition(":")
    return f"**{escaped.inline(word)}**{colon}{escaped.inline(rest)}"


def _side(side: SidePart) -> str:
    facts = [side.store, side.version, side.embedder]
    if not side.store:
        return f"{side.name}, {side.verdict}"
    # Nothing was audited, so a verdict is only what the file states; that there is none is no news here.
    claimed = f"; it states {side.verdict}{', CANONICAL' if side.canonical else ''}"
    return f"{', '.join([side.name, *facts])}{claimed if side.verdict.startswith('VERIFIED') or side.canonical else ''}"


def _hit(hit: HitPart | None) -> str:
    return "–" if hit is None else visible(f"{hit.id}{' *' if hit.gold else ''}")
