"""The last line of a series of results: whether the measure moves, whether that is proven, and what to do next."""

from __future__ import annotations

from recallbench.compare.conclusions.rules import rules_words
from recallbench.compare.rules import exit_code, is_lower
from recallbench.escaping.shell import command
from recallbench.reports.comparison import LEVEL, MeasuredPart, p_text
from recallbench.reports.drift import Drift, pace
from recallbench.reports.printing.conclusion import Conclusion, Tone
from recallbench.scoring.trend import FEWEST


def conclude_drift(drift: Drift, *, strict: bool = False, fail_on_trend: bool = False) -> Conclusion:
    """Return the conclusion; the rules, and --fail-on-trend where it was asked for, decide whether it is bad news."""
    failing = (fail_on_trend and drift.fell) or bool(exit_code(drift.conditions, (), strict=strict))
    rules = rules_words(drift.conditions, strict=strict)
    happened = f"{drift.measure} {_moved(drift)}" + (f"; {rules}" if rules else "")
    return Conclusion(happened, _belief(drift), _next(drift, failing, fail_on_trend), _tone(drift, failing))


def _moved(drift: Drift) -> str:
    count = len(drift.nights)
    if count == 1:
        return "is of a single result, with nothing to compare it with"
    pair = drift.last_against_first
    last = "" if pair is None else f", the last result against the first {_figures(pair)}"
    if drift.trend.direction in ("falling", "rising"):
        word = "falls" if drift.trend.direction == "falling" else "rises"
        slope = f" by {pace(drift.trend).lstrip('+-')}" if pace(drift.trend) else ""
        return f"{word} over {count} results{slope}, p {p_text(drift.trend.p or 0.0)}{last}"
    if pair is not None and is_lower(pair):
        return f"is lower in the last of {count} results than in the first: {_figures(pair)}"
    if pair is not None and _is_higher(pair):
        return f"is higher in the last of {count} results than in the first: {_figures(pair)}"
    if pair is not None and not pair.moved:
        return f"is the same in the last of {count} results as in the first, {pair.n} questions"
    return f"shows no trend over {count} results{last}"


def _figures(pair: MeasuredPart) -> str:
    return f"{pair.words}, {pair.n} questions, p {p_text(pair.p)}"


def _belief(drift: Drift) -> str:
    pair, told = drift.last_against_first, []
    if drift.trend.direction == "too few" and len(drift.nights) > 1:
        told.append(f"fewer than {FEWEST} results show no trend")
    if pair is not None and pair.moved and pair.low is not None:
        if pair.excludes_0 != (pair.p <= LEVEL):
            says = "interval excludes 0, the p does not" if pair.excludes_0 else "p excludes chance, the interval not"
            told.append(f"the {says}: both must, so that nothing is called proven")
    elif pair is not None and pair.moved and pair.smallest_p > LEVEL:
        told.append(
            f"no difference could be shown: so few clusters differ that the least p is {p_text(pair.smallest_p)}"
        )
    if drift.left_out:
        told.append(f"{len(drift.left_out)} left out: the lines above say why")
    return "; ".join(told)


def _next(drift: Drift, failing: bool, fail_on_trend: bool) -> str:
    if len(drift.nights) == 1:
        return "measure again, and follow it from there"
    if drift.fell or failing:
        exits = "" if failing or fail_on_trend else "; with --fail-on-trend this exits 1"
        compared = command("compare", drift.nights[0].folder, drift.nights[-1].folder)
        return f"{compared}, to see what changed{exits}"
    return ""


def _is_higher(pair: MeasuredPart) -> bool:
    return pair.p <= LEVEL and pair.difference > 0 and (pair.low is None or pair.low > 0)


def _tone(drift: Drift, failing: bool) -> Tone:
    if failing or drift.fell:
        return "bad"
    inconclusive = any(part.outcome == "inconclusive" for part in drift.conditions)
    return "open" if inconclusive or len(drift.nights) == 1 or drift.trend.direction == "too few" else "good"
