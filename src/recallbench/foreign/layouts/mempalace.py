"""MemPalace's `results_locomo_*.json` and `results_convomem_*.json`: a list of rows, each with its recall."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from recallbench.errors import InputError
from recallbench.foreign.layouts.layout import Claim, Imported, ImportedQuestion, JsonFields, Layout, shown
from recallbench.foreign.layouts.row_files import files_with, list_rows, the_one

_TOP = re.compile(r"_top([1-9][0-9]{0,3})(?![0-9])")
_SESSION = re.compile(r"session_[0-9]+")
_TURN = re.compile(r"D([0-9]+):[0-9]+")
_EVIDENCE = re.compile(r"D([0-9]+):")
_COUNTS = ("retrieved_count", "evidence_count", "found")


def recognises(folder: Path) -> bool:
    """Return whether there is a list of such rows."""
    return bool(_files(folder))


def _files(folder: Path) -> list[Path]:
    with_ids = files_with(folder, "results_*.json", ("sample_id", "evidence", "retrieved_ids", "recall"))
    return with_ids + files_with(folder, "results_*.json", ("recall", "details", "retrieved_count"))


def read(folder: Path) -> Imported:
    """Return the rows, their gold as that program takes it from the evidence; its claim is the mean of their recall."""
    path = the_one(folder, _files(folder), "file of MemPalace's results")
    depth = stated_depth(path)
    questions: list[ImportedQuestion] = []
    figures: list[float] = []
    counted = 0
    for row in list_rows(path):
        figures.append(_recall(row))
        if "retrieved_ids" in row.fields:
            question = _question(row, len(questions), f"recall@{depth}")
            questions.append(question)
            check_depth(row, "retrieved_ids", question.ranked, depth)
        else:
            counted += 1
            _check_counts(row)
        if counted and questions:
            raise row.refusal("retrieved_ids", "ids in every row, or in none", "rows of both kinds")
    return Imported(
        NAME,
        folder,
        tuple(questions),
        (mean_claim(f"recall@{depth}", figures, f"{path.name} recall, the mean of all rows"),),
        {},
        tuple(_unstated(questions, counted, depth)),
        depth,
        path.name if questions else "",
        "locomo" if questions else "convomem",
    )


def stated_depth(path: Path) -> int:
    """Return the depth of the rankings, which the file's name states; raises InputError where it doesn't."""
    match = _TOP.search(path.name)
    if match is None:
        raise InputError(
            f"{path}: how deep its rankings are can't be told",
            expected="a name that says so, as that program gives it, such as results_locomo_raw_session_top10_1.json",
            found=path.name,
            remedy="give the file the name back that it was made with",
        )
    return int(match[1])


def check_depth(row: JsonFields, field: str, ranked: Sequence[str], depth: int) -> None:
    """Raise InputError for a ranking that is longer than the file's name says."""
    if len(ranked) > depth:
        raise row.refusal(field, f"at most {depth} ids, as the file's name says", str(len(ranked)))


def mean_claim(name: str, figures: Sequence[float], where: str) -> Claim:
    """Return the mean as that program prints it, with three decimals."""
    return Claim(name, round(math.fsum(figures) / len(figures), 3), where, n=len(figures), decimals=3)


def _recall(row: JsonFields) -> float:
    value = row.number("recall")
    if value is None or not 0.0 <= value <= 1.0:
        raise row.refusal("recall", "a number from 0 to 1", shown(row.fields.get("recall")))
    return value


def _question(row: JsonFields, index: int, measure: str) -> ImportedQuestion:
    scope, ranked = row.required("sample_id"), row.ids("retrieved_ids")
    turns = bool(ranked) and _TURN.fullmatch(ranked[0]) is not None
    for id in ranked:
        if (_TURN if turns else _SESSION).fullmatch(id) is None:
            raise row.refusal("retrieved_ids", "sessions such as session_7, or turns such as D7:3", shown(id))
    return ImportedQuestion(
        id=f"{scope} row={index}",
        gold=row.ids("evidence") if turns else evidence_sessions(row),
        ranked=ranked,
        scope=scope,
        kinds={"category": row.required("category")},
        text=row.required("question"),
        index=index,
        stated={measure: _recall(row)},
    )


def evidence_sessions(row: JsonFields) -> tuple[str, ...]:
    """Return the session of each evidence string, as that program does: a second turn in it is passed over."""
    sessions = (match[1] for id in row.ids("evidence") if (match := _EVIDENCE.match(id)))
    return tuple(dict.fromkeys(f"session_{number}" for number in sessions))


def _check_counts(row: JsonFields) -> None:
    details = row.fields.get("details")
    if not isinstance(details, dict) or any(not isinstance(details.get(name), int) for name in _COUNTS):
        raise row.refusal("details", f"the counts {', '.join(_COUNTS)}", shown(details))


def _unstated(questions: Sequence[ImportedQuestion], counted: int, depth: int) -> Iterator[str]:
    yield "the file states no dataset hash, no version and no settings"
    if counted:
        yield f"{counted} rows keep counts, not ids: not one ranking was kept, so no number can be scored again"
        return
    yield f"rows keep {depth} ids: what lies deeper is not there"
    without = sum(not question.gold for question in questions)
    if without:
        yield f"{without} rows without evidence state recall 1"


NAME = "mempalace"
LAYOUT = Layout(NAME, "MemPalace's rows on LoCoMo, and its counts on ConvoMem", recognises, read)
