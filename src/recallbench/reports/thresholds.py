"""The outcome of `recallbench gate`: the JSON document, and the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

from pydantic import Field

from recallbench.escaping.markdown import inline, opening
from recallbench.reports.cells import figure
from recallbench.reports.comparison import signed, signed_range
from recallbench.reports.comparison_text import decided_by_step
from recallbench.reports.part import DocumentPart
from recallbench.reports.table import Table
from recallbench.results.matching_part import SharePart

Outcome = Literal["holds", "falls short", "inconclusive", "cannot tell", "out of reach"]
State = Literal["out of reach", "falls short", "can't be told", "holds"]
"""The state of a threshold; of what can't be told there are two outcomes, by the reason."""
STATES: tuple[State, ...] = get_args(State)


class GateThreshold(DocumentPart):
    """One threshold with the measured value."""

    result: str = Field(description="its name in the settings file")
    part: str = Field(description="overall, the kind, ability or tenant, or abstention")
    what: Literal["at_least", "drops", "auroc", "false_retrieval", "p95_ms", "p95_ratio", "p95_at_load", "audit"]
    measure: str
    required: float | None = Field(description="null for an audit")
    observed: float | None = Field(
        description="for drops: the result minus its baseline; for p95_ratio: divided by it, null for other hardware"
    )
    low: float | None = Field(description="lower end of the 95% interval of what was observed")
    high: float | None
    ceiling: float | None = Field(description="what an oracle reaches on these questions; null where none is known")
    n: int = Field(description="questions, queries timed, or answers of a level of load")
    outcome: Outcome = Field(
        description="inconclusive and cannot tell are the third state, of what can't be told: the interval decides "
        "nothing, or there is nothing to tell it by; out of reach: no ranking could keep it, not even an oracle's"
    )
    fails: bool = Field(
        default=False, description="it makes the gate fail, as what can't be told does where the result is `strict`"
    )
    by: float | None = Field(description="by how much it falls short; null where it does not")
    note: str


class ResultPart(DocumentPart):
    result: str
    folder: str
    content_sha256: str
    system: str
    baseline: str | None
    baseline_sha256: str | None
    failed: int = Field(description="questions that the store failed on, counted as the worst answers")
    canary: list[str] = Field(
        default=[],
        exclude_if=lambda lines: not lines,
        description="of a canary's questions: that they are stale today, or that a plain mean is not production's",
    )

    shares: list[SharePart] = Field(
        default=[],
        exclude_if=lambda shares: not shares,
        description="of gold that was matched in steps (hybrid): how many questions each step decided",
    )


class MissingPart(DocumentPart):
    result: str
    problem: str
    found: str
    remedy: str


class Gating(DocumentPart):
    """Every threshold of a settings file."""

    schema_version: Literal["1"]
    recallbench_version: str
    passed: bool = Field(description="no threshold fails, and no result is missing")
    counts: dict[State, int] = Field(description="thresholds by state")
    results: list[ResultPart]
    missing: list[MissingPart] = Field(description="results that are not there: nothing was held to their thresholds")
    thresholds: list[GateThreshold]


REACHES = "the interval reaches it: so few questions can't tell"
TOO_SHORT = "the interval is too short: few clusters decide a value near its bounds"
"""Notes on a threshold's interval."""
STRICT = "strict = true"
FORBIDDEN = f"{STRICT} forbids what can't be told"
"""The end of the note on what fails for that alone."""


UNTOLD: State = "can't be told"
_TIMES = ("p95_ms", "p95_at_load")
_FORMS = {
    "at_least": "{} >= {:g}",
    "drops": "{} drops less than {:g}",
    "auroc": "{} >= {:g}",
    "false_retrieval": "{} <= {:g}",
    "p95_ms": "{} <= {:g} ms",
    "p95_ratio": "{} <= {:g}",
    "p95_at_load": "{} <= {:g} ms",
}


def state_of(threshold: GateThreshold) -> State:
    """Return whether a threshold holds, falls short, can't be told, or is out of reach."""
    if threshold.outcome == "inconclusive" or threshold.outcome == "cannot tell":
        return "can't be told"
    return threshold.outcome


def counts(thresholds: Sequence[GateThreshold]) -> dict[State, int]:
    """Return how many thresholds are in each state, also where none is."""
    counted = Counter(map(state_of, thresholds))
    return {state: counted[state] for state in STATES}


def sections(gating: Gating) -> dict[State, list[GateThreshold]]:
    """Return the thresholds by state, the worst first; without states that no threshold has."""
    by_state = {state: [part for part in gating.thresholds if state_of(part) == state] for state in STATES}
    return {state: parts for state, parts in by_state.items() if parts}


def titled_sections(gating: Gating) -> list[tuple[str, list[GateThreshold]]]:
    """Return the thresholds by state under their headings; one of what can't be told says where that fails."""
    titled: dict[str, list[GateThreshold]] = {}
    for state, parts in sections(gating).items():
        for part in sorted(parts, key=lambda part: not part.fails):
            titled.setdefault(_title(state, part), []).append(part)
    return list(titled.items())


def _title(state: State, part: GateThreshold) -> str:
    if state != UNTOLD or not part.fails:
        return state
    return f"{state} (fails: {STRICT if part.note.endswith(FORBIDDEN) else 'a rate has to be shown'})"


def table(parts: Sequence[GateThreshold]) -> Table:
    """Return a row for each threshold."""
    rows = [
        (
            part.result,
            part.part,
            required(part),
            observed(part),
            interval(part),
            str(part.n) if part.n else "–",
            figure(part.ceiling),
            _by(part),
            part.note or "–",
        )
        for part in parts
    ]
    return Table(("result", "part", "threshold", "observed", "95% interval", "n", "ceiling", "by", "note"), rows)


def required(threshold: GateThreshold) -> str:
    """Return a threshold in words, as `recall_any@10 >= 0.8`."""
    if threshold.required is None:
        return threshold.measure
    return _FORMS[threshold.what].format(threshold.measure, threshold.required)


def sheet(gating: Gating) -> Table:
    """Return a row for each threshold with its state, for a spreadsheet."""
    tables = {state: table(parts) for state, parts in sections(gating).items()}
    rows = [(state, *row) for state, part in tables.items() for row in part.rows]
    return Table(("state", *table([]).columns), rows)


def verdict(gating: Gating) -> str:
    """Return the verdict on all thresholds in a line: how many are in which state."""
    total, in_state = len(gating.thresholds), gating.counts
    holding, missed = in_state["holds"], in_state["falls short"]
    more = f", {in_state[UNTOLD]} can't be told" if in_state[UNTOLD] else ""
    more += f", {in_state['out of reach']} out of reach" if in_state["out of reach"] else ""
    if missed:
        line = f"{missed} of {_thresholds(total)} fall{_s(total)} short{more}"
    elif holding < total:
        line = f"{holding} of {_thresholds(total)} hold{_s(total)}{more}"
    else:
        line = "the one threshold holds" if holding == 1 else f"all {holding} thresholds hold"
    return f"{line}; no result of {', '.join(result.result for result in gating.missing)}" if gating.missing else line


def _s(total: int) -> str:
    return "s" if total == 1 else ""


def _thresholds(count: int) -> str:
    return f"{count} threshold{'' if count == 1 else 's'}"


def sources(gating: Gating) -> list[str]:
    """Return the folder of each result, and each missing result, a line each."""
    return [
        line
        for result in gating.results
        for line in (
            _source(result),
            *(f"{result.result}: {told}" for told in (*result.canary, *decided_by_step(result.shares))),
        )
    ] + [f"{result.result}: missing: {result.problem} ({result.found})" for result in gating.missing]


def markdown(gating: Gating) -> str:
    """Return Markdown for a job's summary or a comment on a pull request."""
    mark = "❌" if not gating.passed else "❔" if gating.counts[UNTOLD] else "✅"
    lines = [f"### {mark} gate: {inline(verdict(gating))}", ""]
    for title, chosen in titled_sections(gating):
        lines += [f"**{inline(title[0].upper() + title[1:])}**", "", *table(chosen).markdown(), ""]
    return "\n".join([*lines, *(f"- {opening(line)}" for line in sources(gating))]) + "\n"


def _source(result: ResultPart) -> str:
    return (
        f"{result.result}: {result.folder} ({result.system}, content {result.content_sha256[:12]})"
        + (f" against {result.baseline} (content {(result.baseline_sha256 or '')[:12]})" if result.baseline else "")
        + (f"; the store failed on {result.failed} of its questions" if result.failed else "")
    )


def observed(threshold: GateThreshold) -> str:
    """Return the measured value, as the table has it."""
    if threshold.observed is None:
        return "–"
    if threshold.what in _TIMES:
        return f"{threshold.observed:.3g} ms"
    return signed(threshold.observed) if threshold.what == "drops" else figure(threshold.observed)


def interval(threshold: GateThreshold) -> str:
    """Return the 95% interval of the measured value, as the table has it."""
    if threshold.what in _TIMES:
        low, high = (None if bound is None else f"{bound:.3g}" for bound in (threshold.low, threshold.high))
        return "–" if low is None and high is None else f"{low or '?'} to {high or '?'} ms"
    if threshold.what == "drops":
        return signed_range(threshold.low, threshold.high)
    return "–" if threshold.low is None or threshold.high is None else f"{threshold.low:.4f} to {threshold.high:.4f}"


def _by(threshold: GateThreshold) -> str:
    if threshold.by is None:
        return "–"
    return f"{threshold.by:.3g} ms" if threshold.what in _TIMES else figure(threshold.by)
