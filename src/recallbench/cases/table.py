"""A report as a table: by case, with a MEAN line, as text, Markdown, CSV, JSON and HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from recallbench import __version__
from recallbench.cases.case import NOTHING, count
from recallbench.cases.scores import CaseRow, CaseScores
from recallbench.errors import UsageError
from recallbench.escaping.document import json_text
from recallbench.escaping.markdown import opening, table
from recallbench.escaping.sheet import csv_text
from recallbench.escaping.terminal import visible
from recallbench.escaping.web import html as escaped
from recallbench.reports.cells import figure, interval, share
from recallbench.scoring.intervals import is_too_short
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr

Format = Literal["text", "markdown", "csv", "json"]
PERCENTILES = {"nearest-rank": "nearest rank", "index": "sorted[int(share * n)]"}
"""How each rule is told."""
MEAN = "MEAN"
WIDTH = 60
"""Characters of a query in a table for people."""
SHARES = ("first match by", "cases", "share", "hits")
"""The head of the table that tells the steps of hybrid apart."""
PREVIEW = 10
"""Cases that a report shows of itself at a prompt; `table()` shows all."""


def render(report: CaseScores, format: Format, by: str | None = None) -> str:
    """The whole report in that format, ending in a newline."""
    if format == "csv":
        return _csv(report, by)
    if format == "json":
        return json_text(document(report, by), indent=2) + "\n"
    if format not in ("text", "markdown"):
        raise UsageError("no such format", expected="text, markdown, csv or json", found=repr(format))
    return "\n".join(lines(report, by, len(report), markdown=format == "markdown")) + "\n"


def preview(report: CaseScores) -> str:
    """The first cases, the means and what stands beside them."""
    return "\n".join(lines(report, None, PREVIEW, markdown=False))


def lines(report: CaseScores, by: str | None, most: int, *, markdown: bool) -> list[str]:
    """The report told to a person."""
    kinds = any(case.kind for case in report.cases)
    header = ("query", *(("kind",) if kinds else ()), *map(name, report.columns))
    shown = report.rows[:most]
    rows = [_row(report, row, kinds) for row in shown]
    if len(shown) < len(report):
        rows.append((f"… {len(report) - len(shown)} more", *("",) * (len(header) - 1)))
    rows.append((MEAN, *(("",) if kinds else ()), *(_two(report.value(one)) for one in report.columns)))
    said = opening if markdown else visible
    told = [said(_opening(report)), ""]
    told += grid(header, rows, markdown=markdown)
    if by is not None:
        told += ["", *grid((by, "n", *map(name, report.columns)), _slices(report, by), markdown=markdown)]
    if report.apart:
        told += ["", *grid(("decided by", "n", *map(name, report.columns)), _apart(report), markdown=markdown)]
    told += [
        "",
        *grid(("measure", "value", "95% interval", "n", "oracle", "chance"), _means(report), markdown=markdown),
    ]
    if report.shares:
        told += ["", *grid(SHARES, _shares(report), markdown=markdown)]
    if report.texts is not None:
        told += ["", *_by_text(report, markdown=markdown)]
    return [*told, "", *(f"- {said(one)}" if markdown else said(one) for one in remarks(report))]


def _opening(report: CaseScores) -> str:
    chosen = f", definitions: {report.definitions}" if str(report.definitions) else ""
    ties = f", ties: {report.ties}" if report.ties else ""
    return f"{count(len(report))}, k = {report.k}, matching: {report.matching}{chosen}{ties}"


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], *, markdown: bool) -> list[str]:
    """Rows below their header, aligned for a terminal or as a Markdown table."""
    if markdown:
        return table(header, rows)
    every = [list(map(visible, row)) for row in (header, *rows)]
    widths = [max(len(row[i]) for row in every) for i in range(len(header))]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 or header[i] == "kind" else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in every
    ]


def name(measure: Measure) -> str:
    """The head of a column: the exact name, but for `mrr`, whose depth a remark says."""
    return "mrr" if isinstance(measure, Mrr) else str(measure)


def remarks(report: CaseScores) -> list[str]:
    """How the table is to be read, and what is wrong with it."""
    told = [
        f"mrr is mrr@{report.k}; {report.short('f1')} is the mean of each query's F1, {report.short('f1_of_means')} "
        "the harmonic mean of the mean precision and the mean recall"
    ]
    told += _other_definitions(report)
    if report.latencies and report.definitions.percentiles:
        p50, p95 = report.latency_p50_ms, report.latency_p95_ms
        told.append(
            f"latency: p50 {p50:.3g} ms, p95 {p95:.3g} ms of {len(report.latencies)} calls "
            f"(percentiles: {PERCENTILES[report.definitions.rule]})"
        )
    if report.candidates is None:
        told.append("chance is not known: nothing says how many items could have come back")
    out = len(report) - report.n
    if not report.n:
        told.append(NOTHING)
    elif out:
        told.append(f"{out} with nothing to find, in no mean")
    if (asked := report.abstention) is not None and asked.auroc is not None:
        told.append(
            f"abstention: false retrieval {figure(asked.false_retrieval)} at the score threshold {asked.threshold:g}, "
            f"AUROC {figure(asked.auroc)} over {asked.n} and {asked.answerable} cases"
        )
    told += report.notes
    failures = [one.failure for one in report.answers if one.failure is not None]
    return [*told, *(f"failed, counted as the worst answer: {one.brief}" for one in failures)]


def _other_definitions(report: CaseScores) -> list[str]:
    """What those definitions count that are not the usual ones."""
    told = []
    if report.definitions.precision == "retrieved":
        told.append(f"{report.short('precision')} divides by what came back, {report.k} at most, also within F1")
    if report.definitions.ndcg == "graded":
        graded = int(report.short("ndcg").counted(report.judged).sum())
        told.append(f"{report.short('ndcg')} is over the {graded} of {count(report.n)} that have grades")
    return told


def summary(report: CaseScores) -> dict[str, Any]:
    """The report under the names that harnesses commonly give its figures."""
    names = {f"{name}@k": report.short(name) for name in ("precision", "recall", "f1", "ndcg")}
    figures = {name: _number(report.value(one)) for name, one in names.items()}
    latencies = ("latency_p50_ms", "latency_p95_ms")
    return {
        "params": {
            "k": report.k,
            "depth": report.judged.depth,
            "cases": len(report),
            "n": report.n,
            "failed": len(report.failures),
            "matching": str(report.matching),
            **report.definitions.named(),
            "timed": len(report.latencies),
            "recallbench_version": __version__,
        },
        **figures,
        **{name.replace("@k", f"@{report.k}"): value for name, value in figures.items()},
        "mrr": _number(report.mrr),
        **{name: getattr(report, name) for name in latencies},
        "names": {
            **{name: str(one) for name, one in names.items()},
            "mrr": str(report.short("mrr")),
            **dict.fromkeys(latencies, PERCENTILES[report.definitions.rule]),
        },
    }


def document(report: CaseScores, by: str | None = None) -> dict[str, Any]:
    """The report for machines; every figure under its exact name."""
    ways, matched_by = report.ways or ("",) * len(report), report.matched_by or ("",) * len(report)
    found: dict[str, Any] = {
        "recallbench_version": __version__,
        "k": report.k,
        "depth": report.judged.depth,
        "matching": str(report.matching),
        "definitions": report.definitions.named(),
        **({"ties": report.ties} if report.ties else {}),
        "cases": len(report),
        "n": report.n,
        "failed": len(report.failures),
        "mean": {str(one): _number(report.value(one)) for one in report.measures},
        "estimates": [
            {
                "measure": str(one.measure),
                "value": one.value,
                "n": one.n,
                "low": one.low,
                "high": one.high,
                "method": one.method,
                "ceiling": one.ceiling,
                "chance": one.chance,
                "too_short": is_too_short(one.value, one.design_effect),
            }
            for one in report.estimates
        ],
        "rows": [
            {
                "query_id": row.case.name,
                "query": row.case.query,
                "kind": row.case.kind,
                "relevant": len(row.case.relevant),
                "ranked": len(row.ranked),
                **({"decided_by": way or None} if report.apart else {}),
                **({"matched_by": by or None} if report.steps is not None else {}),
                **row.values,
                "failure": None if answer.failure is None else answer.failure.brief,
            }
            for row, answer, way, by in zip(report.rows, report.answers, ways, matched_by, strict=True)
        ],
        "notes": remarks(report),
    }
    if report.latencies and report.definitions.percentiles:
        found["latency_ms"] = {
            "timed": len(report.latencies),
            "p50": report.latency_p50_ms,
            "p95": report.latency_p95_ms,
            "percentiles": report.definitions.percentiles,
        }
    if by is not None:
        found["by"] = {
            by: {
                slice: {"n": one.n, **{str(m): _number(one.value(m)) for m in one.measures}}
                for slice, one in report.by(by).items()
            }
        }
    if report.apart:
        found["decided_by"] = {
            way: {"n": one.n, **{str(m): _number(one.value(m)) for m in one.measures}}
            for way, one in report.apart.items()
        }
    if report.shares:
        found["shares"] = {
            one.step: {"cases": one.cases, "share": one.share, "hits": one.hits} for one in report.shares
        }
    if (asked := report.abstention) is not None:
        found["abstention"] = {
            "n": asked.n,
            "answerable": asked.answerable,
            # Without any hit for some answerable case no score lets enough of them through.
            "threshold": asked.threshold if asked.threshold is not None and math.isfinite(asked.threshold) else None,
            "false_retrieval": asked.false_retrieval,
            "auroc": asked.auroc,
        }
    if report.texts is not None:
        exact, fuzzy, none = report.texts.found(report.k)
        found["text_matches"] = {
            "exact": exact,
            "fuzzy": fuzzy,
            "none": none,
            "random_pairs": report.texts.random.pairs,
            "sensitivity": [
                {
                    "threshold": "exact" if one.threshold is None else one.threshold,
                    f"recall_frac@{report.k}": _number(one.recall),
                    f"mrr@{report.k}": _number(one.mrr),
                    "random_match_rate": one.random,
                }
                for one in report.texts.sensitivity(report.k)
            ],
        }
    return found


def html(report: CaseScores) -> str:
    """The same for a notebook: escaped, and without scripts."""
    kinds = any(case.kind for case in report.cases)
    header = ("query", *(("kind",) if kinds else ()), *map(name, report.columns))
    rows = [_row(report, row, kinds) for row in report.rows[:PREVIEW]]
    if len(report) > PREVIEW:
        rows.append((f"… {len(report) - PREVIEW} more", *("",) * (len(header) - 1)))
    rows.append((MEAN, *(("",) if kinds else ()), *(_two(report.value(one)) for one in report.columns)))
    means = ("measure", "value", "95% interval", "n", "oracle", "chance")
    said = "".join(f"<li>{escaped(one)}</li>" for one in remarks(report))
    return (
        f"<p>{escaped(_opening(report))}</p>"
        f"{_html_table(header, rows)}"
        f"{_html_table(('decided by', 'n', *map(name, report.columns)), _apart(report)) if report.apart else ''}"
        f"{_html_table(means, _means(report))}"
        f"{_html_table(SHARES, _shares(report)) if report.shares else ''}<ul>{said}</ul>"
    )


def _html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escaped(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _csv(report: CaseScores, by: str | None) -> str:
    columns, matching = report.columns, str(report.matching)
    ties, hybrid = (report.ties,) if report.ties else (), report.steps is not None
    further = (*(("ties",) if ties else ()), *(("matched_by",) if hybrid else ()))
    rows: list[tuple[str, ...]] = [("query", "kind", *map(name, columns), "failure", "matching", *further)]

    def means(of: str, one: CaseScores, matched: str) -> tuple[str, ...]:
        # What a mean is of was matched by several steps.
        steps = ("",) if hybrid else ()
        return of, "", *(_plain(_number(one.value(m))) for m in columns), "", matched, *ties, *steps

    ways = report.ways or ("",) * len(report)
    matched_by: list[tuple[str, ...]] = [(step,) for step in report.matched_by] or [()] * len(report)
    for row, answer, way, steps in zip(report.rows, report.answers, ways, matched_by, strict=True):
        values = [_plain(row.values.get(str(one))) for one in columns]
        # What to do, and that nothing was written, is of a run that ended there.
        failure = " ".join(answer.failure.brief.split()) if answer.failure else ""
        matched = "id" if way == "id" else matching
        rows.append((row.case.name, row.case.kind or "", *values, failure, matched, *ties, *steps))
    for slice, one in report.by(by).items() if by is not None else ():
        rows.append(means(f"{MEAN} {by}={slice}", one, matching))
    for decided, one in report.apart.items():
        rows.append(means(f"{MEAN} decided by={decided}", one, "id" if decided == "id" else matching))
    return csv_text([*rows, means(MEAN, report, matching)])


def _plain(value: float | None) -> str:
    return "" if value is None else str(value)


def _row(report: CaseScores, row: CaseRow, kinds: bool) -> tuple[str, ...]:
    text = visible(" ".join(row.case.name.split()))
    text = text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
    mark = " (failed)" if row.failure else ""
    values = (_two(row.values.get(str(one), math.nan)) for one in report.columns)
    return (text + mark, *((row.case.kind or "",) if kinds else ()), *values)


def _apart(report: CaseScores) -> list[tuple[str, ...]]:
    return [
        (way, str(one.n), *(figure(_number(one.value(m))) for m in one.columns)) for way, one in report.apart.items()
    ]


def _slices(report: CaseScores, by: str) -> list[tuple[str, ...]]:
    return [
        (slice or "–", str(one.n), *(figure(_number(one.value(m))) for m in one.columns))
        for slice, one in report.by(by).items()
    ]


def _shares(report: CaseScores) -> list[tuple[str, ...]]:
    found = report.shares
    cases = sum(one.cases for one in found)
    left = report.n - cases
    return [
        *((one.step, str(one.cases), share(one.share), str(one.hits)) for one in found),
        ("not found", str(left), share(left / report.n if report.n else None), ""),
    ]


def _means(report: CaseScores) -> list[tuple[str, ...]]:
    return [
        (
            str(one.measure),
            figure(one.value),
            interval(one),
            str(one.n),
            figure(one.ceiling),
            figure(one.chance),
        )
        for one in report.estimates
    ]


def _by_text(report: CaseScores, *, markdown: bool) -> list[str]:
    assert report.texts is not None
    exact, fuzzy, none = report.texts.found(report.k)
    header = ("matching", f"recall_frac@{report.k}", f"mrr@{report.k}", "random texts that match")
    rows = [
        (
            one.rule,
            figure(_number(one.recall)),
            figure(_number(one.mrr)),
            share(one.random),
        )
        for one in report.texts.sensitivity(report.k)
    ]
    pairs = report.texts.random.pairs
    return [
        f"of the {count(exact + fuzzy + none)} decided by text, top {report.k}: {exact} found by an exact match, "
        f"{fuzzy} by a fuzzy one, {none} not found",
        "",
        *grid(header, rows, markdown=markdown),
        "",
        f"random texts: {pairs} pairs of an expected text and one that came back for another case, seed 42",
    ]


def _two(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
