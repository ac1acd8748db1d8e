"""A TREC run with its qrels, and perhaps the output of an evaluation."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from recallbench.errors import InputError
from recallbench.foreign.layouts.layout import Claim, Count, Imported, ImportedQuestion, Layout, Unread
from recallbench.foreign.names import is_measure_name
from recallbench.reading import lines
from recallbench.results.trec import read_qrels, read_run

_RUN = re.compile(r"(.*\.trec|(.*[._-])?run([._-].*)?(\.txt)?|.*\.run)", re.IGNORECASE)
_QRELS = re.compile(r"(.*[._-])?qrels?([._-].*)?", re.IGNORECASE)
_EVALUATION = re.compile(r"(.*\.eval|(trec_)?eval.*\.txt)", re.IGNORECASE)


def _named(folder: Path, form: re.Pattern[str]) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if form.fullmatch(path.name))
    except OSError:
        return []


def _files(folder: Path) -> tuple[list[Path], list[Path]]:
    judged = _named(folder, _QRELS)
    others = {*judged, *_named(folder, _EVALUATION)}
    return [path for path in _named(folder, _RUN) if path not in others and "bm25" not in path.name], judged


def recognises(folder: Path) -> bool:
    """Return whether there are a run and qrels, and no metrics file of another layout."""
    runs, judged = _files(folder)
    return bool(runs and judged) and not (folder / "metrics.json").exists()


def read(folder: Path) -> Imported:
    """Return every question of the qrels; one that the run doesn't answer has an empty ranking."""
    runs, judged = _files(folder)
    for what, files in (("run", runs), ("qrels", judged)):
        if len(files) != 1:
            raise InputError(
                f"{folder}: which {what} is meant can't be told",
                expected=f"one {what} in the folder",
                found=", ".join(path.name for path in files) or "none",
                remedy="put one run and its qrels into a folder of their own; a control's run bears bm25 in its name",
            )
    run, qrels = read_run(runs[0]), read_qrels(judged[0])
    if unknown := sorted(set(run) - set(qrels)):
        raise InputError(
            f"{folder.name}/{runs[0].name}: questions that nobody judged",
            expected=f"questions of {judged[0].name}",
            found=", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""),
            remedy="take the qrels that belong to this run",
        )
    questions = tuple(_question(id, grades, run.get(id, [])) for id, grades in qrels.items())
    printed = [item for path in _named(folder, _EVALUATION) for item in _evaluation_lines(path)]
    claims = tuple(item for item in printed if isinstance(item, Claim))
    unstated = ["a run states no dataset hash, no version and no settings", "a run states no kinds of questions"]
    if len(run) < len(qrels):
        unstated.append(f"{len(qrels) - len(run)} judged questions are not in the run: their rankings count as empty")
    if any(grade not in (0, 1) for grades in qrels.values() for grade in grades.values()):
        unstated.append("the judgements are graded: whatever has a grade above 0 counts as gold")
    if not claims:
        unstated.append("no published number lies in the folder (an evaluation's output as *.eval would be read)")
    return Imported(
        NAME,
        folder,
        questions,
        claims,
        {},
        tuple(unstated),
        rows=runs[0].name,
        counts=tuple(item for item in printed if isinstance(item, Count)),
        unread=tuple(item for item in printed if isinstance(item, Unread)),
    )


def _question(id: str, grades: Mapping[str, int], hits: list[tuple[str, float]]) -> ImportedQuestion:
    gold = tuple(document for document, grade in grades.items() if grade > 0)
    scopes = {document.rpartition("/")[0] for document in gold}
    return ImportedQuestion(
        id,
        gold,
        tuple(document for document, _ in hits),
        tuple(score for _, score in hits),
        # Ids may be <scope>/<id>, as this tool writes them: gold is always in the question's own scope.
        scope=scopes.pop() if len(scopes) == 1 else "",
        abstention=id.endswith("_abs"),
    )


def _evaluation_lines(path: Path) -> Iterator[Claim | Count | Unread]:
    """Yield what trec_eval or ir_measures printed: a measure, perhaps `all`, and a value."""
    for number, line in lines(path):
        fields = line.split()
        where = f"{path.name} line {number}"
        if len(fields) == 3 and fields[1] == "all":
            fields.pop(1)
        if len(fields) == 2 and fields[0] == "num_q" and fields[1].isdecimal() and len(fields[1]) < 10:
            yield Count("num_q", int(fields[1]), where)
            continue
        if len(fields) != 2 or not is_measure_name(fields[0]):
            if any(map(str.isdigit, line)) and fields[0] != "runid":
                yield Unread(where, line.strip()[:60])
            continue
        try:
            value = float(fields[1])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(
                f"{path}, line {number}: not a figure",
                expected="a measure and a number",
                found=line.strip()[:80],
                remedy="make the evaluation again",
            )
        yield Claim(fields[0], value, where, decimals=len(fields[1].partition(".")[2]))


NAME = "trec"
LAYOUT = Layout(NAME, "a TREC run (*.trec, run*.txt) and its qrels", recognises, read)
