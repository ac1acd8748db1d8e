"""Rankings in files: read, scored, compared and printed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cases.case import NOTHING, count
from recallbench.cli.measure.score_tables import RenderedComparison, TableOptions, show
from recallbench.cli.typed_command import typed_command
from recallbench.errors import InputError, UsageError
from recallbench.escaping.markdown import opening
from recallbench.escaping.shell import command
from recallbench.escaping.terminal import visible

if TYPE_CHECKING:
    from recallbench.cases.change import Change
    from recallbench.cases.files.gold_file import Gold
    from recallbench.cases.files.run_file import RunFile
    from recallbench.cases.report import Report
    from recallbench.corpora.matching.method import Matching
    from recallbench.reports.printing.conclusion import Conclusion
    from recallbench.results.trec import Ties


@dataclass(frozen=True, slots=True)
class RankingFiles:
    """The files, and how they are read."""

    run: Path | None
    gold: Path | None
    matching: Matching
    texts: Path | None
    compare: Path | None
    keep_going: bool
    timed: bool
    """Whether percentiles of latencies were asked for on the command line."""
    ties: Ties = "file"
    allow_random_matches: bool = False


def score_files(files: RankingFiles, table: TableOptions) -> int:
    """Score the files and print the table; 1 where cases failed."""
    from recallbench.cases.files.gold_file import read_gold
    from recallbench.cases.files.records import form_of
    from recallbench.cases.files.run_file import read_answers, read_texts, refuse_strange_ids

    matching = files.matching
    if not matching.by_text and files.texts is not None:
        raise UsageError(
            "--texts are for matching by text", expected="--match tokens, exact, hybrid or bm25", found="--match id"
        )
    # One file may hold both gold and rankings.
    run_file, gold_file = files.run or files.gold, files.gold or files.run
    assert run_file is not None
    assert gold_file is not None
    try:
        gold = read_gold(gold_file, keep_going=files.keep_going)
    except InputError as error:
        content = run_file.read_bytes() if run_file.is_file() else b""
        if files.gold is None and content.strip() and _is_text(content) and b"relevant" not in content:
            raise UsageError(
                "nothing says what is relevant",
                expected="--gold FILE, or one JSONL file that holds `relevant` beside `ranked`",
                found=f"{run_file} alone",
                remedy=command("score", run_file, "--gold", "FILE"),
            ) from error
        raise
    texts = {} if files.texts is None else read_texts(files.texts)

    def read(path: Path) -> RunFile:
        if matching.by_text and not texts and form_of(path) == "trec":
            raise UsageError("a TREC run has ids and no texts", expected="--texts corpus.jsonl", found=str(path))
        run = read_answers(
            path,
            gold.cases,
            keep_going=files.keep_going,
            by_text=matching.by_text and not texts,
            ties=files.ties,
            passed_over=gold.passed_over,
        )
        if not matching.by_text:
            refuse_strange_ids(path, run, gold.cases)
        return run

    def report(run: RunFile, refused: Iterable[InputError], depth: int = 0) -> Report:
        return _report(gold, run, _left_out(refused, run.refused), table, files, texts, depth)

    run = read(run_file)
    if files.timed and all(answer.ms is None for answer in run.answers):
        raise UsageError(
            "--percentiles are of latencies",
            expected="`ms` with each query, in JSON Lines",
            found=f"no times in {run_file}",
            remedy="leave --percentiles out",
        )
    scores = report(run, gold.refused)
    tradeoff = None
    if table.ks and scores.n:
        tradeoff = report(run, gold.refused, max(table.ks)).tradeoff(table.ks)
    sides = [_Side(run_file, scores, _left_out(gold.refused, run.refused))]
    compared, change = None, None
    if files.compare is not None:
        other = read(files.compare)
        sides.append(_Side(files.compare, report(other, ()), _left_out(other.refused)))
        if scores.n:
            change = sides[1].report.compare(scores)
            compared = _compared(change, *sides)
        else:
            print(f"recallbench: nothing to compare with {files.compare}: {NOTHING}", file=sys.stderr)
            for problem in sides[1].problems():
                print(f"recallbench: {visible(problem)}", file=sys.stderr)
    for side, place in zip(sides, ("the table", "the comparison"), strict=False):
        of = f"{side.path}: " if len(sides) > 1 else ""
        for note in side.report.notes:
            if note.startswith("warning: "):
                print(visible(f"recallbench: {of}{note}"), file=sys.stderr)
        listed = table.format != "csv" and (compared is not None or side is sides[0])
        named = f", named below {place}" if listed else ""
        if side.failed:
            print(f"recallbench: {of}{side.failed_in_words()}{named}", file=sys.stderr)
        if table.format == "csv":
            # The table has a column for what failed, and no place for lines that were left out.
            for line in side.left_out:
                print(visible(f"recallbench: {of}left out: {line}"), file=sys.stderr)
    show(table, scores, tradeoff, compared, conclusion=_conclusion(sides, change, _again(files)))
    return 1 if any(side.failed for side in sides) else 0


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return True


def _conclusion(sides: Sequence[_Side], change: Change | None, again: str) -> Conclusion:
    from recallbench.cases.score_conclusion import change_conclusion, score_conclusion

    first, second = sides[0], sides[-1]
    failed = next((f"{side.path}: {side.failed_in_words()}" for side in sides if side.failed), "")
    if change is not None:
        return change_conclusion(change, str(first.path), str(second.path), failed)
    return score_conclusion(first.report, failed, again)


def _again(files: RankingFiles) -> str:
    """Return the command as `score`, which names its file without an option."""
    return typed_command().named("score").with_argument("--gold" if files.run is None else "--run").again()


@dataclass(frozen=True, slots=True)
class _Side:
    """A run that was scored, and the lines of its files that were passed over."""

    path: Path
    report: Report
    left_out: list[str]

    @property
    def failed(self) -> int:
        return len(self.report.failures) + len(self.left_out)

    def failed_in_words(self) -> str:
        """Return how much of it failed, and how much of its files was passed over."""
        told = [f"{len(self.report.failures)} of {count(len(self.report))} failed"] if self.report.failures else []
        if lines := len(self.left_out):
            passed_over = (
                "1 line could not be read and is" if lines == 1 else f"{lines} lines could not be read and are"
            )
            told.append(f"{passed_over} left out")
        return ", and ".join(told)

    def problems(self) -> list[str]:
        """Return the problems with it, each naming the file."""
        failures = [answer.failure for answer in self.report.answers if answer.failure is not None]
        notes = [*self.report.notes, *(f"failed, counted as the worst answer: {failure.brief}" for failure in failures)]
        return [note if note.startswith(f"{self.path}: ") else f"{self.path}: {note}" for note in notes]


def _report(
    gold: Gold,
    run: RunFile,
    left_out: list[str],
    table: TableOptions,
    files: RankingFiles,
    texts: dict[str, str],
    depth: int,
) -> Report:
    from recallbench.cases.evaluation import score_answers

    k = table.k
    notes = [*gold.notes, *run.notes, *(f"left out: {problem}" for problem in left_out)]
    if run.depth < k and table.definitions.precision == "k":
        notes.append(f"no ranking is longer than {run.depth}: precision@{k} divides by {k} all the same")
    # Without any texts the hits are texts themselves.
    known = {**texts, **run.texts} or None
    return score_answers(
        gold.cases,
        run.answers,
        k,
        matching=files.matching,
        texts=known,
        depth=max(run.depth, depth),
        notes=notes,
        keep_going=files.keep_going,
        allow_random_matches=files.allow_random_matches,
        definitions=table.definitions,
        # Without scores nothing can be tied.
        ties=files.ties if any(answer.scores for answer in run.answers) else "",
    )


def _left_out(*refused: Iterable[InputError]) -> list[str]:
    """Return the errors of lines that were passed over, each once: one file may be gold and run."""
    return list(dict.fromkeys(error.brief for errors in refused for error in errors))


def _compared(change: Change, first: _Side, second: _Side) -> RenderedComparison:
    before, after = first.path, second.path
    # A change beside which cases failed may be theirs, and not that of what was tuned.
    failed = [f"{side.path}: {side.failed_in_words()}" for side in (first, second) if side.failed]

    title, changes = f"{after} (after) minus {before} (before)", change.table()
    lines = [*change.sentences(), *failed, *second.problems()]
    markdown = [opening(title), "", *changes.markdown(), "", *(f"- {opening(line)}" for line in lines)]
    failures = {"failed": first.failed, "second_failed": second.failed, "second_notes": second.problems()}
    document = {"run": str(before), "second": str(after), **change.document(), **failures}
    return RenderedComparison(document, [title, "", changes, "", *lines], markdown)
