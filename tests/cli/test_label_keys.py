"""`recallbench label` on a real terminal: single keys, undo, documents that are added; and its import."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commandline import environment, recallbench
from labelled_sets import DOCUMENTS, jsonl

PATIENCE = 60.0


class Terminal:
    """A command with a terminal of its own, and somebody in front of it."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._mine, self.its = os.openpty()
        self.before = termios.tcgetattr(self.its)
        self.shown = ""
        self._read_to = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "recallbench", "label", "team", "-q", *words],
            stdin=self.its,
            stdout=self.its,
            stderr=self.its,
            cwd=folder,
            env=environment(folder, {"TERM": "xterm"}),
            start_new_session=True,
        )

    def wait_for(self, text: str) -> str:
        """Read until the text is shown, and return what came with it since the last time."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown[self._read_to :]:
            assert time.monotonic() < end, f"no {text!r} in {self.shown!r}"
            if select.select([self._mine], [], [], 0.1)[0]:
                self.shown += os.read(self._mine, 4096).decode().replace("\r\n", "\n")
            else:
                assert self.process.poll() is None, f"ended without {text!r}: {self.shown!r}"
        at = self.shown.index(text, self._read_to) + len(text)
        part, self._read_to = self.shown[self._read_to : at], at
        return part

    def press(self, keys: str) -> None:
        os.write(self._mine, keys.encode())

    def answer(self, key: str) -> str:
        """Wait for the question, press one key, and return what was shown before."""
        shown = self.wait_for("relevant? ")
        self.press(key)
        return shown

    def end(self) -> str:
        self.process.wait(PATIENCE)
        while select.select([self._mine], [], [], 0.2)[0]:
            self.shown += os.read(self._mine, 4096).decode().replace("\r\n", "\n")
        assert "Traceback" not in self.shown
        return self.shown[self._read_to :]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._mine)
        os.close(self.its)


@contextmanager
def terminal(folder: Path, *words: str) -> Iterator[Terminal]:
    running = Terminal(folder, *words)
    try:
        yield running
    finally:
        running.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "team").mkdir()
    jsonl(tmp_path / "team" / "corpus.jsonl", [{**document, "tenant": "north"} for document in DOCUMENTS[:4]])
    rows = [
        {"_id": "ferry", "text": "When does the ferry leave?", "tenant": "north"},
        {"_id": "rain", "text": "Where does it rain?", "tenant": "north"},
    ]
    jsonl(tmp_path / "team" / "queries.jsonl", rows)
    return tmp_path


def labels(folder: Path) -> list[tuple[str, Any]]:
    file = folder / "team" / "gold.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [(row.get("query_id") or row["query"], row["relevant"]) for row in rows]


def test_single_keys_label_and_u_takes_them_back(folder: Path) -> None:
    with terminal(folder, "--proposals", "2") as running:
        shown = running.answer("n")
        assert "[1 of 2] When does the ferry leave?" in shown
        assert "1 of 2. oslo: " in shown
        running.answer("u")  # of the same query
        assert "1 of 2. oslo: " in running.answer("2")
        assert "2 of 2. " in running.answer("a")
        assert "saved: 1 relevant of 2 judged\n\n[2 of 2] Where does it rain?" in running.wait_for("relevant? ")
        assert labels(folder) == [("ferry", {"oslo": 2.0})]
        running.press("u")  # of the query before: its line is taken back
        shown = running.answer("a")
        assert "the last label was taken back\n\n[1 of 2] When does the ferry leave?" in shown
        assert "2 of 2. " in shown
        running.answer("y")
        running.answer("a")
        running.wait_for("u undoes the last label, any other key ends. ")
        assert labels(folder) == [("ferry", {"oslo": 2.0}), ("rain", ["bergen"])]
        running.press("u")
        assert "2 of 2. " in running.answer("u")
        assert "1 of 2. bergen: " in running.answer("n")
        running.answer("n")
        running.wait_for("Should the query find nothing at all? ")
        assert labels(folder) == [("ferry", {"oslo": 2.0})]
        running.press("y")
        running.wait_for("any other key ends. ")
        running.press("q")
        assert "2 queries labelled in team/gold.jsonl, 2 in all; next: recallbench evaluate team" in running.end()
        assert running.process.returncode == 0
        assert termios.tcgetattr(running.its) == running.before
    assert labels(folder) == [("ferry", {"oslo": 2.0}), ("rain", [])]


def test_a_document_is_added_by_id_or_by_words(folder: Path) -> None:
    with terminal(folder, "--proposals", "1") as running:
        assert "1 of 1. oslo: " in running.answer("+")
        running.wait_for("words to search for: ")
        running.press("fjord\n")
        assert "1 of 2. fjord: A fjord is deep." in running.answer("y")
        assert "2 of 2. oslo: " in running.answer("+")
        running.wait_for("words to search for: ")
        running.press("trains to Rxx\x7f\x7fome\n")  # the line can be edited
        shown = running.wait_for("which one? ")
        assert re.search(r"1\. rome: The train to Rome leaves at ten\.", shown)
        running.press("1")
        assert "2 of 3. rome: The train" in running.answer("n")
        running.answer("+")
        running.wait_for("words to search for: ")
        running.press("zebra\n")
        assert "no document of this scope has that id or these words" in running.answer("n")
        running.answer("q")
        assert "1 query labelled in team/gold.jsonl, 1 in all; 1 waits; next: " in running.end()
    assert labels(folder) == [("ferry", ["fjord"])]


def test_an_arrow_is_no_letter_and_a_strange_key_is_explained(folder: Path) -> None:
    with terminal(folder) as running:
        running.answer("\x1b[A")
        assert "y n 0-9 a + u m s q: " in running.answer("é")
        assert "y n 0-9 a + u m s q: " in running.answer("\x04")
        assert "0 queries labelled" in running.end()
    assert labels(folder) == []


def test_an_interruption_leaves_the_terminal_as_it_was(folder: Path) -> None:
    with terminal(folder) as running:
        running.wait_for("relevant? ")
        assert termios.tcgetattr(running.its)[3] & termios.ICANON == 0
        os.kill(running.process.pid, signal.SIGINT)
        told = "recallbench: interrupted; 0 queries labelled in team/gold.jsonl, 0 in all; next: "
        assert f"{told}recallbench label team -q goes on" in running.end()
        assert running.process.returncode == 130
        assert termios.tcgetattr(running.its) == running.before


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_tells_how_many_queries_are_labelled_and_saved(folder: Path, ending: signal.Signals) -> None:
    with terminal(folder, "--proposals", "2") as running:
        for key in "yy":
            running.answer(key)
        running.answer("y")
        running.wait_for("relevant? ")
        os.kill(running.process.pid, ending)
        assert running.end().endswith(
            "recallbench: interrupted; 1 query labelled in team/gold.jsonl, 1 in all; it is saved; 1 waits, begun, its "
            "labels saved; next: recallbench label team -q --proposals 2 goes on\n"
        )
        assert running.process.returncode == 130
        assert termios.tcgetattr(running.its) == running.before
    assert [name for name, _ in labels(folder)] == ["ferry"]
    with terminal(folder, "--proposals", "2") as running:
        assert "1 of its documents is judged already; u goes back\n\n  2 of 2. " in running.answer("a")
        running.wait_for("any other key ends. ")
        os.kill(running.process.pid, ending)
        assert running.end().endswith(
            "recallbench: interrupted; 1 query labelled in team/gold.jsonl, 2 in all; all of them are saved; "
            "next: recallbench evaluate team\n"
        )
        assert running.process.returncode == 130
        assert termios.tcgetattr(running.its) == running.before
    assert [name for name, _ in labels(folder)] == ["ferry", "rain"]


def test_ctrl_backslash_ends_at_once_with_the_terminal_as_it_was(folder: Path) -> None:
    with terminal(folder) as running:
        running.wait_for("relevant? ")
        os.kill(running.process.pid, signal.SIGQUIT)
        running.end()
        assert running.process.returncode == -signal.SIGQUIT
        assert termios.tcgetattr(running.its) == running.before


def test_a_terminal_whose_output_was_stopped_is_given_back_by_force(folder: Path) -> None:
    with terminal(folder) as running:
        running.wait_for("relevant? ")
        termios.tcflow(running.its, termios.TCOOFF)  # as Ctrl-S does: the program can't write any more
        running.press("n")
        time.sleep(0.5)
        os.kill(running.process.pid, signal.SIGTERM)
        assert running.process.wait(PATIENCE) == 130
        assert termios.tcgetattr(running.its) == running.before


def test_the_former_name_of_proposals_is_k(folder: Path) -> None:
    with terminal(folder, "--k", "1") as running:
        assert "1 of 1. oslo: " in running.answer("q")
        running.end()


def test_an_import_makes_a_set_that_evaluates(folder: Path) -> None:
    (folder / "all.csv").write_text(
        "question,answer,relevant,kind,scope,author\n"
        "When is the ferry?,,oslo,travel,north,Ann\n"
        "Where rain?,,bergen,,north,\n"
    )
    done = recallbench("label", "team", "--import", "all.csv", cwd=folder)
    assert done.returncode == 0
    assert done.stdout == (
        "column passed over: author\n\n"
        "2 questions of all.csv taken into team/gold.jsonl; one column was passed over, named above; "
        "next: recallbench evaluate team\n"
    )
    (folder / "team" / "queries.jsonl").unlink()
    assert recallbench("evaluate", "team", "--store", "bm25", "-q", cwd=folder).returncode == 0


def test_an_import_is_repeated_and_extended(folder: Path) -> None:
    table = folder / "all.csv"
    words = ("label", "team", "--import", "all.csv")
    table.write_text("question,relevant,scope\nWhen is the ferry?,oslo,north\nWhere rain?,bergen,north\n")
    assert recallbench(*words, cwd=folder).returncode == 0
    before = (folder / "team" / "gold.jsonl").read_bytes()
    again = recallbench(*words, cwd=folder)
    assert (again.returncode, again.stdout) == (
        0,
        "\nNothing of all.csv is new: team/gold.jsonl has each of its 2 rows already; "
        "next: recallbench evaluate team\n",
    )
    assert (folder / "team" / "gold.jsonl").read_bytes() == before
    table.write_text(table.read_text().replace("bergen", "rome") + "What is deep?,fjord,north\n")
    refused = recallbench(*words, cwd=folder)
    assert refused.returncode == 2
    assert "line 3: q2 is there already, and differs: relevant" in refused.stderr
    assert (folder / "team" / "gold.jsonl").read_bytes() == before
    done = recallbench(*words, "--replace", "--format", "json", cwd=folder)
    document = json.loads(done.stdout)
    assert (document["imported"], document["replaced"], document["skipped"]) == (["q3"], ["q2"], 1)
    assert document["conclusion"]["happened"] == (
        "1 question of all.csv taken into team/gold.jsonl, 1 replaced, 1 was there already"
    )
    assert labels(folder) == [
        ("When is the ferry?", ["oslo"]),
        ("Where rain?", ["rome"]),
        ("What is deep?", ["fjord"]),
    ]
    refused = recallbench("label", "team", "--replace", cwd=folder)
    assert (refused.returncode, "--replace is for --import" in refused.stderr) == (2, True)


def test_an_import_of_answers_is_measured_by_their_texts(folder: Path) -> None:
    (folder / "all.tsv").write_text("question\tanswer\nWhen is the ferry?\tleaves at nine\n")
    done = recallbench("label", "team", "--import", "all.tsv", "--scope", "north", "--format", "json", cwd=folder)
    document = json.loads(done.stdout)
    assert (document["imported"], document["judged"], document["expecting"]) == (["q1"], 0, 1)
    assert document["conclusion"]["next"] == "recallbench evaluate team --match tokens"
    words = ("--match", "tokens", "--store", "bm25", "-q", "--allow-random-matches")
    assert recallbench("evaluate", "team", *words, cwd=folder).returncode == 0


def test_a_set_that_has_judgements_already_gets_no_second_labels(folder: Path) -> None:
    (folder / "team" / "qrels").mkdir()
    (folder / "all.csv").write_text("question,relevant,scope\nGood?,oslo,north\n")
    done = recallbench("label", "team", "--import", "all.csv", cwd=folder)
    assert (done.returncode, "team has its labels in qrels/" in done.stderr) == (2, True)
    assert not (folder / "team" / "gold.jsonl").exists()


def test_a_faulty_import_changes_nothing(folder: Path) -> None:
    gold = folder / "team" / "gold.jsonl"
    gold.write_text('{"query_id": "a", "query": "b", "relevant": ["oslo"], "scope": "north"}\n')
    before = gold.read_bytes()
    (folder / "all.csv").write_text("question,relevant,scope\nGood?,oslo,north\nBad?,nowhere,north\n")
    done = recallbench("label", "team", "--import", "all.csv", cwd=folder)
    assert done.returncode == 2
    assert "1 of 2 rows can't be taken, and none was" in done.stderr
    assert "line 3: corpus.jsonl has no document nowhere of scope north" in done.stderr
    assert gold.read_bytes() == before
    done = recallbench("label", "team", "--import", "all.csv", "--store", "bm25", cwd=folder)
    assert "--store is not for --import" in done.stderr
