"""The last line of a series of results: whether the measure moves, whether that is proven, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator

from recallbench.compare.conclusions.rules import first_not_passed, rules_words
from recallbench.compare.rules import exit_code, is_lower
from recallbench.escaping.shell import command
from recallbench.reports.comparison import LEVEL, MeasuredPart, p_text
from recallbench.reports.drift import Drift, pace
from recallbench.reports.printing.conclusion import Conclusion, Tone
from recallbench.scoring.trend import FEWEST


def conclude_drift(drift: Drift, *, strict: bool = False, fail_on_trend: bool = False) -> Conclusion:
    """Return the conclusion; the rules, and --fail-on-trend where it was asked for, decide whether it is bad news."""
    failing = (fail_on_trend and drift.fell) or bool(exit_code(drift.conditions, (), strict=strict))
    rules, pair = rules_words(drift.conditions, strict=strict), drift.last_against_first
    if first_not_passed(drift.conditions) is None or pair is None:
        happened, believed = f"{drift.measure} {_moved(drift)}", next(_doubts(drift), rules)
    else:
        happened, believed = f"{rules[0].upper()}{rules[1:]}: {drift.measure}, last against first {_figures(pair)}", ""
    return Conclusion(happened, believed, _next(drift, failing), _tone(drift, failing))


def _moved(drift: Drift) -> str:
    count = len(drift.nights)
    if count == 1:
        return "is of a single result, with nothing to compare it with"
    pair = drift.last_against_first
    last = "" if pair is None else f"; last against first {_figures(pair)}"
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


def _doubts(drift: Drift) -> Iterator[str]:
    """Yield what keeps anything from being proven, the gravest first."""
    pair = drift.last_against_first
    if pair is not None and pair.moved and pair.low is not None:
        if pair.excludes_0 != (pair.p <= LEVEL):
            yield "interval and p disagree: both must exclude 0"
    elif pair is not None and pair.moved and pair.smallest_p > LEVEL:
        yield f"so few clusters differ that the least p is {p_text(pair.smallest_p)}"
    if drift.trend.direction == "too few" and len(drift.nights) > 1:
        yield f"fewer than {FEWEST} results show no trend"
    if drift.left_out:
        yield f"{len(drift.left_out)} left out: the lines above say why"


def _next(drift: Drift, failing: bool) -> str:
    if len(drift.nights) == 1:
        return "measure again, and follow it from there"
    moved = drift.fell or failing
    return command("compare", drift.nights[0].folder, drift.nights[-1].folder) if moved else ""


def _is_higher(pair: MeasuredPart) -> bool:
    return pair.p <= LEVEL and pair.difference > 0 and (pair.low is None or pair.low > 0)


def _tone(drift: Drift, failing: bool) -> Tone:
    if failing or drift.fell:
        return "bad"
    inconclusive = any(part.outcome == "inconclusive" for part in drift.conditions)
    return "open" if inconclusive or len(drift.nights) == 1 or drift.trend.direction == "too few" else "good"
