"""The retrieval log of LongMemEval's own program: a JSON object per question, with the whole haystack ranked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recallbench.errors import InputError
from recallbench.foreign.layouts.layout import Claim, Imported, ImportedQuestion, JsonFields, Layout, shown
from recallbench.foreign.layouts.row_files import the_one
from recallbench.reading import is_finite, objects

MARK, _WITHOUT_USER_EVIDENCE = "answer", "noans"
"""What the dataset's ids of sessions with evidence hold."""


def _logs(folder: Path) -> list[Path]:
    try:
        files = sorted(folder.iterdir())
    except OSError:
        return []
    return [
        path
        for path in files
        if (path.suffix == ".jsonl" or "retrievallog" in path.name or "retrieval_log" in path.name)
        and path.is_file()
        and _is_log(path)
    ]


def _is_log(path: Path) -> bool:
    try:
        _, first = next(objects(path))
    except (InputError, StopIteration):
        return "retrievallog" in path.name or "retrieval_log" in path.name
    return "retrieval_results" in first


def recognises(folder: Path) -> bool:
    """Return whether a file's first row has `retrieval_results`, and there is no metrics file of another layout."""
    return not (folder / "metrics.json").exists() and bool(_logs(folder))


def read(folder: Path) -> Imported:
    """Return the log's rows; its claims are the means of the figures in the rows."""
    path = the_one(folder, _logs(folder), "retrieval log")
    read_rows = [_question(JsonFields(path, line, fields)) for line, fields in objects(path)]
    turns = any(by_turn for _, by_turn in read_rows)
    questions = tuple(question for question, _ in read_rows)
    unstated = ["a log states no dataset hash, no version and no settings"]
    if turns:
        unstated.append(
            "turns were ranked: a session stands where its first turn stands, and nDCG can't be taken again"
        )
    renamed = sum(
        question.scored is not None and set(question.scored[1]) != set(question.gold) for question in questions
    )
    if renamed:
        unstated.append(f"{renamed} questions have evidence that no user said: the log does not count it as gold")
    return Imported(
        NAME, folder, questions, _means(questions, path), {}, tuple(unstated), rows=path.name, corpus="longmemeval"
    )


def _question(row: JsonFields) -> tuple[ImportedQuestion, bool]:
    id = row.text("question_id")
    if not id:
        raise row.refusal("question_id", "an id", shown(row.fields.get("question_id")))
    names, session = ranked_names(row), session_figures(row)
    turn = _figures(row, "turn")
    if turn:
        names = list(dict.fromkeys(name.rpartition("_")[0] or name for name in names))
    # As in the official program: a session is gold by its id, unless no user turn of it has the answer.
    scored = tuple(dict.fromkeys(name for name in names if MARK in name))
    ranked = tuple(name.replace(_WITHOUT_USER_EVIDENCE, MARK, 1) for name in names)
    if turn:
        ranked = tuple(dict.fromkeys(ranked))
    stated = row.ids("answer_session_ids") if "answer_session_ids" in row.fields else None
    gold = stated if stated is not None else tuple(dict.fromkeys(name for name in ranked if MARK in name))
    question = ImportedQuestion(
        id=id,
        gold=gold,
        ranked=ranked,
        kinds={"question_type": row.text("question_type")} if row.text("question_type") else {},
        text=row.text("question"),
        abstention=id.endswith("_abs"),
        stated=session,
        scored=None if set(scored) == set(gold) and ranked == tuple(names) else (tuple(names), scored),
        haystack=row.ids("haystack_session_ids") if "haystack_session_ids" in row.fields else None,
    )
    return question, bool(turn)


def ranked_names(row: JsonFields) -> list[str]:
    """Return the ids of the ranked items, best first."""
    results = row.fields.get("retrieval_results")
    items = results.get("ranked_items") if isinstance(results, dict) else None
    if not isinstance(items, list):
        raise row.refusal("retrieval_results.ranked_items", "a list of ranked items", shown(items))
    return [_name(item, row) for item in items]


def _name(item: Any, row: JsonFields) -> str:
    name = item.get("corpus_id") if isinstance(item, dict) else item
    if not isinstance(name, str) or not name:
        raise row.refusal("retrieval_results.ranked_items", "items with a corpus_id", shown(item))
    return name


def session_figures(row: JsonFields) -> dict[str, float]:
    """Return the figures that the row states of itself by session, of which there must be some."""
    figures = _figures(row, "session")
    if not figures:
        raise row.refusal("retrieval_results.metrics.session", "figures of this question by name", "none")
    return figures


def _figures(row: JsonFields, part: str) -> dict[str, float]:
    metrics = row.fields["retrieval_results"].get("metrics", {})
    figures = metrics.get(part, {}) if isinstance(metrics, dict) else None
    if not isinstance(figures, dict):
        raise row.refusal(f"retrieval_results.metrics.{part}", "figures by name", shown(figures))
    for name, value in figures.items():
        if not is_finite(value):
            raise row.refusal(f"retrieval_results.metrics.{part}.{name}", "a finite number", shown(value))
    return {name: float(value) for name, value in figures.items()}


def _means(questions: tuple[ImportedQuestion, ...], path: Path) -> tuple[Claim, ...]:
    """Return the means that the official program prints: over all questions but abstention."""
    counted = [question for question in questions if not question.abstention]
    if not counted:
        return ()
    names: Mapping[str, None] = dict.fromkeys(name for question in counted for name in question.stated)
    return tuple(
        Claim(
            name,
            round(math.fsum(values) / len(values), 4),
            f"{path.name} retrieval_results.metrics.session.{name}, the mean of the rows without abstention",
            n=len(values),
            decimals=4,
        )
        for name in names
        if (values := [question.stated[name] for question in counted if name in question.stated])
    )


NAME = "longmemeval"
LAYOUT = Layout(NAME, "the retrieval log of LongMemEval's own program", recognises, read)
