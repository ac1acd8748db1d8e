"""What `recallbench evaluate --run FILE --gold FILE` does."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli.score_tables import Compared, Wanted, show
from recallbench.errors import UsageError

if TYPE_CHECKING:
    from recallbench.evaluation.change import Change
    from recallbench.evaluation.gold_file import Gold
    from recallbench.evaluation.report import Report
    from recallbench.evaluation.run_file import Run
    from recallbench.scoring.text_matching import Matching


@dataclass(frozen=True, slots=True)
class Asked:
    """The files, and how they are read."""

    run: Path | None
    gold: Path | None
    matching: Matching
    texts: Path | None
    compare: Path | None
    keep_going: bool


def evaluate_run(asked: Asked, wanted: Wanted) -> int:
    """Score the files and print the table; 1 where cases failed."""
    from recallbench.evaluation.gold_file import read_gold
    from recallbench.evaluation.records import form_of
    from recallbench.evaluation.run_file import read_answers, read_texts, refuse_strange_ids

    matching = asked.matching
    if not matching.by_text and asked.texts is not None:
        raise UsageError("--texts are for matching by text", expected="--match tokens or exact", found="--match id")
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

    def report(run: Run, depth: int = 0) -> Report:
        return _report(gold, run, wanted.k, matching, texts, asked.keep_going, depth)

    run = read(run_file)
    found = report(run)
    tradeoff = report(run, max(wanted.ks)).tradeoff(wanted.ks) if wanted.ks else None
    compared = None
    if asked.compare is not None:
        compared = _compared(report(read(asked.compare)).compare(found), run_file, asked.compare)
    show(wanted, found, tradeoff, compared)
    for note in found.notes:
        if note.startswith("warning: "):
            print(f"recallbench: {note}", file=sys.stderr)
    failed = len(found.failures) + len(_left_out(gold, run))
    if failed:
        print(f"recallbench: {failed} case{'s' if failed > 1 else ''} failed, named below the table", file=sys.stderr)
    return 1 if failed else 0


def _report(
    gold: Gold, run: Run, k: int, matching: Matching, texts: dict[str, str], keep_going: bool, depth: int
) -> Report:
    from recallbench.evaluation.evaluation import scored

    notes = [*run.notes, *(f"left out: {one}" for one in _left_out(gold, run))]
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


def _left_out(gold: Gold, run: Run) -> list[str]:
    """What is wrong with lines that were passed over; one file may be both, and then tells each twice."""
    return list(dict.fromkeys(one.brief for one in (*gold.refused, *run.refused)))


def _compared(change: Change, before: Path, after: Path) -> Compared:
    from recallbench.evaluation.change import HEADER
    from recallbench.evaluation.table import grid

    def told(markdown: bool) -> list[str]:
        said = [f"- {one}" if markdown else one for one in change.said()]
        opening = f"{after} (after) minus {before} (before)"
        return [opening, "", *grid(HEADER, change.rows(), markdown=markdown), "", *said]

    document = {"run": str(before), "second": str(after), **change.document()}
    return Compared(document, told(False), told(True))
