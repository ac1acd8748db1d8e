"""The last line of a gate: how many thresholds hold, which do not, whether that is sure, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.escaping.shell import command
from recallbench.reports.printing.conclusion import Conclusion, Tone
from recallbench.reports.thresholds import (
    REACHES,
    UNTOLD,
    GateThreshold,
    Gating,
    ResultPart,
    interval,
    observed,
    required,
    state_of,
    verdict,
)
from recallbench.results.metrics import OVERALL

NAMED = 2
"""How many thresholds the line names; the table has them all."""


def conclude_gate(gating: Gating, file: str) -> Conclusion:
    """Return the conclusion; `file` is the settings file, as it was named."""
    text = verdict(gating)
    out = [part for part in gating.thresholds if state_of(part) == "out of reach"]
    short = [part for part in gating.thresholds if state_of(part) == "falls short"]
    untold = [part for part in gating.thresholds if state_of(part) == UNTOLD]
    chosen = out or short or untold
    several = len(gating.results) > 1
    named = [_named(part, several) for part in chosen[:NAMED]]
    more = f" and {len(chosen) - NAMED} more" if len(chosen) > NAMED else ""
    happened = f"{text[0].upper()}{text[1:]}{': ' if named else ''}{', '.join(named)}{more}"
    return Conclusion(happened, _belief(short, untold), _next(gating, file, out, short, untold), _tone(gating))


def conclude_update(stored: Sequence[str]) -> Conclusion:
    """Return the conclusion of storing the baselines of these results."""
    whose = f"of {' and '.join(stored)} is" if len(stored) == 1 else f"of {', '.join(stored)} are"
    return Conclusion(
        f"The baseline{'' if len(stored) == 1 else 's'} {whose} stored", next="commit it, then: recallbench gate"
    )


def _named(part: GateThreshold, several: bool) -> str:
    where = " ".join(
        word for word in (part.result if several else "", part.part if part.part != OVERALL else "") if word
    )
    what = f"{where}: {required(part)}" if where else required(part)
    if part.observed is None:
        return what
    bounds = interval(part)
    count = f", {part.n} {'questions' if part.what in ('at_least', 'drops') else 'queries'}" if part.n else ""
    # A difference is no value of the measure: it is said as one.
    seen = f"changed by {observed(part)}" if part.what == "drops" else f"is {observed(part)}"
    return f"{what} {seen}{'' if bounds == '–' else f' ({bounds})'}{count}"


def _belief(short: Sequence[GateThreshold], untold: Sequence[GateThreshold]) -> str:
    told = []
    if short and all(REACHES in part.note for part in short):
        told.append("the interval reaches what is required: so few questions can't tell whether it really falls short")
    elif short and any(REACHES in part.note for part in short):
        told.append("some intervals reach what is required: the table says which")
    if untold:
        fails = any(part.fails for part in untold)
        told.append("what can't be told fails here" if fails else "what can't be told fails only with strict = true")
    return "; ".join(told)


def _next(
    gating: Gating,
    file: str,
    out: Sequence[GateThreshold],
    short: Sequence[GateThreshold],
    untold: Sequence[GateThreshold],
) -> str:
    if gating.missing:
        return gating.missing[0].remedy
    if out:
        return f"lower what no ranking could keep in {file}"
    of = {result.result: result for result in gating.results}
    if short:
        return _look_at(short[0], of[short[0].result])
    if untold and all(part.what == "drops" for part in untold):
        return "ask more questions, or allow a larger drop"
    return "read the notes above: they say what is lacking" if untold else ""


def _look_at(part: GateThreshold, result: ResultPart) -> str:
    if part.what == "audit":
        return command("audit", result.folder)
    if result.baseline is not None and part.what not in ("p95_ms", "p95_ratio", "p95_at_load"):
        return f"{command('compare', result.baseline, result.folder)}, to see what changed"
    return f"{command('report', result.folder)}, to see what it missed"


def _tone(gating: Gating) -> Tone:
    return "bad" if not gating.passed else "open" if gating.counts[UNTOLD] else "good"
