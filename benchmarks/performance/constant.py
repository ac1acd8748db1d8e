"""Memory that does not grow with the data: peaks of runs and audits over a corpus and over four times as much.

LongMemEval-S (499 items) against a file with four of each item, whose ids and texts differ; and a set of 62,500
documents in 250 scopes against one of 250,000 in as many. Both are built into a temporary folder. The store is the
exact one, the encoder a function that takes no memory worth mention; each run is made with and without cached vectors.
Run: python benchmarks/performance/constant.py [longmemeval file]    (or LONGMEMEVAL_DATA_DIR)
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ijson

from memory import corpus, peak
from row import Row, show

TIMES, GROWTH, MEGABYTES = 4, 1.10, 250
DOCUMENTS, SCOPES, QUERIES = 62_500, 250, 1_000
WORDS = [
    f"{start}{end}" for start in "bdfgklmnprst" for end in ("alo", "emi", "ira", "oku", "uza", "ane", "ilo", "ort")
]
PROGRAM = [sys.executable, "-m", "recallbench"]
ENCODER = ["--store", "exact", "--embedder", "python:chance_encoder:vectors"]


def rows(file: Path | None = None) -> list[Row]:
    """Return a row for each corpus and command."""
    table = []
    with TemporaryDirectory() as scratch:
        place = Path(scratch)
        if file := file or corpus():
            larger = write_repeated(file, place / "repeated.json")
            named = ["longmemeval", "--allow-deviation", "dataset"]
            table += compared(
                "LongMemEval-S (499 items)",
                [["run", *named, "--corpus-file", str(path)] for path in (file, larger)],
                [["--corpus-file", str(path)] for path in (file, larger)],
                place,
            )
            larger.unlink()
        sets = [write_set(place / f"set{times}", times * DOCUMENTS) for times in (1, TIMES)]
        table += compared(
            f"a set of {DOCUMENTS:,} documents",
            [["evaluate", str(folder)] for folder in sets],
            [["--corpus-file", str(folder)] for folder in sets],
            place,
        )
    return table


def compared(what: str, commands: list[list[str]], at_hand: list[list[str]], place: Path) -> list[Row]:
    """Return the peaks of a run with and without cached vectors, and of the audit: of both sizes, and their ratio."""
    peaks: dict[str, list[float]] = {}
    for number, (command, files) in enumerate(zip(commands, at_hand, strict=True)):
        for step in ("cold", "warm"):
            folder = place / f"{what.split()[0]}-{number}-{step}"
            words = [
                *command,
                *ENCODER,
                "--cache-dir",
                str(place / f"cache{number}"),
                "--folder",
                str(folder),
                "--quiet",
            ]
            most = peak([*PROGRAM, *words], cwd=Path(__file__).parent)
            peaks.setdefault(f"{command[0]}, {step}", []).append(most / 1e6)
        most = peak([*PROGRAM, "audit", str(folder), *files], codes=(0, 1))
        peaks.setdefault("audit", []).append(most / 1e6)
    return [
        Row(
            f"peak RSS, {what}, {step}, against {TIMES} times as much",
            f"under {MEGABYTES} MB, and at most {GROWTH:.2f} times",
            f"{one:.0f} and {other:.0f} MB, {other / one:.2f} times",
            one < MEGABYTES and other <= GROWTH * one,
        )
        for step, (one, other) in peaks.items()
    ]


def write_repeated(file: Path, path: Path) -> Path:
    """Write each item of a LongMemEval file several times, with ids and texts that no other has."""
    with path.open("w", encoding="utf-8") as out:
        out.write("[")
        for number in range(TIMES):
            for place, item in enumerate(_items(file)):
                out.write(",\n" if number or place else "\n")
                out.write(json.dumps(_changed(item, number), ensure_ascii=False))
        out.write("\n]\n")
    return path


def _items(file: Path) -> Iterator[dict[str, Any]]:
    with file.open("rb") as opened:
        yield from ijson.items(opened, "item", use_float=True)


def _changed(item: dict[str, Any], number: int) -> dict[str, Any]:
    if not number:
        return item
    for turns in item["haystack_sessions"]:
        for turn in turns:
            turn["content"] = f"{turn['content']} ({number})"
    for name in ("haystack_session_ids", "answer_session_ids"):
        item[name] = [f"{number}-{id}" for id in item[name]]
    return item | {"question_id": f"{number}-{item['question_id']}", "question": f"{item['question']} ({number})"}


def write_set(folder: Path, documents: int, scopes: int = SCOPES) -> Path:
    """Write a set of that many documents of 40 words, and queries that ask for some of them by ten of theirs."""
    folder.mkdir()
    draw, asked = random.Random(42), []
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as out:
        for number in range(documents):
            words, scope = draw.choices(WORDS, k=40), f"s{number * scopes // documents}"
            out.write(json.dumps({"_id": f"d{number}", "scope": scope, "text": f"{' '.join(words)} {number}"}) + "\n")
            if number % (documents // QUERIES) == 0:
                asked.append({"query": " ".join(words[:10]), "scope": scope, "relevant": [f"d{number}"]})
    (folder / "gold.jsonl").write_text("".join(json.dumps(query) + "\n" for query in asked), encoding="utf-8")
    return folder


if __name__ == "__main__":
    raise SystemExit(show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else None)))
