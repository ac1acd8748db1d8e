"""MemPalace's `results_mempal_*.jsonl`: like LongMemEval's own log, but without haystack and gold, and cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from recallbench.errors import InputError
from recallbench.foreign.layouts.layout import Imported, ImportedQuestion, JsonFields, Layout
from recallbench.foreign.layouts.longmemeval import MARK, ranked_names, session_figures
from recallbench.foreign.layouts.mempalace import mean_claim
from recallbench.foreign.layouts.row_files import the_one
from recallbench.reading import objects

_TURN = re.compile(r"(.+)_turn_[0-9]+")


def recognises(folder: Path) -> bool:
    """Return whether a file's first row has `retrieval_results`, but neither haystack nor gold."""
    return bool(_logs(folder))


def _logs(folder: Path) -> list[Path]:
    try:
        files = sorted(folder.glob("*.jsonl"))
    except OSError:
        return []
    return [path for path in files if _is_log(path)]


def _is_log(path: Path) -> bool:
    try:
        _, first = next(objects(path))
    except (InputError, StopIteration):
        return False
    return "retrieval_results" in first and first.keys().isdisjoint(("haystack_session_ids", "answer_session_ids"))


def read(folder: Path) -> Imported:
    """Return the rows; gold is every kept id that the dataset marks as one, claims are the means of all rows."""
    path = the_one(folder, _logs(folder), "retrieval log")
    questions = tuple(_question(JsonFields(path, line, fields)) for line, fields in objects(path))
    depth = max(len(question.ranked) for question in questions)
    names = dict.fromkeys(name for question in questions for name in question.stated)
    where = f"{path.name} retrieval_results.metrics.session"
    return Imported(
        NAME,
        folder,
        questions,
        tuple(
            mean_claim(
                name, [q.stated[name] for q in questions if name in q.stated], f"{where}.{name}, the mean of all"
            )
            for name in names
        ),
        {},
        tuple(_unstated(questions, depth)),
        depth,
        path.name,
        "longmemeval",
    )


def _question(row: JsonFields) -> ImportedQuestion:
    id = row.required("question_id")
    names = ranked_names(row)
    ranked = tuple(names)
    if any(map(_TURN.fullmatch, names)):
        ranked = tuple(dict.fromkeys(match[1] if (match := _TURN.fullmatch(name)) else name for name in names))
    return ImportedQuestion(
        id=id,
        gold=tuple(dict.fromkeys(name for name in ranked if MARK in name)),
        ranked=ranked,
        kinds={"question_type": row.required("question_type")},
        text=row.required("question"),
        abstention=id.endswith("_abs"),
        stated=session_figures(row),
    )


def _unstated(questions: Sequence[ImportedQuestion], depth: int) -> Iterator[str]:
    yield "a log states no dataset hash, no version and no settings"
    yield "rows state neither gold nor haystack: gold is what the dataset's ids mark among those that were kept"
    yield f"rows keep at most {depth} ids: what lies deeper is not there"
    without = sum(not question.gold for question in questions)
    if without:
        yield f"{without} rows have no gold among the ids that they keep"


NAME = "mempalace-longmemeval"
LAYOUT = Layout(NAME, "MemPalace's retrieval log on LongMemEval", recognises, read)
