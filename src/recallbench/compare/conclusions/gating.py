"""The last line of a gate: how many thresholds hold, which do not, whether that is sure, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.compare.gate_command import gate_command
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


def conclude_gate(gating: Gating, file: str) -> Conclusion:
    """Return the conclusion; `file` is the settings file, as it was named."""
    text = verdict(gating)
    out = [part for part in gating.thresholds if state_of(part) == "out of reach"]
    short = [part for part in gating.thresholds if state_of(part) == "falls short"]
    untold = [part for part in gating.thresholds if state_of(part) == UNTOLD]
    chosen = out or short or untold
    several = len(gating.results) > 1
    first = f": {_named(chosen[0], several)}" if chosen else ""
    happened = f"{text[0].upper()}{text[1:]}{first}"
    return Conclusion(happened, _belief(short, untold), _next(gating, file, out, short, untold), _tone(gating))


def conclude_update(stored: Sequence[str], file: str) -> Conclusion:
    """Return the conclusion of storing the baselines of these results; `file` is the settings file, as it was named."""
    whose = f"of {' and '.join(stored)} is" if len(stored) == 1 else f"of {', '.join(stored)} are"
    happened = f"The baseline{'' if len(stored) == 1 else 's'} {whose} stored"
    return Conclusion(happened, next=f"commit it, then: {gate_command(file)}")


def _named(part: GateThreshold, several: bool) -> str:
    # Of several results the table says in which part.
    where = part.result if several else part.part if part.part != OVERALL else ""
    what = f"{where}: {required(part)}" if where else required(part)
    if part.observed is None:
        return what
    bounds = interval(part)
    count = f", {part.n} {'questions' if part.what in ('at_least', 'drops') else 'queries'}" if part.n else ""
    # A difference is no value of the measure: it is said as one.
    seen = f"changed by {observed(part)}" if part.what == "drops" else f"is {observed(part)}"
    return f"{what} {seen}{'' if bounds == '–' else f' ({bounds})'}{count}"


def _belief(short: Sequence[GateThreshold], untold: Sequence[GateThreshold]) -> str:
    if short:
        return "its interval reaches that" if REACHES in short[0].note else ""
    if not untold:
        return ""
    return "that fails " + ("here" if any(part.fails for part in untold) else "only with strict = true")


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
        return "ask more questions"
    return "read the notes above: they say what is lacking" if untold else ""


def _look_at(part: GateThreshold, result: ResultPart) -> str:
    if part.what == "audit":
        return command("audit", result.folder)
    if result.baseline is not None and part.what not in ("p95_ms", "p95_ratio", "p95_at_load"):
        return command("compare", result.baseline, result.folder)
    return command("report", result.folder)


def _tone(gating: Gating) -> Tone:
    return "bad" if not gating.passed else "open" if gating.counts[UNTOLD] else "good"
