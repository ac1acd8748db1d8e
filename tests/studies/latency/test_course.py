"""Levels of load on a store that stops to answer, and on a server that takes no more callers."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from commandline import recallbench
from labelled_sets import beir
from recallbench.stores.postgres.embedded import SETTINGS, EmbeddedServer
from recallbench.studies.latency.choices import MOST_CLIENTS

ONCE = """
from recallbench.errors import InputError

class Memory:
    left = {left}

    def __init__(self):
        self.texts = []

    def add(self, id, text):
        self.texts.append(id)

    def search(self, query, k):
        Memory.left -= 1
        if Memory.left < 0:
            raise ValueError("too busy")
        return self.texts[:k]
"""


@pytest.mark.marked
@pytest.mark.parametrize("left", [0, 250])
def test_a_store_that_answers_nothing_ends_the_study(tmp_path: Path, left: int) -> None:
    beir(tmp_path / "team")
    (tmp_path / "memory.py").write_text(ONCE.format(left=left))
    words = ("latency", "team", "--store", "python:memory:Memory", "--clients", "1", "--seconds", "0.2", "--out", "out")
    done = recallbench(*words, "--format", "json", "-q", cwd=tmp_path)
    if left == 0:  # while it is warmed up
        assert (done.returncode, done.stdout) == (2, "")
        assert "too busy" in done.stderr
        assert not (tmp_path / "out").exists()
        return
    document = json.loads(done.stdout)
    closed, *opened = document["rows"]
    assert closed["failed"] > 0
    assert closed["p50"]["at_least"]
    assert {row["n"] for row in opened} == {0}
    assert {row["quality"][0]["value"] for row in opened} == {0.0}
    assert document["finished"]


def test_the_embedded_server_takes_all_clients_of_two_systems() -> None:
    assert int(SETTINGS["max_connections"]) > 2 * MOST_CLIENTS + 10


def test_levels_end_where_the_server_takes_no_more_callers(tmp_path: Path) -> None:
    with EmbeddedServer() as server:
        with psycopg.connect(server.dsn, autocommit=True) as owner:
            owner.execute("CREATE EXTENSION vector")
            owner.execute("CREATE ROLE few LOGIN PASSWORD 'few' CONNECTION LIMIT 4")
            owner.execute("GRANT CREATE ON DATABASE postgres TO few")
        words = (
            "latency",
            "canary-locomo",
            "--store",
            "pgvector",
            "--embedder",
            "hash",
            "--limit",
            "9",
            "--out",
            "out",
        )
        words += ("--dsn", make_conninfo(server.dsn, user="few", password="few"), "--seconds", "0.2", "--rates", "20")
        done = recallbench(*words, "--clients", "1,2,8", "--format", "json", cwd=tmp_path)
        first = recallbench(*words, "--clients", "8", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["finished"]
    assert [row["clients"] for row in document["rows"] if row["kind"] == "closed"] == [1, 2]
    assert document["rows"][-1]["rate"] == 20.0
    assert [row["level"] for row in document["rows"]] == [1, 2, 3]
    said = "No level with 8 clients: the server takes no 8 of them: "
    assert said in done.stderr
    assert 'too many connections for role "few"' in done.stderr
    assert first.returncode == 3
    assert "what to do: ask with fewer callers, or raise max_connections of the server" in first.stderr
