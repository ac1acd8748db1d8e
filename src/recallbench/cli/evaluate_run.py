"""What `recallbench evaluate --run FILE --gold FILE` does."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recallbench.errors import UsageError

if TYPE_CHECKING:
    from recallbench.evaluation.change import Change
    from recallbench.evaluation.gold_file import Gold
    from recallbench.evaluation.report import Report
    from recallbench.evaluation.run_file import Run
    from recallbench.evaluation.tradeoff import Tradeoff
    from recallbench.scoring.text_matching import Matching


@dataclass(frozen=True, slots=True)
class Asked:
    """The options, as given."""

    run: Path | None
    gold: Path | None
    k: int
    by: str | None
    format: Literal["text", "markdown", "csv", "json"]
    match: Literal["id", "exact", "tokens"]
    match_threshold: float
    match_chunk: int | None
    texts: Path | None
    ks: str | None
    plot: Path | None
    compare: Path | None
    keep_going: bool


def evaluate_run(asked: Asked) -> int:
    """Score the files and print the table; 1 where cases failed."""
    from recallbench.evaluation.gold_file import read_gold
    from recallbench.evaluation.judging import depth_of
    from recallbench.evaluation.records import form_of
    from recallbench.evaluation.run_file import read_answers, read_texts, refuse_strange_ids
    from recallbench.scoring.text_matching import Matching

    depth_of(asked.k)
    ks = _depths(asked.ks)
    _refuse_combinations(asked, ks)
    matching = Matching(asked.match, asked.match_threshold, asked.match_chunk)
    # One file may hold both: what is relevant, and what was found.
    run_file, gold_file = asked.run or asked.gold, asked.gold or asked.run
    assert run_file is not None
    assert gold_file is not None
    gold = read_gold(gold_file, keep_going=asked.keep_going)
    texts = {} if asked.texts is None else read_texts(asked.texts)

    def read(path: Path) -> Run:
        if matching.by_text and not texts and form_of(path) == "trec":
            raise UsageError("a TREC run has ids and no texts", expected="--texts corpus.jsonl", found=str(path))
        found = read_answers(path, gold.cases, keep_going=asked.keep_going, by_text=matching.by_text and not texts)
        if not matching.by_text:
            refuse_strange_ids(path, found, gold.cases)
        return found

    run = read(run_file)
    report = _report(gold, run, asked.k, matching, texts, asked.keep_going)
    tradeoff = (
        None if ks is None else _report(gold, run, asked.k, matching, texts, asked.keep_going, max(ks)).tradeoff(ks)
    )
    change = None
    if asked.compare is not None:
        change = _report(gold, read(asked.compare), asked.k, matching, texts, asked.keep_going).compare(report)
    if tradeoff is not None and asked.plot is not None:
        from recallbench.evaluation.tradeoff_plot import draw

        asked.plot.write_text(draw(tradeoff), encoding="utf-8")
    _print(asked, report, tradeoff, change, (run_file, asked.compare))
    for note in report.notes:
        if note.startswith("warning: "):
            print(f"recallbench: {note}", file=sys.stderr)
    failed = len(report.failures) + len(gold.refused)
    if failed:
        print(f"recallbench: {failed} case{'s' if failed > 1 else ''} failed, named below the table", file=sys.stderr)
    return 1 if failed else 0


def _report(
    gold: Gold, run: Run, k: int, matching: Matching, texts: dict[str, str], keep_going: bool, depth: int = 0
) -> Report:
    from recallbench.evaluation.evaluation import scored

    notes = [*run.notes, *(f"left out: {one.problem}; found {one.found}" for one in gold.refused)]
    if run.depth < k:
        notes.append(f"no ranking is longer than {run.depth}: precision@{k} divides by {k} all the same")
    # Without any texts the hits are texts themselves.
    known = {**texts, **run.texts} or None
    return scored(
        gold.cases,
        run.answers,
        k,
        matching=matching,
        texts=known,
        depth=max(run.depth, depth),
        notes=notes,
        keep_going=keep_going,
    )


def _refuse_combinations(asked: Asked, ks: Sequence[int] | None) -> None:
    if asked.plot is not None and ks is None:
        raise UsageError("--plot draws what --ks works out", expected="--ks 1,3,5,10,20", found="none")
    if asked.plot is not None and asked.plot.suffix.lower() != ".svg":
        remedy = f"--plot {asked.plot.with_suffix('.svg') if asked.plot.name else 'ks.svg'}"
        raise UsageError("--plot draws SVG", expected="a file that ends in .svg", found=str(asked.plot), remedy=remedy)
    if asked.format == "csv" and (ks is not None or asked.compare is not None):
        raise UsageError(
            "CSV holds one table, that of the queries",
            expected="no --ks and no --compare, or another form",
            found="--format csv",
            remedy="--format json holds everything",
        )
    if asked.match == "id" and asked.texts is not None:
        raise UsageError("--texts are for matching by text", expected="--match tokens or exact", found="--match id")


def _depths(text: str | None) -> list[int] | None:
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() and int(word) > 0 for word in words):
        raise UsageError("--ks are depths", expected="whole numbers with commas, as 1,3,5,10,20", found=text)
    return [int(word) for word in words]


def _print(
    asked: Asked, report: Report, tradeoff: Tradeoff | None, change: Change | None, files: tuple[Path, Path | None]
) -> None:
    from recallbench.evaluation.change import HEADER
    from recallbench.evaluation.table import document, grid, render

    if asked.format == "json":
        found = document(report, asked.by)
        if tradeoff is not None:
            found["ks"] = tradeoff.document()
        if change is not None:
            found["compare"] = {"run": str(files[0]), "second": str(files[1]), **change.document()}
        print(json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))
        return
    print(render(report, asked.format, asked.by), end="")
    markdown = asked.format == "markdown"
    if tradeoff is not None:
        header, *rows = tradeoff.rows()
        print("\n" + "\n".join([*grid(header, rows, markdown=markdown), "", tradeoff.said()]))
    if change is not None:
        opening = f"{files[1]} (after) minus {files[0]} (before)"
        said = [f"- {one}" if markdown else one for one in change.said()]
        print("\n" + "\n".join([opening, "", *grid(HEADER, change.rows(), markdown=markdown), "", *said]))
