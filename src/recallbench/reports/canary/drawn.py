"""A draw in words: its strata, what it can detect, what its mean may be quoted as, and when it is stale."""

from __future__ import annotations

from datetime import date

from recallbench.corpora.labelled_sets.canary_record import CanaryPower, CanaryRecord
from recallbench.escaping.shell import command
from recallbench.reports.cells import figure, share
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.table import Part, Table
from recallbench.results.canary_part import CanaryPart

THRESHOLD = 0.01
"""The drop of a gate that is given as an example."""


def drawn_parts(record: CanaryRecord) -> list[Part]:
    """Return the table of strata, the notes, and what follows."""
    rows = [
        (
            stratum.kind or "–",
            stratum.tenant or "–",
            "hard" if stratum.hard else "",
            share(stratum.share),
            str(stratum.available),
            f"{stratum.quota:.2f}",
            str(stratum.drawn),
            figure(stratum.weight, 2),
        )
        for stratum in record.strata
    ]
    head = ("kind", "tenant", "", "of production", "in the set", "quota", "drawn", "weight")
    table = Table(head, rows, left=("kind", "tenant", ""))
    return [
        table,
        "",
        *record.notes,
        f"hard: {len(record.hard.questions)} of {record.questions} ({record.hard.drawn:.1%}; production's mix has "
        f"{record.hard.production:.1%}): {record.hard.rule}",
        *detects_lines(record.detects),
        quotable(record),
        *([f"kept from the earlier canary: {len(record.refreshed.kept)} questions"] if record.refreshed else []),
        stale_words(record),
    ]


def conclusion(record: CanaryRecord, folder: str) -> Conclusion:
    """Return what the canary is good for, and how it is measured."""
    happened = f"{folder} is a canary of {record.questions} questions"
    detects, belief = record.detects, ""
    if detects.drop is None:
        belief = f"too few to see any drop of {detects.measure}"
    else:
        belief = f"a drop of {detects.measure} by {detects.drop:.3f} or more is seen in about 8 of 10 runs"
    then = f"measure it: {command('evaluate', folder)}"
    return Conclusion(happened, belief, then, tone="open" if detects.drop is None else "good")


def detects_lines(detects: CanaryPower) -> list[str]:
    """Return what a comparison and a gate can see, and by what assumption."""
    assumed = f"assumed: {detects.assumption}"
    few = f"{detects.n} questions" + ("" if detects.clusters == detects.n else f" in {detects.clusters} scopes")
    if detects.drop is None:
        why = f"{few} are too few to see one in 8 of 10 runs at p < .05"
        return [f"detects: no drop of {detects.measure}: {why}", assumed]
    differing = "" if detects.differing is None else f", {detects.differing:.1%} of them differing by chance"
    return [
        f"detects: a drop of {detects.measure} from {detects.level:.2f} by {detects.drop:.3f} or more is seen in about "
        f"8 of 10 runs (p < .05 before Holm, {detects.n} questions with something to find{differing})",
        f"a gate `{detects.measure} drops {THRESHOLD}` fails in as many from a drop of {detects.drop + THRESHOLD:.3f} "
        f"on; the figure itself is known to ±{figure(detects.half_width, 3)}",
        assumed,
    ]


def quotable(canary: CanaryPart | CanaryRecord) -> str:
    """Say whether a plain mean over the questions may be quoted as production's, and how far it may be off."""
    mix = "production's mix"
    if canary.uncovered:
        mix = f"{share(1 - canary.uncovered)} of production (the set has no question for the rest)"
    if canary.proportional:
        return (
            f"Its plain mean is one of {mix}, as far as the labelled questions of a kind and tenant are like "
            f"those of production; rounding can move it by no more than {canary.bias:.4f}."
        )
    of = f" to {mix}" if canary.uncovered else ""
    return (
        "Its plain mean must not be quoted as production's: questions are drawn out of proportion, which moves it by "
        f"up to {canary.bias:.4f}; `recallbench canary DIR --check --result RESULT` weighs them back{of}."
    )


def stale_words(record: CanaryRecord) -> str:
    """Say when it is stale."""
    after = record.stale_after
    if after is None:
        return "never stale by age: no --stale-after was set"
    return f"stale on {after.on}" if after.on else f"stale after {after.recalls} more recalls in the log"


def canary_lines(canary: CanaryPart | None, today: date) -> list[str]:
    """Return what stands beside the figures of a result over a canary: that it is stale, or that its mean is biased."""
    if canary is None:
        return []
    stale = canary.staleness(today.isoformat())
    lines = [f"canary: {stale}; `recallbench canary DIR --refresh --folder NEW` draws it anew"] if stale else []
    return lines if canary.proportional else [*lines, f"canary: {quotable(canary)}"]


def canary_doubt(canary: CanaryPart, today: date) -> str:
    """Return why the figures of a canary tell less of production than they seem to, in a few words; else nothing."""
    if stale := canary.staleness(today.isoformat()):
        return f"the canary is {stale}"
    return "" if canary.proportional else "its mean is not production's: the canary is drawn out of proportion"


def canary_sentences(canary: CanaryPart) -> list[str]:
    """Return what a report says of the canary that was asked: its days, its mean, its hard questions."""
    until = f"It is stale from {canary.stale_on} on." if canary.stale_on else "No day is stated on which it is stale."
    return [
        f"The questions are a canary's, drawn on {canary.drawn}. {until}",
        quotable(canary),
        f"Hard questions are {share(canary.hard)} of it, and {share(canary.hard_in_production)} of production's mix.",
    ]
