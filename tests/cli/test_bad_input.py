"""Bad corpora through the command line: one clear error that names file, item and field, and nothing half-written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from recallbench.corpora.miniature import write_locomo, write_longmemeval
from stages import sampled


def changed(change: Callable[[list[Any]], object]) -> Callable[[bytes], bytes]:
    def rewrite(text: bytes) -> bytes:
        data = json.loads(text)
        change(data)
        return json.dumps(data).encode()

    return rewrite


LOCOMO = {
    "truncated": (lambda text: text[: len(text) // 2], ["JSON"]),
    "malformed": (lambda text: text.replace(b'"qa":', b'"qa"', 1), ["JSON"]),
    "not UTF-8": (lambda text: text.replace(b"bread", b"br\xff\xfead", 1), ["UTF-8"]),
    "empty": (lambda text: b"", ["JSON"]),
    "a missing field": (changed(lambda data: data[1].pop("qa")), ["mini-1", "qa"]),
    "a wrong type": (changed(lambda data: data[0]["qa"][2].update(question=7)), ["mini-0/q2", "question"]),
    "an unknown category": (changed(lambda data: data[0]["qa"][2].update(category=9)), ["mini-0/q2", "category"]),
    "no sessions": (changed(lambda data: data[1].update(conversation={})), ["mini-1", "session"]),
    "unreachable gold": (changed(lambda data: data[0]["qa"][3].update(evidence=["D99:1"])), ["mini-0/q3", "D99:1"]),
    "malformed evidence": (changed(lambda data: data[0]["qa"][3].update(evidence=["X1"])), ["mini-0/q3", "X1"]),
    "a doubled conversation": (changed(lambda data: data[1].update(sample_id="mini-0")), ["sample_id", "mini-0"]),
    "a segment without text": (
        changed(lambda data: [turn.update(text=" ") for turn in data[0]["conversation"]["session_4"]]),
        ["mini-0", "session_4"],
    ),
}
LONGMEMEVAL = {
    "a missing field": (changed(lambda data: data[3].pop("question_date")), ["mini_3", "question_date"]),
    "no sessions": (
        changed(
            lambda data: data[3].update(
                haystack_sessions=[], haystack_session_ids=[], haystack_dates=[], answer_session_ids=[]
            )
        ),
        ["mini_3", "haystack_sessions"],
    ),
    "a doubled question": (changed(lambda data: data[4].update(question_id="mini_3")), ["mini_3", "question_id"]),
    "lists of different length": (changed(lambda data: data[2]["haystack_dates"].pop()), ["mini_2", "haystack_dates"]),
    "unreachable gold": (changed(lambda data: data[2].update(answer_session_ids=["answer_x"])), ["mini_2", "answer_x"]),
    "a segment without text": (
        changed(lambda data: [turn.update(content="") for turn in data[2]["haystack_sessions"][5]]),
        ["mini_2", "haystack_sessions"],
    ),
    "a date that is none": (
        changed(lambda data: data[2].update(question_date="soon")),
        ["mini_2", "question_date", "soon"],
    ),
}


@pytest.mark.parametrize(
    ("corpus", "fault"),
    sampled([*(("locomo", fault) for fault in LOCOMO), *(("longmemeval", fault) for fault in LONGMEMEVAL)]),
)
def test_a_bad_corpus_is_refused_by_name(tmp_path: Path, corpus: str, fault: str) -> None:
    rewrite, named = (LOCOMO if corpus == "locomo" else LONGMEMEVAL)[fault]
    path = tmp_path / "mine.json"
    (write_locomo if corpus == "locomo" else write_longmemeval)(path)
    path.write_bytes(rewrite(path.read_bytes()))
    done = recallbench(
        *("run", corpus, "--corpus-file", path, "--allow-deviation", "dataset"),
        *("--store", "exact", "--embedder", "hash", "--folder", "result"),
        cwd=tmp_path,
    )
    assert done.returncode == 2
    for word in ["mine.json", *named, "expected", "found", "what to do"]:
        assert word in done.stderr, word
    assert [entry.name for entry in tmp_path.iterdir() if entry.name != "cache"] == ["mine.json"]


def test_a_bad_corpus_gives_a_single_message_and_no_vectors(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("[{]")
    done = recallbench(
        "run",
        "locomo",
        "--corpus-file",
        "mine.json",
        "--allow-deviation",
        "dataset",
        "--embedder",
        "bge-small-int8",
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stderr.count("recallbench:") == 1
    assert not list(tmp_path.rglob("vectors*"))
