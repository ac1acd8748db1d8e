"""A run over four times as much, and its audit, take little more memory: some kilobytes a question, no text of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import recallbench

COUNTED = """
import sys, tracemalloc
tracemalloc.start()
from recallbench.cli.main import _run
code = _run(sys.argv[1:])
print("peak", tracemalloc.get_traced_memory()[1])
sys.exit(code)
"""
SESSIONS, CHARACTERS = 40, 400


def write_items(path: Path, items: int) -> Path:
    """Write a file in LongMemEval's shape: a haystack of 40 sessions for each question."""
    path.write_text(json.dumps([item(number) for number in range(items)]))
    return path


def item(number: int) -> dict[str, object]:
    texts = [f"word{number} word{place} " + f"filler{place % 7} " * (CHARACTERS // 8) for place in range(SESSIONS)]
    ids = [f"s{number}-{place}" for place in range(SESSIONS)]
    return {
        "question_id": f"question-{number}",
        "question_type": "single-session-user",
        "question": f"What of word{number} and word{number % SESSIONS}?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer": "that",
        "answer_session_ids": [ids[number % SESSIONS]],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"] * SESSIONS,
        "haystack_session_ids": ids,
        "haystack_sessions": [[{"role": "user", "content": text, "has_answer": True}] for text in texts],
    }


def write_documents(folder: Path, scopes: int) -> Path:
    """Write a set with 40 documents in each scope, and a query for each of these."""
    folder.mkdir()
    every = [(scope, place) for scope in range(scopes) for place in range(SESSIONS)]
    (folder / "corpus.jsonl").write_text(
        "".join(
            json.dumps({"_id": f"d{place}", "scope": f"s{scope}", "text": f"word{scope} " + f"of{place} " * 80}) + "\n"
            for scope, place in every
        )
    )
    (folder / "gold.jsonl").write_text(
        "".join(
            json.dumps({"query": f"word{scope} of3", "scope": f"s{scope}", "relevant": ["d3"]}) + "\n"
            for scope in range(scopes)
        )
    )
    return folder


def peak(folder: Path, *words: str | Path) -> int:
    done = recallbench(*words, "--quiet", cwd=folder, program=("-c", COUNTED))
    assert done.returncode in (0, 1)  # an audit of what is not committed
    return int(done.stdout.split()[-1])


@pytest.mark.marked
@pytest.mark.parametrize("kind", ["file", "set"])
def test_four_times_as_much_takes_a_few_kilobytes_a_question(kind: str, tmp_path: Path) -> None:
    few, times = 100, 4
    peaks: dict[str, list[int]] = {"run": [], "audit": []}
    for count in (few, times * few):
        if kind == "file":
            path = write_items(tmp_path / f"{count}.json", count)
            run = ("run", "longmemeval", "--allow-deviation", "dataset", "--corpus-file", path)
        else:
            path = write_documents(tmp_path / f"set{count}", count)
            run = ("evaluate", path)
        encoder = ("--store", "exact", "--embedder", "python:encoder:embed")
        (tmp_path / "encoder.py").write_text(
            "import zlib\ndef embed(texts):\n    return [[1.0, zlib.crc32(text.encode()) / 2**32] for text in texts]\n"
        )
        peaks["run"].append(peak(tmp_path, *run, *encoder, "--folder", f"{kind}{count}"))
        peaks["audit"].append(peak(tmp_path, "audit", f"{kind}{count}", "--corpus-file", path))
    added = (times - 1) * few
    grown = {command: (larger - smaller) / added for command, (smaller, larger) in peaks.items()}
    print(peaks, grown)
    # 40 texts of a question take 17,000 bytes; what a whole run or audit of LongMemEval-S may grow by is 6,600.
    assert grown["run"] < 6_600
    assert grown["audit"] < 6_600
