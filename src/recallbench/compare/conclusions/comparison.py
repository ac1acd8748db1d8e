"""The last line of a comparison: which of the two is better, whether that is believable, and what to do next.

The corrected p decides, as it decides what is called a regression: it is exact, and Holm's correction counts how many
primary measures had the chance to move. An interval is of one measure alone, and its method may approximate. Where
the two disagree, the line says so, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from recallbench.compare.conclusions.rules import first_not_passed, rules_words
from recallbench.compare.dependent_ids import DEPENDENT
from recallbench.compare.rules import exit_code
from recallbench.escaping import shell
from recallbench.reports.comparison import (
    LEVEL,
    Comparison,
    MeasuredPart,
    p_text,
    signed,
)
from recallbench.reports.conclusions.measured import counted
from recallbench.reports.printing.conclusion import Conclusion, Tone
from recallbench.reports.printing.deciding import disagreement

Way = Literal["higher", "lower", "same", "open"]
_VERBS = {"recall_any": ("finds more", "finds less"), "mrr": ("ranks it higher", "ranks it lower")}
"""What B does, where one of the two primary measures is proven to be higher or lower."""


NAMED = 2
"""Measures whose figures the line has; the table has all."""
SHORT = 40
"""Characters of what is to be believed, up to which there is room for the figures of a second measure."""
DISAGREED, TURNING, OPEN, AGREED = range(4)
"""How much a reason is to be told, the first one most."""


def conclude_comparison(
    comparison: Comparison, command: str, *, strict: bool = False, fail_on_regression: bool = False
) -> Conclusion:
    """Return the conclusion. `command` is what was typed to compare the two, as the beginning of another command."""
    primary = [part for part in comparison.measures if part.role == "primary"]
    shown = primary or comparison.measures
    ways = {part.measure: way_of(part) for part in shown}
    fallen = fail_on_regression and bool(comparison.regressions)
    failing = fallen or bool(exit_code(comparison.conditions, (), strict=strict))
    decided = rules_words(comparison.conditions, strict=strict) or _regression(primary, fail_on_regression)
    rule = first_not_passed(comparison.conditions)
    altered = list(_altered(comparison))
    if rule is None:
        belief = next(iter((*altered, *_belief(comparison, shown, ways))), "")
        roomy = len(belief) <= SHORT
        told = _happened(comparison, shown, ways, brief=bool(decided) or not roomy)
        # That every rule passes is told where there is room: the exit code says it too.
        happened = "; ".join(filter(None, (told, decided if roomy or not comparison.conditions else "")))
    else:
        belief = next(iter(altered), "")
        ruled = next((part for part in comparison.measures if part.measure == rule.measure), shown[0])
        happened = f"{decided[0].upper()}{decided[1:]}: {_figures(ruled, counted(comparison.n))}"
    then = _next(comparison, primary, ways, command, failing)
    return Conclusion(happened, belief, then, _tone(comparison, failing, ways))


def way_of(part: MeasuredPart) -> Way:
    """Return where B stands: by the corrected p, or by the p alone where nothing corrects it."""
    if not part.moved:
        return "same"
    if part.corrected_p > LEVEL or not part.difference:
        return "open"
    return "higher" if part.difference > 0 else "lower"


def _happened(comparison: Comparison, shown: Sequence[MeasuredPart], ways: Mapping[str, Way], *, brief: bool) -> str:
    """Return what moved, with the figures of the first measure; the `brief` form has those of no other."""
    questions = counted(comparison.n)
    if comparison.identical:
        return f"A and B give the same rankings, place for place: {questions}"
    if set(ways.values()) == {"same"}:
        by = _listed(list(ways)[:NAMED])
        return f"No question scores otherwise in B by {by}, though some rankings differ: {questions}"
    moved = [part for part in shown if ways[part.measure] in ("higher", "lower")]
    rest = [part.measure for part in shown if part not in moved]
    if not moved:
        if all(_is_hopeless(part, len(shown)) for part in shown):
            differences = _listed(f"{part.measure} {signed(part.difference)}" for part in shown[:NAMED])
            return f"A and B can't be told apart: {differences}, {questions}"
        nor = "".join(f", nor by {name}" for name in rest[1:NAMED])
        return f"A and B can't be told apart: {_figures(shown[0], questions)}{nor}"
    if brief:
        return f"{_verdict(moved, ways)}: {_figures(moved[0], questions, corrected=False)}"
    told = _figures(moved[0], questions)
    others = "".join(
        f" and {part.measure} {signed(part.difference)}, p {p_text(part.corrected_p)}" for part in moved[1:NAMED]
    )
    open_ = rest and all(ways[name] == "open" for name in rest)
    kept = f", and {_listed(rest[: NAMED - 1])} can't be told apart" if open_ and not others else ""
    return f"{_verdict(moved, ways)}: {told}{others}{kept}"


def _verdict(moved: Sequence[MeasuredPart], ways: Mapping[str, Way]) -> str:
    verbs = [
        _VERBS[name][ways[part.measure] == "lower"] if part.role == "primary" and name in _VERBS else ""
        for part in moved
        for name in [part.measure.partition("@")[0]]
    ]
    towards = {ways[part.measure] for part in moved}
    if not all(verbs):
        return "Mixed" if len(towards) > 1 else f"B scores {towards.pop()}"
    if len(towards) > 1:
        return f"B {' but '.join(verbs)}"
    alone = {"ranks it higher": "ranks the answers higher", "ranks it lower": "ranks the answers lower"}
    return f"B {' and '.join(verbs) if len(verbs) > 1 else alone.get(verbs[0], verbs[0])}"


def _figures(part: MeasuredPart, questions: str, *, corrected: bool = True) -> str:
    """Return difference, interval, questions and p of a measure, the one that decides; whether it is `corrected`."""
    holm = " (Holm)" if corrected and part.p_holm is not None and part.p_holm != part.p else ""
    return f"{part.measure} {part.words}, {questions}, p {p_text(part.corrected_p)}{holm}"


def _regression(primary: Sequence[MeasuredPart], fail_on_regression: bool) -> str:
    """Return that --fail-on-regression could fail no measure, where so few questions changed."""
    changed = [part for part in primary if part.moved]
    if not fail_on_regression or not changed or any(part.smallest_p * len(primary) <= LEVEL for part in changed):
        return ""
    return "--fail-on-regression could not fail"


def _altered(comparison: Comparison) -> Iterable[str]:
    sides = [name for name, side in (("A", comparison.first), ("B", comparison.second)) if side.altered]
    if sides:
        yield f"the files of {' and '.join(sides)} are not as {'its' if len(sides) == 1 else 'their'} manifest says"


def _belief(comparison: Comparison, shown: Sequence[MeasuredPart], ways: Mapping[str, Way]) -> Iterable[str]:
    """Yield what is to be known of the p, the gravest first: interval against p, one cluster that decides, the rest."""
    if comparison.identical:
        if comparison.unlike:
            yield f"though they differ in {_listed([part.what for part in comparison.unlike][:3])}"
        return
    if any(note.startswith(DEPENDENT) for note in comparison.notes):
        yield "the ids look as if questions depended on each other, and then intervals are too short: the note above"
    if shown[0].role == "secondary":
        yield "a hint, no finding: that p is uncorrected"
    ranked = sorted(
        (rank, place, why if place == 0 else f"{part.measure}: {why}")
        for place, part in enumerate(shown)
        for rank, why in [_why(part, ways[part.measure], len(shown))]
        if why
    )
    moved = any(way in ("higher", "lower") for way in ways.values())
    for rank, _, why in ranked:
        # Of a measure that did not move, beside one that did, only a disagreement is worth the room.
        if rank < OPEN or not moved or rank == AGREED:
            yield why


def _why(part: MeasuredPart, way: Way, measures: int) -> tuple[int, str]:
    """Return what decided on a measure, behind how much that is to be told; empty for a lone p."""
    if way == "same":
        return AGREED, ""
    tests = measures if part.role == "primary" else 1
    if said := disagreement(part, tests):
        return DISAGREED, said
    if way == "open":
        if part.smallest_p * tests > LEVEL:
            return OPEN, f"so few {part.unit} differ that no difference could be shown"
        if part.detectable is None:
            return OPEN, "the interval includes 0" if part.low is not None else "p decides: there is no interval"
        return OPEN, f"a difference of {part.detectable:.4f} would be found four times in five"
    if part.low is None:
        return TURNING, "p decides: there is no interval"
    if part.turning:
        without = part.turning[0] if len(part.turning) == 1 else f"any one of {', '.join(part.turning[:3])}"
        return TURNING, f"p and interval agree, but without {without} the sign would turn"
    return AGREED, "p and interval agree"


def _is_hopeless(part: MeasuredPart, tests: int) -> bool:
    """Return whether no p could have shown anything, and no interval says otherwise: a warning above gives the p."""
    return part.role == "primary" and part.smallest_p * tests > LEVEL and not part.excludes_0


def _next(
    comparison: Comparison, primary: Sequence[MeasuredPart], ways: Mapping[str, Way], command: str, failing: bool
) -> str:
    for side in (comparison.first, comparison.second):
        if side.altered:
            return shell.command("audit", side.name)
    if comparison.identical or set(ways.values()) == {"same"}:
        return ""
    if not primary:
        return command
    if "lower" in ways.values() or failing:
        return f"{command} --show 10"
    if "higher" in ways.values():
        second = comparison.second
        return shell.command("gate", second.name, "--init") if second.store else f"{command} --show 10"
    return "ask more questions" if comparison.clusters is None else "measure more clusters"


def _tone(comparison: Comparison, failing: bool, ways: Mapping[str, Way]) -> Tone:
    if failing or ("lower" in ways.values() and "higher" not in ways.values()):
        return "bad"
    altered = comparison.first.altered or comparison.second.altered
    inconclusive = any(rule.outcome == "inconclusive" for rule in comparison.conditions)
    secondary = all(part.role == "secondary" for part in comparison.measures)
    if altered or inconclusive or secondary or {"open", "lower"} & set(ways.values()):
        return "open"
    return "good"


def _listed(names: Iterable[str]) -> str:
    return " and ".join(names)
