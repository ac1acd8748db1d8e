"""agent-memory-benchmark's output (vectorize-io): answers, with the retrieved text, in which turns name themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from recallbench.corpora.stream import Stream
from recallbench.errors import InputError
from recallbench.foreign.layouts.layout import Imported, ImportedQuestion, JsonFields, Layout, shown
from recallbench.foreign.layouts.row_files import files_with, list_rows, the_one

_MEMORY = re.compile(r"(?:\A|\n)## Memory ([0-9]+)\n")
_DIALOG = re.compile(r'"dia_id": "(D[0-9]+):[0-9]+"')
_FACTS = ("dataset", "split", "memory_provider", "run_name", "mode", "total_queries", "correct", "accuracy")


class _Row(NamedTuple):
    question: ImportedQuestion
    memories: int
    """The pieces of text that came back."""
    nameless: int
    """Those that name no turn."""


def recognises(folder: Path) -> bool:
    """Return whether there is such an output; a packed one is not looked into."""
    return bool(_files(folder))


def _files(folder: Path) -> list[Path]:
    return files_with(folder, "*.json", ("memory_provider", "total_queries", "accuracy", "results"))


def read(folder: Path) -> Imported:
    """Return the sessions of the retrieved turns; rows state no gold, and the one figure is that of answers."""
    path = the_one(folder, _files(folder), "output")
    head = JsonFields(path, 1, Stream(path, "").plain_fields("results"), "head")
    corpus = head.required("dataset")
    if corpus != "locomo":
        raise head.refusal("dataset", "locomo, whose turns name themselves in the text", shown(corpus))
    facts = {name: head.required(name) for name in _FACTS}
    read_rows = [_question(row) for row in list_rows(path, "results")]
    total = head.whole("total_queries")
    if total != len(read_rows):
        raise head.refusal("total_queries", f"{len(read_rows)}, the rows of the file", shown(total))
    return Imported(
        NAME,
        folder,
        tuple(row.question for row in read_rows),
        (),
        facts,
        tuple(_unstated(head, read_rows)),
        rows=path.name,
        corpus=corpus,
        gold_stated=False,
    )


def _question(row: JsonFields) -> _Row:
    meta = row.fields.get("meta")
    if not isinstance(meta, dict):
        raise row.refusal("meta", "sample_id and category", shown(meta))
    about = JsonFields(row.path, row.line, meta, row.unit)
    id, scope = row.required("query_id"), about.required("sample_id")
    if not isinstance(row.fields.get("correct"), bool):
        raise row.refusal("correct", "true or false", shown(row.fields.get("correct")))
    memories = _memories(row)
    named = [dict.fromkeys(_DIALOG.findall(memory)) for memory in memories]
    return _Row(
        ImportedQuestion(
            id=id,
            gold=(),
            ranked=tuple(dict.fromkeys(session for sessions in named for session in sessions)),
            scope=scope,
            kinds={"category": about.required("category")},
            text=row.required("query"),
        ),
        len(memories),
        sum(not sessions for sessions in named),
    )


def _memories(row: JsonFields) -> list[str]:
    context: Any = row.fields.get("context")
    if not isinstance(context, str):
        raise row.refusal("context", "the retrieved text", shown(context))
    first, *parts = _MEMORY.split(context)
    numbers, memories = parts[::2], parts[1::2]
    if first.strip() or [int(number) for number in numbers] != list(range(1, len(numbers) + 1)):
        raise row.refusal("context", "memories under `## Memory 1`, `## Memory 2` and so on", shown(context))
    return memories


def _unstated(head: JsonFields, rows: Sequence[_Row]) -> Iterator[str]:
    memories, nameless = sum(row.memories for row in rows), sum(row.nameless for row in rows)
    if nameless == memories:
        raise InputError(
            f"{head.path}: no retrieved text names a turn",
            expected='texts of the dataset with their "dia_id"',
            found=f"{memories} memories of {head.text('memory_provider')} without one",
            remedy="memories that do not say where they come from can't be scored again",
        )
    yield (
        f"its figure, {head.text('correct')} of {head.text('total_queries')}, counts answers that a model judged "
        "right: no ranking gives it"
    )
    yield "rows state no gold: it is the dataset's"
    yield (
        f"{memories} pieces of text came back, {memories / len(rows):.1f} a question: a session stands where its first "
        "piece stands, so that k counts sessions"
    )
    if nameless:
        yield f"{nameless} pieces name no turn: they are left out, and what lies behind them moves up"


NAME = "agent-memory-benchmark"
LAYOUT = Layout(NAME, "agent-memory-benchmark's output on LoCoMo", recognises, read)
