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
from recallbench import key_numbers
from recallbench.corpora.labelled_sets import kept_documents, labelled
from recallbench.embedding import cached_embedder
from recallbench.runs.forecast import ahead
labelled.SMALL, kept_documents.AT_ONCE = 0, 4096  # what is less is kept in memory
key_numbers.RECENT = cached_embedder.WINDOW = ahead.WINDOW = 256  # so that few are as many as these already
code = _run(sys.argv[1:])
print("peak", tracemalloc.get_traced_memory()[1])
sys.exit(code)
"""
SESSIONS, CHARACTERS = 40, 2000


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


def write_documents(folder: Path, documents: int) -> Path:
    """Write a set with so many documents in 40 scopes, and a query for each of these."""
    folder.mkdir()
    with (folder / "corpus.jsonl").open("w") as file:
        for number in range(documents):
            text = f"word{number} " + f"of{number % 7} " * (CHARACTERS // 4)
            file.write(json.dumps({"_id": f"d{number}", "scope": f"s{number % SESSIONS}", "text": text}) + "\n")
    (folder / "gold.jsonl").write_text(
        "".join(
            json.dumps({"query": f"word{scope} of3", "scope": f"s{scope}", "relevant": [f"d{scope}"]}) + "\n"
            for scope in range(SESSIONS)
        )
    )
    return folder


def peak(folder: Path, *words: str | Path) -> int:
    done = recallbench(*words, "--quiet", cwd=folder, program=("-c", COUNTED))
    assert done.returncode in (0, 1)  # an audit of what is not committed
    return int(done.stdout.split()[-1])


@pytest.mark.marked
@pytest.mark.parametrize(
    ("kind", "few", "run_bytes", "audit_bytes"), [("file", 50, 4_500, 1_500), ("set", 400, 900, 400)]
)
def test_four_times_as_much_takes_a_small_part_of_its_texts(
    kind: str, few: int, run_bytes: int, audit_bytes: int, tmp_path: Path
) -> None:
    """A question of the file brings 80,000 characters along, a document of the set 2,000."""
    peaks: dict[str, list[int]] = {"run": [], "audit": []}
    (tmp_path / "encoder.py").write_text(
        "import zlib\ndef embed(texts):\n    return [[1.0, zlib.crc32(text.encode()) / 2**32] for text in texts]\n"
    )
    for count in (few, 4 * few):
        if kind == "file":
            path = write_items(tmp_path / f"{count}.json", count)
            run = ("run", "longmemeval", "--allow-deviation", "dataset", "--corpus-file", path)
        else:
            path = write_documents(tmp_path / f"set{count}", count)
            run = ("evaluate", path)
        # An encoder with a cache waits for some thousand texts, which a small set has not.
        encoder = ("--store", "exact", "--embedder", "python:encoder:embed" if kind == "file" else "hash")
        peaks["run"].append(peak(tmp_path, *run, *encoder, "--folder", f"r{count}"))
        peaks["audit"].append(peak(tmp_path, "audit", f"r{count}", "--corpus-file", path))
    grown = {command: (larger - smaller) / (3 * few) for command, (smaller, larger) in peaks.items()}
    print(peaks, grown)
    assert grown["run"] < run_bytes
    assert grown["audit"] < audit_bytes
