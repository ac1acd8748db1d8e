"""pgmnemo's published folders: `metrics.json`, and rows with the first ids of each ranking."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recallbench.errors import InputError
from recallbench.foreign.layouts.layout import Imported, ImportedQuestion, JsonFields, Layout, shown
from recallbench.foreign.layouts.stated_numbers import stated_numbers
from recallbench.foreign.names import is_measure_name
from recallbench.reading import document, is_finite, objects, parsed

METRICS, ROWS = "metrics.json", "raw_retrievals.jsonl"
GOLD = ("evidence_sessions", "evidence", "ground_truth", "answer_session_ids")
"""Fields of gold: where a row has two, the first was scored, and the other is its source."""
KINDS = ("category", "qtype", "question_type")
IDS = ("qid", "question_id")
FACTS = (
    *("version", "date", "mode", "simulation", "dry_run", "dataset", "dataset_sha256", "embedder", "pgmnemo_version"),
    *("seed", "guc_state", "granularity", "n_corpus_segments", "n_questions", "n_questions_total", "n_instances"),
    *("n_questions_with_evidence", "n_items", "n_evaluated", "run_label", "device", "retrieval_method"),
)

_SCORES = re.compile(r"(?:retrieved_)?scores(?:_top[0-9]+)?")
_LIST = re.compile(r"(?!retrieved_scores)retrieved(?:_\w+?)??(?:_top([0-9]+))?")


def recognises(folder: Path) -> bool:
    """Return whether there is a metrics.json that is not this tool's."""
    if not (folder / METRICS).is_file():
        return False
    try:
        stated = parsed(document(folder / METRICS), folder / METRICS)
    except InputError:
        # The unreadable file doesn't tell its layout, but the rows may.
        return _has_such_rows(folder)
    return "schema_version" not in stated


def _has_such_rows(folder: Path) -> bool:
    try:
        _, first = next(objects(folder / ROWS))
    except (InputError, StopIteration):
        return False
    return any(map(_LIST.fullmatch, first)) and not first.keys().isdisjoint(GOLD)


def read(folder: Path) -> Imported:
    """Return the rows where there are any, and every number in `metrics.json`."""
    path = folder / METRICS
    stated = parsed(document(path), path)
    questions, depth, lists = _questions(folder / ROWS)
    facts = {name: str(stated[name]) for name in FACTS if stated.get(name) not in (None, "", {})}
    figures = stated_numbers(stated, METRICS, FACTS)
    return Imported(
        NAME,
        folder,
        questions,
        tuple(figures.claims),
        facts,
        tuple(_unstated(folder, questions, facts, lists, depth)),
        depth,
        ROWS if questions else "",
        _corpus(folder, stated, questions),
        tuple(figures.counts),
        tuple(figures.unread),
    )


def _questions(path: Path) -> tuple[tuple[ImportedQuestion, ...], int, str]:
    if not path.exists() and not path.is_symlink():
        return (), 0, ""
    questions, depth, lists = [], 0, ""
    for line, fields in objects(path):
        row = JsonFields(path, line, fields)
        named = [name for name in fields if _LIST.fullmatch(name)]
        if len(named) != 1:
            raise row.refusal("retrieved_top10", "one list of retrieved ids", ", ".join(named) or "none")
        if lists and named[0] != lists:
            raise row.refusal(named[0], f"{lists}, as in the rows before", named[0])
        (lists,) = named
        cut = _LIST.fullmatch(lists)
        question = _question(row, lists)
        if cut and cut[1]:
            depth = int(cut[1])
            if len(question.ranked) > depth:
                raise row.refusal(lists, f"at most {depth} ids", f"{len(question.ranked)}")
        questions.append(question)
    return tuple(questions), depth, lists


def _question(row: JsonFields, lists: str) -> ImportedQuestion:
    index = row.whole("qi")
    id = next((row.text(name) for name in IDS if row.text(name)), "")
    if not id and index is None:
        raise row.refusal("qid", "qid, question_id or qi", "none of them")
    return ImportedQuestion(
        id=id or f"{row.text('conv_id')} qi={index}".strip(),
        gold=row.ids(row.one_of(GOLD)),
        ranked=row.ids(lists),
        scores=_scores(row, lists),
        scope=row.text("conv_id"),
        kinds={name: row.text(name) for name in KINDS if row.text(name)},
        text=row.text("question"),
        index=index,
        abstention=id.endswith("_abs"),
        first=_first(row),
        stated={
            name: value for name in row.fields if is_measure_name(name) and (value := row.number(name)) is not None
        },
    )


def _scores(row: JsonFields, lists: str) -> tuple[float, ...]:
    name = next((name for name in row.fields if _SCORES.fullmatch(name)), None)
    if name is None:
        return ()
    values = row.fields[name]
    finite = isinstance(values, list) and all(map(is_finite, values))
    if not finite or len(values) != len(row.ids(lists)):
        raise row.refusal(name, f"a finite number for each id of {lists}", shown(values))
    return tuple(map(float, values))


def _first(row: JsonFields) -> int | None:
    if "first_hit_rank" in row.fields:
        rank = row.whole("first_hit_rank")
        if rank == 0:
            raise row.refusal("first_hit_rank", "1 or more, or null", "0")
        return rank or 0
    return None


def _corpus(folder: Path, stated: Mapping[str, Any], questions: tuple[ImportedQuestion, ...]) -> str:
    if questions:
        return "locomo" if questions[0].scope else "longmemeval"
    text = f"{shown(stated.get('dataset', ''))} {folder.absolute()}".lower()
    return next((name for name in ("longmemeval", "locomo") if name in text), "")


def _unstated(
    folder: Path, questions: tuple[ImportedQuestion, ...], facts: Mapping[str, str], lists: str, depth: int
) -> list[str]:
    if not questions:
        return [f"no {ROWS}: not one ranking was kept, so no number can be scored again"]
    unstated = [f"rows keep {depth} ids ({lists}): what lies deeper is not there" if depth else "rows state no depth"]
    if not any(question.scores for question in questions):
        unstated.append("rows keep no scores: whether a ranking is in order can't be told")
    if not any("/" in id for question in questions[:1] for id in question.ranked):
        unstated.append("ids do not name the haystack they come from")
    unstated += [f"{name} is not stated" for name in ("dataset_sha256", "seed", "guc_state") if name not in facts]
    return unstated


NAME = "pgmnemo"
LAYOUT = Layout(NAME, "pgmnemo's published folders: metrics.json and rows that keep the first ids", recognises, read)
