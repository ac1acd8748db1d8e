"""A report as a table: by case, with a MEAN line, as text, Markdown and HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from recallbench.cases.case import ABSTENTION, NOTHING, count
from recallbench.cases.definitions import PERCENTILES
from recallbench.cases.params import in_words
from recallbench.cases.scores import CaseRow, CaseScores
from recallbench.escaping.markdown import opening
from recallbench.escaping.terminal import visible
from recallbench.escaping.web import html as escaped
from recallbench.reports.cells import figure, in_no_mean, interval, share
from recallbench.reports.coverage import coverage_sentence
from recallbench.reports.page import listing
from recallbench.reports.table import Part, Table, plain_lines
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr

MEAN = "MEAN"
WIDTH = 60
"""Characters of a query in a table for people."""
PREVIEW = 10
"""Cases that a report shows of itself at a prompt; `table()` shows all."""


def text(scores: CaseScores, by: str | None = None, most: int | None = None) -> str:
    """Return the report for a terminal; of the cases `most`, or all."""
    return "\n".join(plain_lines(*parts(scores, by, most)))


def markdown(scores: CaseScores, by: str | None = None) -> str:
    """Return the report as Markdown."""
    lines: list[str] = []
    for part in _sections(scores, by):
        lines += [*(part.markdown() if isinstance(part, Table) else [opening(part)]), ""]
    return "\n".join([*lines, *(f"- {opening(remark)}" for remark in remarks(scores))])


def html(scores: CaseScores) -> str:
    """Return the report for a notebook: escaped, and without scripts."""
    lines: list[str] = []
    for part in _sections(scores, most=PREVIEW):
        lines += part.html() if isinstance(part, Table) else [f"<p>{escaped(part)}</p>"]
    return "".join([*lines, *listing(remarks(scores))])


def parts(scores: CaseScores, by: str | None = None, most: int | None = None) -> list[Part]:
    """Return the lines and tables of the report."""
    return [*(line for part in _sections(scores, by, most) for line in (part, "")), *remarks(scores)]


def _sections(scores: CaseScores, by: str | None = None, most: int | None = None) -> list[Part]:
    sections: list[Part] = [_opening(scores), _case_table(scores, most)]
    if by is not None:
        sections.append(_slice_table(by, scores.by(by)))
    if scores.apart:
        sections.append(_slice_table("decided by", scores.apart))
    sections.append(_measure_table(scores))
    if scores.shares:
        sections.append(_share_table(scores))
    return sections + _text_sections(scores)


def _opening(scores: CaseScores) -> str:
    chosen = f", definitions: {scores.definitions}" if str(scores.definitions) else ""
    ties = f", ties: {scores.ties}" if scores.ties else ""
    params = f", params: {in_words(scores.params)}" if scores.params else ""
    return f"{count(len(scores))}, k = {scores.k}, matching: {scores.matching}{chosen}{ties}{params}"


def column(measure: Measure) -> str:
    """Return the head of a column: the exact name, but for `mrr`, whose depth a remark says."""
    return "mrr" if isinstance(measure, Mrr) else str(measure)


def remarks(scores: CaseScores) -> list[str]:
    """Return the sentences on how to read the table, and on what is wrong with it."""
    lines = [
        f"mrr is mrr@{scores.k}; {scores.short('f1')} is the mean of each query's F1, {scores.short('f1_of_means')} "
        "the harmonic mean of the mean precision and the mean recall"
    ]
    lines += _other_definitions(scores)
    if scores.latencies:
        p50, p95 = scores.latency_p50_ms, scores.latency_p95_ms
        lines.append(
            f"latency: p50 {p50:.3g} ms, p95 {p95:.3g} ms of {len(scores.latencies)} calls "
            f"(percentiles: {PERCENTILES[scores.definitions.percentiles]})"
        )
    if scores.candidates is None:
        lines.append("chance is not known: nothing says how many items could have come back")
    out = len(scores) - scores.n
    if not scores.n:
        lines.append(NOTHING)
    abstaining = sum(case.kind == ABSTENTION for case in scores.cases)
    if scores.n and abstaining:
        lines.append(in_no_mean(abstaining))
    if scores.n and out > abstaining:
        lines.append(f"{out - abstaining} with nothing to find, in no mean")
    if (abstained := scores.abstention) is not None and abstained.auroc is not None:
        lines.append(
            f"abstention: false retrieval {figure(abstained.false_retrieval)} at the score threshold "
            f"{abstained.threshold:g}, AUROC {figure(abstained.auroc)} over {abstained.n} and "
            f"{abstained.answerable} cases"
        )
    if scores.coverage is not None:
        lines.append(coverage_sentence(scores.coverage, scores.k))
    lines += scores.notes
    failures = [answer.failure for answer in scores.answers if answer.failure is not None]
    return [*lines, *(f"failed, counted as the worst answer: {failure.brief}" for failure in failures)]


def _other_definitions(scores: CaseScores) -> list[str]:
    """Return a sentence for each definition that is not the usual one."""
    lines = []
    if scores.definitions.precision == "retrieved":
        lines.append(f"{scores.short('precision')} divides by what came back, {scores.k} at most, also within F1")
    if scores.definitions.ndcg == "graded":
        graded = int(scores.short("ndcg").counted(scores.judged).sum())
        lines.append(f"{scores.short('ndcg')} is over the {graded} of {count(scores.n)} that have grades")
    return lines


def _case_table(scores: CaseScores, most: int | None) -> Table:
    kinds = any(case.kind for case in scores.cases)
    columns = ("query", *(("kind",) if kinds else ()), *map(column, scores.columns))
    shown = scores.rows[:most]
    rows = [_case_row(scores, row, kinds) for row in shown]
    if len(shown) < len(scores):
        rows.append((f"… {len(scores) - len(shown)} more", *("",) * (len(columns) - 1)))
    rows.append((MEAN, *(("",) if kinds else ()), *(_two_digits(scores.value(column)) for column in scores.columns)))
    return Table(columns, rows, left=("query", "kind"))


def _case_row(scores: CaseScores, row: CaseRow, kinds: bool) -> tuple[str, ...]:
    text = visible(" ".join(row.case.name.split()))
    text = text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
    mark = " (failed)" if row.failure else ""
    values = (_two_digits(row.values.get(str(column), math.nan)) for column in scores.columns)
    return (text + mark, *((row.case.kind or "",) if kinds else ()), *values)


def _slice_table(by: str, slices: Mapping[Any, CaseScores]) -> Table:
    rows = [
        (name or "–", str(part.n), *(_four_digits(part.value(measure)) for measure in part.columns))
        for name, part in slices.items()
    ]
    measures = next(iter(slices.values())).columns
    return Table((by, "n", *map(column, measures)), rows, left=(by,))


def _measure_table(scores: CaseScores) -> Table:
    rows = [
        (
            str(estimate.measure),
            figure(estimate.value),
            interval(estimate),
            str(estimate.n),
            figure(estimate.ceiling),
            figure(estimate.chance),
        )
        for estimate in scores.estimates
    ]
    return Table(("measure", "value", "95% interval", "n", "oracle", "chance"), rows, left=("measure",))


def _share_table(scores: CaseScores) -> Table:
    missed = scores.n - sum(share.cases for share in scores.shares)
    rows = [
        *((entry.step, str(entry.cases), share(entry.share), str(entry.hits)) for entry in scores.shares),
        ("not found", str(missed), share(missed / scores.n if scores.n else None), ""),
    ]
    return Table(("first match by", "cases", "share", "hits"), rows, left=("first match by",))


def _text_sections(scores: CaseScores) -> list[Part]:
    if scores.texts is None:
        return []
    exact, fuzzy, none = scores.texts.count_first_matches(scores.k)
    columns = ("matching", f"recall_frac@{scores.k}", f"mrr@{scores.k}", "random texts that match")
    rows = [
        (point.rule, _four_digits(point.recall), _four_digits(point.mrr), share(point.random))
        for point in scores.texts.sensitivity(scores.k)
    ]
    return [
        f"of the {count(exact + fuzzy + none)} decided by text, top {scores.k}: {exact} found by an exact match, "
        f"{fuzzy} by a fuzzy one, {none} not found",
        Table(columns, rows, left=("matching",)),
        f"random texts: {scores.texts.random.pairs} pairs of an expected text and one that came back for another case, "
        "seed 42",
    ]


def _two_digits(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def _four_digits(value: float) -> str:
    return figure(None if math.isnan(value) else value)
