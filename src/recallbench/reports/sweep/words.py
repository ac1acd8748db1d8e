"""What was measured in a sweep and what the choice lies among, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.reports.time.visible import ignored_sentence
from recallbench.results.environment import recorded_load
from recallbench.results.sweep.document import (
    BASELINE,
    NAME,
    USD,
    HeldOutGatePart,
    SweepDocument,
    SweepKneePart,
    SweepPointPart,
)

MEMBERS = 10
"""Points of a set or a front that are named."""
GATES_CHOOSE = "Gates choose by the tuning questions, where of many points one may pass by luck"


def title(document: SweepDocument) -> str:
    """Return the sweep and its corpus in a line."""
    count = len(document.points)
    return f"Sweep {document.name} on {plain_names(document.corpus)}: {count} point{'s' if count != 1 else ''}"


def header(document: SweepDocument) -> str:
    """Return what the points are chosen by, and how many of them that supports."""
    split = document.split
    if split is None:
        return "All questions are in one cluster: none can be held out, and no choice is sure."
    small = "" if split.chooses else " That is too small to choose: whichever point is seen best may be so by luck."
    return (
        f"Chosen by {split.tuning_questions:,} questions ({_units(split.tuning_units, split.unit)}), told by "
        f"{split.held_out_questions:,} others ({_units(split.held_out_units, split.unit)}), drawn by seed "
        f"{split.seed}; {split.support}.{small}"
    )


def choice_lines(document: SweepDocument) -> list[str]:
    """Return the set, the front and the knee, a sentence each."""
    choice = document.choice
    if choice.chosen is None:
        return []
    members = ", ".join(choice.set[:MEMBERS]) + _more(choice.set)
    cheapest = "" if choice.cheapest is None else f"; the cheapest of them is {choice.cheapest}"
    lines = [f"Set: {choice.set_words}: {members}{cheapest}."]
    shares = {point.name: point.front_share for point in document.points}
    cost_shares = {point.name: point.cost_front_share for point in document.points}
    lines += _front_lines(choice.front, " and ".join(choice.front_prices), shares)
    lines += [_knee_line(choice.knee)]
    if choice.cost_front:
        lines += _front_lines(choice.cost_front, USD, cost_shares)
        lines += [_knee_line(choice.cost_knee)]
    return [*lines, *map(gate_line, choice.gates)]


def gate_line(gate: HeldOutGatePart) -> str:
    """Return whether the chosen point keeps a gate on the questions held out, and how surely."""
    if gate.value is None or gate.limit is None:
        return f"Gate {gate.gate}, held out: not known, since the chosen point or the {BASELINE} has no figure there."
    compared = f" against {gate.limit:.4g} of the {BASELINE}" if gate.gate.endswith(BASELINE) else ""
    between = f"; no interval: {gate.method}"
    if gate.low is not None or gate.high is not None:
        what = "difference" if gate.of_difference else "95%"
        low, high = ("–" if bound is None else f"{bound:.4g}" for bound in (gate.low, gate.high))
        between = f" ({what} {low} to {high})"
    seen = "kept" if gate.kept else "missed"
    sure = {
        "passes": f"{seen}, by its whole interval",
        "fails": f"{seen}, by its whole interval",
        "inconclusive": f"{seen} as seen, but not shown",
    }[gate.outcome]
    return f"Gate {gate.gate}, held out: {sure}: {gate.value:.4g}{compared}{between}."


def _more(names: Sequence[str]) -> str:
    return f" and {len(names) - MEMBERS} more" if len(names) > MEMBERS else ""


def _front_lines(front: Sequence[str], prices: str, shares: Mapping[str, float | None]) -> list[str]:
    if not front:
        return []
    named = ", ".join(f"{name} ({shares.get(name) or 0.0:.0%})" for name in front[:MEMBERS])
    return [
        f"Pareto front over {prices}, each with its share of resamples of the questions, prices as measured: {named}"
        f"{_more(front)}."
    ]


def _knee_line(knee: SweepKneePart | None) -> str:
    if knee is None:
        return "No knee: of the points to choose among, fewer than three have a price."
    if knee.point is None:
        return f"{knee.reason[0].upper()}{knee.reason[1:]} (over {knee.price})."
    return (
        f"Knee over {knee.price}: {knee.point}, in {knee.support:.0%} of resamples of the questions (95% of knees "
        f"between {knee.low:.3g} and {knee.high:.3g}); where a doubling must gain {knee.worth:g}."
    )


def notes(document: SweepDocument) -> list[str]:
    """Return how the points came about, a sentence each."""
    kept = sum(point.kept for point in document.points)
    dependent = (
        f" in {document.clusters} cluster{'s' if document.clusters > 1 else ''} of dependent ones"
        if document.clusters
        else ""
    )
    drawn = f", seed {document.seed}" if document.method == "random" else ""
    days = sorted({f"{point.measured} on {point.cpu}" for point in document.points if point.measured})
    held_out = "; what holds of the chosen one on those held out is said of each" if document.choice.gates else ""
    race = document.race
    ran = (
        f"Race: {race.dropped} of {len(document.measured)} points were dropped, {race.saved:,} questions saved; "
        f"{race.method}; --no-race asks all."
        if race.run
        else f"No race: {race.why_not}."
    )
    return [
        f"{document.questions:,} questions{dependent}, {document.depth} hits each; {document.method}{drawn}.",
        *ignored_sentence(document.environment),
        ran,
        *([f"{kept} of {len(document.points)} points were kept from before, with their times."] if kept else []),
        "p50 and p95 are nearest ranks of single warm searches, one caller at a time, vectors there already; a leg "
        f"that several points share is timed once: {'; '.join(days)}.",
        *_callers(document),
        *_machine(document),
        *_costs(document),
        *([f"Gates: {', '.join(document.gates)}. {GATES_CHOOSE}{held_out}."] if document.gates else []),
    ]


def _machine(document: SweepDocument) -> list[str]:
    """Return what else the machine did, where it was not quiet: points are chosen by their times."""
    load = recorded_load(document.environment)
    return [] if load is None or load.quiet else [f"{load.sentence} Times stand under that; kept ones under their own."]


def _costs(document: SweepDocument) -> list[str]:
    """Return what is in the cost of a question, where one is told."""
    if all(point.usd_per_1000 is None for point in document.points):
        return []
    return [
        "USD/1000 is a processor for as long as a single search takes, and the first k hits as what an answering model "
        "reads, at the prices of `recallbench costs`; what a site or `costs` tells of a result is without that reading."
    ]


def _callers(document: SweepDocument) -> list[str]:
    """Return how many callers asked a point at the same time, and which were asked by one, with why."""
    if document.at_once == 1:
        return []
    alone: dict[str, list[str]] = {}
    for point in document.points:
        if point.one_caller:
            alone.setdefault(point.one_caller, []).append(point.name)
    return [
        f"{document.at_once} callers asked a point at the same time, where its store takes several; then the questions "
        "of p50 and p95 were asked one by one, while nothing else ran.",
        *(f"{', '.join(names)} by one caller: {why}." for why, names in alone.items()),
    ]


def failures(document: SweepDocument) -> list[str]:
    """Return a line for each point that failed, with its reason."""
    lines = []
    for point in document.failed:
        if point.failure:
            lines.append(f"{named(point)} failed: {point.failure}")
        else:
            id, reason = next(iter(point.failed_questions.items()))
            lines.append(
                f"{named(point)}: {len(point.failed_questions)} questions have no answer and count as the worst; {id}: "
                f"{reason}"
            )
    return lines


def named(point: SweepPointPart) -> str:
    """Return a point's name with its parameters."""
    told = ", ".join(f"{name} = {value}" for name, value in point.parameters.items())
    return f"{point.name} ({told})" if told else point.name


def files() -> str:
    """Return which file has what."""
    return (
        f"`{NAME}` has every figure; answers are kept by their addresses, so a later sweep asks none of them again, "
        "but for points that an endpoint or code of your own has a part in."
    )


def _units(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"
