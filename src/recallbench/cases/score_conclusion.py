"""The last line of scored rankings: what was found, how far it can be believed, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.cases.change import Change
from recallbench.cases.scores import CaseScores
from recallbench.compare.rules import change_word
from recallbench.reports.cells import figure
from recallbench.reports.comparison import MeasuredPart, p_text, signed
from recallbench.reports.printing.conclusion import Conclusion, Tone
from recallbench.reports.printing.deciding import why_shown

FEW = 30
"""Below so many queries a figure is called one of too few."""
MEND = "mend what is named above"


def score_conclusion(scores: CaseScores, failed: str = "", again: str = "recallbench score") -> Conclusion:
    """Return the conclusion of a report. `failed` says in words what could not be scored; `again` is its command."""
    if not scores.n:
        happened = f"Nothing could be measured: none of {queries(len(scores))} has anything to find"
        return Conclusion(happened, failed, MEND if failed else "say what is relevant for each query", tone="bad")
    measure = scores.short("recall")
    estimate = next(each for each in scores.estimates if each.measure == measure)
    between = "" if estimate.low is None else f", 95% {figure(estimate.low)} to {figure(estimate.high)}"
    hits = "hit holds" if scores.k == 1 else f"{scores.k} hits hold"
    happened = (
        f"The first {hits} {scores.value(measure):.0%} of what is relevant "
        f"({measure} {figure(scores.value(measure))}{between}, {queries(scores.n)})"
    )
    if failed:
        return Conclusion(happened, failed, MEND, tone="bad")
    if scores.n < FEW:
        are = "one query is" if scores.n == 1 else f"{scores.n} queries are"
        return Conclusion(happened, f"{are} too few to rely on", "score more queries", tone="open")
    return Conclusion(happened, "the interval says how far off that may be", f"{again} --compare OTHER")


def change_conclusion(change: Change, before: str, after: str, failed: str = "") -> Conclusion:
    """Return the conclusion of two runs over the same queries; `failed` says in words what could not be scored."""
    helped, hurt = _parts(change, "helped"), _parts(change, "hurt")
    unsettled = _parts(change, "not settled")
    tone: Tone
    n, tone, then = change.parts[0].n, "open", "score more queries"
    if helped and hurt:
        worse = f"{hurt[0].measure} {signed(hurt[0].difference)}, p {p_text(hurt[0].corrected_p)}"
        happened = f"{after} is better in {_numbers(helped[0])}, and worse in {worse}"
        belief, then = "both p are corrected", "decide which of the two you want"
    elif helped or hurt:
        part = (helped or hurt)[0]
        happened = f"{after} is {'better' if helped else 'worse'} than {before}: {_numbers(part)}"
        belief, tone = why_shown(part, len(change.parts)), "good" if helped else "bad"
        then = f"keep {after if helped else before}"
    elif unsettled:
        happened = f"{after} is not shown to differ from {before}: {_numbers(unsettled[0])}"
        belief = "the interval excludes 0, yet p decides: it is corrected"
    elif not any(part.moved for part in change.parts):
        happened, belief = f"{after} and {before} score alike for {'the' if n == 1 else 'each of'} {queries(n)}", ""
        then, tone = "keep either", "good"
    else:
        part = change.parts[0]
        happened = f"{after} is not shown to differ from {before}: {_numbers(part)}"
        belief = "that does not make them equal"
        if part.detectable is not None:
            belief = f"a difference below {figure(part.detectable)} would often be missed"
    if failed:
        return Conclusion(happened, failed, MEND, tone="bad")
    return Conclusion(happened, belief, then, tone)


def queries(count: int) -> str:
    """Return so many queries, in words."""
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def _parts(change: Change, word: str) -> Sequence[MeasuredPart]:
    return [part for part in change.parts if change_word(part).startswith(word)]


def _numbers(part: MeasuredPart) -> str:
    return f"{part.measure} {part.words}, {queries(part.n)}, p {p_text(part.corrected_p)}"
