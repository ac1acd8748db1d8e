"""The last line of `recallbench gate --init`: what the file holds, and what drop so many questions can find."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.compare.fitted.file import FittedResult
from recallbench.compare.gate_command import gate_command
from recallbench.reports.cells import figure, interval
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.table import Part, Table
from recallbench.results.metrics import OVERALL

ASSUMED = "counted cautiously: between most versions smaller drops show"
UNSEEN = "what stays above the floors passes, however much was lost"


def fitted_parts(results: Sequence[FittedResult], stored: Sequence[str]) -> list[Part]:
    """Return the thresholds with what was measured, what was left out, and the baselines that were stored."""
    rows = [
        [
            *(each.name, floor.kind or OVERALL, f"{floor.estimate.measure} >= {floor.at_least:g}"),
            *(figure(floor.estimate.value), interval(floor.estimate), str(floor.estimate.n)),
        ]
        for each in results
        for floor in each.fitted.floors
    ]
    rows += [
        [each.name, OVERALL, f"{told.measure} drops less than {told.threshold:g}", "–", "–", str(told.n)]
        for each in results
        for told in [each.fitted.detectable]
        if told.threshold is not None
    ]
    left_out = [f"{each.name}: left out: {reason}" for each in results for reason in each.fitted.left_out]
    table = Table(("result", "part", "threshold", "measured", "95% interval", "n"), rows)
    return [*(f"{each.name}: {each.folder}" for each in results), "", table, *left_out, *stored]


def conclude_fitting(results: Sequence[FittedResult], file: str) -> Conclusion:
    """Return the conclusion of writing a file; where it could name no drop, the file is not what was asked for."""
    count = sum(each.thresholds for each in results)
    told = "; ".join(f"{each.name + ': ' if len(results) > 1 else ''}{_words(each)}" for each in results)
    happened = f"{file} has {count} thresholds; {told}"
    assumed = ASSUMED if any(each.baseline is not None for each in results) else ""
    if few := next((each for each in results if each.baseline is None), None):
        more = "more questions" if few.fitted.detectable.clusters is None else "more questions in more clusters"
        return Conclusion(
            happened,
            "; ".join(filter(None, (UNSEEN, assumed))),
            f"measure with {more}, move {file} away, then {gate_command(file, '--init', 'DIR')}",
            tone="bad",
        )
    return Conclusion(happened, assumed, gate_command(file))


def _words(each: FittedResult) -> str:
    return f"{'floors alone: ' if each.baseline is None else ''}{each.fitted.detectable.words}"
