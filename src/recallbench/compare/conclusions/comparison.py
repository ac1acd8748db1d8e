"""The last line of a comparison: which of the two is better, whether that is believable, and what to do next.

The corrected p decides, as it decides what is called a regression: it is exact, and Holm's correction counts how many
primary measures had the chance to move. An interval is of one measure alone, and its method may approximate. Where
the two disagree, the line says so, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from recallbench.compare.conclusions.rules import rules_words
from recallbench.compare.rules import exit_code
from recallbench.escaping import shell
from recallbench.reports.comparison import (
    LEVEL,
    Comparison,
    MeasuredPart,
    p_text,
    signed,
)
from recallbench.reports.printing.conclusion import Conclusion, Tone
from recallbench.reports.printing.deciding import why_shown

Way = Literal["higher", "lower", "same", "open"]
_VERBS = {"recall_any": ("finds more", "finds less"), "mrr": ("ranks it higher", "ranks it lower")}
"""What B does, where one of the two primary measures is proven to be higher or lower."""


def conclude_comparison(
    comparison: Comparison, command: str, *, strict: bool = False, fail_on_regression: bool = False
) -> Conclusion:
    """Return the conclusion. `command` is what was typed to compare the two, as the beginning of another command."""
    primary = [part for part in comparison.measures if part.role == "primary"]
    shown = primary or comparison.measures
    ways = {part.measure: way_of(part) for part in shown}
    fallen = fail_on_regression and bool(comparison.regressions)
    failing = fallen or bool(exit_code(comparison.conditions, (), strict=strict))
    decided = [rules_words(comparison.conditions, strict=strict), _regression(primary, fail_on_regression)]
    happened = "; ".join(part for part in (_happened(comparison, shown, ways), *decided) if part)
    belief = "; ".join((*_altered(comparison), *_belief(comparison, shown, ways)))
    then = _next(comparison, primary, ways, command, failing)
    return Conclusion(happened, belief, then, _tone(comparison, failing, ways))


def way_of(part: MeasuredPart) -> Way:
    """Return where B stands: by the corrected p, or by the p alone where nothing corrects it."""
    if not part.moved:
        return "same"
    if part.corrected_p > LEVEL or not part.difference:
        return "open"
    return "higher" if part.difference > 0 else "lower"


def _happened(comparison: Comparison, shown: Sequence[MeasuredPart], ways: Mapping[str, Way]) -> str:
    questions = f"{comparison.n} question{'' if comparison.n == 1 else 's'}"
    if comparison.identical:
        return f"A and B give the same rankings, place for place: {questions}"
    if set(ways.values()) == {"same"}:
        return f"No question scores otherwise in B by {_listed(ways)}, though some rankings differ: {questions}"
    moved = [part for part in shown if ways[part.measure] in ("higher", "lower")]
    rest = [part.measure for part in shown if part not in moved]
    if not moved:
        if all(_is_hopeless(part, len(shown)) for part in shown):
            differences = _listed(f"{part.measure} {signed(part.difference)}" for part in shown)
            return f"A and B can't be told apart: {differences}, {questions}"
        return f"A and B can't be told apart: {_figures(shown, questions)}"
    kept = f", and {_listed(rest)} can't be told apart" if rest and all(ways[name] == "open" for name in rest) else ""
    return f"{_verdict(moved, ways)}: {_figures(moved, questions)}{kept}"


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
        return f"Mixed: B {' but '.join(verbs)}"
    alone = {"ranks it higher": "ranks the answers higher", "ranks it lower": "ranks the answers lower"}
    return f"B {' and '.join(verbs) if len(verbs) > 1 else alone.get(verbs[0], verbs[0])}"


def _figures(parts: Sequence[MeasuredPart], questions: str) -> str:
    """Return difference, interval and p of each measure; the p as the table has it that decides."""
    told = []
    for i, part in enumerate(parts):
        count = f", {questions}" if i == 0 else ""
        corrected = " (Holm)" if part.p_holm is not None and part.p_holm != part.p else ""
        told.append(f"{part.measure} {part.words}{count}, p {p_text(part.corrected_p)}{corrected}")
    return " and ".join(told)


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
    if comparison.identical:
        if comparison.unlike:
            yield f"though they differ in {_listed([part.what for part in comparison.unlike][:3])}"
        return
    if shown[0].role == "secondary":
        yield "no primary measure was compared, so that p is uncorrected: a hint, no finding"
    told: dict[str, list[str]] = {}
    for part in shown:
        if ways[part.measure] != "same" and (why := _why(part, ways[part.measure], len(shown))):
            told.setdefault(why, []).append(part.measure)
    for why, names in told.items():
        yield why if len(names) == len(shown) else f"{_listed(names)}: {why}"


def _why(part: MeasuredPart, way: Way, measures: int) -> str:
    """Return what decided on a measure, with the reason where its interval says otherwise; empty for a lone p."""
    tests = measures if part.role == "primary" else 1
    if way == "open" and not part.excludes_0:
        if part.smallest_p * tests > LEVEL:
            return f"so few {part.unit} differ that no difference could be shown"
        if part.detectable is None:
            return "the interval includes 0" if part.low is not None else "p decides: there is no interval"
        before = ", before the correction" if tests > 1 else ""
        return f"a difference of {part.detectable:.4f} would be found four times in five{before}"
    if part.turning and way != "open" and part.excludes_0:
        without = part.turning[0] if len(part.turning) == 1 else f"any one of {', '.join(part.turning[:3])}"
        return f"p and interval agree, but without {without} the sign would turn"
    return why_shown(part, tests)


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
        return f"{command}, which takes the primary measures"
    if "lower" in ways.values() or failing:
        exits = "" if failing else "; with --fail-on-regression this exits 1"
        return f"{command} --show 10, to see what changed{exits}"
    if "higher" in ways.values():
        held = f"{shell.command('gate', comparison.second.name, '--init')}, to hold later results to it"
        return held if comparison.second.store else f"{command} --show 10, to see what changed"
    ask = "ask more questions" if comparison.clusters is None else "ask questions of more clusters"
    if all(_is_hopeless(part, len(primary)) for part in primary if ways[part.measure] == "open"):
        return ask
    return f"{ask}: with four times as many, a difference half as big can be shown"


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
