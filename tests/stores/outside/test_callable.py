from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from commandline import recallbench
from recallbench.errors import InputError, UsageError
from recallbench.interruption import TimeLimitExceeded, time_limit
from recallbench.stores.outside.callable import CallableStore
from recallbench.stores.store import Hit, Item, Query

ITEMS = [Item(3, 1, "red fox", None, 0.5), Item(4, 1, "blue owl", None, 0.5), Item(5, 1, "owl", None, 0.5)]
VECTORS = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
QUESTION = Query(1, "owl", np.array([1, 0], np.float32))

MODULE = """
import time
CLOSED = []
__version__ = "7.2"

def by_dot(items, vectors):
    def search(query, k):
        scores = vectors @ query.vector
        pairs = [(item.id, float(score)) for item, score in zip(items, scores)]
        return sorted(pairs, key=lambda pair: (-pair[1], -pair[0]))[:k]
    return search
by_dot.settings = {"similarity": "dot product", "api_key": "hunter2secret"}

def by_words(items, vectors):
    assert vectors is None
    counted = sorted(items, key=lambda item: (-item.text.count("owl"), -item.id))
    return lambda query, k: [(item.id, item.text.count(query.text)) for item in counted][:k]
by_words.needs_vectors = False

def answering(answer):
    return lambda items, vectors: lambda query, k: answer

nothing = answering([])
too_many = answering([(3, 1.0), (4, 1.0), (5, 1.0)])
unknown = answering([(3, 1.0), (99, 0.5)])
doubled = answering([(3, 1.0), (3, 0.5)])
nan = answering([(3, float("nan"))])
endless = answering([(3, float("inf"))])
not_pairs = answering([3, 4])
no_number = answering([("three", 1.0)])
half = answering([(3.5, 1.0)])
no_list = answering(None)
by_id = answering({3: 1.0})
unordered = answering([(3, 0.2), (4, 0.9)])
strings = answering([("3", 1.0)])

def endless_answer(items, vectors):
    return lambda query, k: ((3, 1.0) for _ in iter(int, 1))

def hanging(items, vectors):
    def search(query, k):
        while True:
            try:
                time.sleep(60)
            except Exception:
                pass
    return search

def closing(items, vectors):
    class Memory:
        def __call__(self, query, k):
            return []
        def close(self):
            CLOSED.append(items[0].scope)
    return Memory()

def raising(items, vectors):
    def search(query, k):
        raise KeyError("gone")
    return search

def leaving(items, vectors):
    def search(query, k):
        raise SystemExit(5)
    return search


def not_opening(items, vectors):
    raise RuntimeError("no memory today")

def no_searcher(items, vectors):
    return 12

number = 12
"""


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my_memory.py").write_text(MODULE)
    (tmp_path / "broken_memory.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])

    def open_it(name: str, **more: float) -> CallableStore:
        store = CallableStore(f"my_memory:{name}", **more)
        store.prepare(2)
        store.ingest(ITEMS, VECTORS if store.needs_vectors else None)
        return store

    yield open_it
    __import__("sys").modules.pop("my_memory", None)


def test_equal_scores_go_by_id_whatever_their_order(opened) -> None:
    assert opened("by_dot").search(QUESTION, 5) == [Hit(3, 1.0), Hit(5, 1.0), Hit(4, 0.0)]


def test_a_function_may_do_without_vectors(opened) -> None:
    store = opened("by_words")
    assert not store.needs_vectors
    assert store.search(QUESTION, 5) == [Hit(4, 1.0), Hit(5, 1.0), Hit(3, 0.0)]


def test_fewer_hits_and_forgotten_scopes_are_fine(opened) -> None:
    store = opened("nothing")
    assert store.search(QUESTION, 5) == []
    assert store.search(Query(9, "owl", QUESTION.vector), 5) == []
    store = opened("by_dot")
    store.forget(1)
    assert store.search(QUESTION, 5) == []


def test_the_function_is_named_in_the_artefacts(opened) -> None:
    store = opened("by_dot")
    assert store.version() == "my_memory:by_dot (7.2)"
    assert store.settings() == {
        "callable.function": "my_memory:by_dot", "callable.similarity": "dot product", "callable.api_key": "***",
    }  # fmt: skip
    assert store.name == "callable"
    assert len(store.evidence()["module_sha256"]) == 64


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("too_many", "3 hits"),
        ("unknown", "the id 99"),
        ("doubled", "the id 3 twice"),
        ("nan", "nan for the id 3"),
        ("endless", "inf for the id 3"),
        ("not_pairs", "3"),
        ("no_number", "three"),
        ("half", "3.5"),
        ("raising", "KeyError"),
        ("no_list", "None"),
        ("by_id", "a dict"),
        ("leaving", "SystemExit"),
        ("unordered", "the id 4 with 0.9 behind the id 3 with 0.2"),
        ("strings", "('3', 1.0)"),
        ("endless_answer", "3 hits"),
    ],
)
def test_a_wrong_answer_is_refused(opened, name: str, complaint: str) -> None:
    with pytest.raises(InputError, match=f"my_memory:{name}") as caught:
        opened(name).search(QUESTION, 2)
    assert complaint in caught.value.found
    assert "`owl`" in caught.value.problem
    assert "--keep-going" in caught.value.remedy


def test_no_answer_at_all_is_refused_with_what_is_expected_and_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "forgetful.py").write_text(
        "def memory(items, vectors):\n    return lambda query, k: None\nmemory.needs_vectors = False\n"
    )
    done = recallbench("run", "canary-locomo", "--store", "python:forgetful:memory", "--limit", "1", "-q", cwd=tmp_path)
    assert done.returncode == 2
    assert "`forgetful:memory` broke its contract on the question `" in done.stderr
    assert "(scope" not in done.stderr
    assert "expected: a list of (id, score) pairs\n  found: None\n" in done.stderr
    assert "with --keep-going run and evaluate go on, and count that question as the worst answer" in done.stderr


def test_a_function_that_swallows_the_alarm_is_still_late(tmp_path: Path) -> None:
    (tmp_path / "deaf.py").write_text(
        "import time\n\n"
        "def memory(items, vectors):\n"
        "    def search(query, k):\n"
        "        try:\n"
        "            time.sleep(0.6)\n"
        "        except:\n"
        "            pass\n"
        "        return [(items[0].id, 1.0)]\n"
        "    return search\n\n"
        "memory.needs_vectors = False\n"
    )
    words = ("run", "canary-locomo", "--store", "python:deaf:memory", "--limit", "1", "--folder", "r", "-q")
    done = recallbench(*words, cwd=tmp_path, env={"RECALLBENCH_STORE_TIMEOUT": "0.3"})
    assert done.returncode == 2
    assert "did not come back while searching for" in done.stderr
    assert "expected: an answer within 0.3 s\n  found: none in that time" in done.stderr
    patient = recallbench(*words, cwd=tmp_path, env={"RECALLBENCH_STORE_TIMEOUT": "30"})
    assert patient.returncode == 0


def test_iterating_over_an_answer_counts_towards_the_limit(tmp_path: Path) -> None:
    (tmp_path / "lazy.py").write_text(
        "import time\n\n"
        "class Hits:\n"
        "    def __len__(self):\n"
        "        return 1\n"
        "    def __iter__(self):\n"
        "        time.sleep(30)\n"
        "        return iter([])\n\n"
        "def memory(items, vectors):\n"
        "    return lambda query, k: Hits()\n\n"
        "memory.needs_vectors = False\n"
    )
    words = ("run", "canary-locomo", "--store", "python:lazy:memory", "--limit", "1", "--folder", "r", "-q")
    done = recallbench(*words, cwd=tmp_path, env={"RECALLBENCH_STORE_TIMEOUT": "0.3"})
    assert done.returncode == 2
    assert "did not come back while searching for" in done.stderr


def test_a_late_call_is_noticed_in_other_threads_too() -> None:
    def call(seconds: float) -> bool:
        try:
            with time_limit(0.05):
                time.sleep(seconds)
        except TimeLimitExceeded:
            return True
        return False

    with ThreadPoolExecutor(1) as elsewhere:
        assert elsewhere.submit(call, 0.1).result()
        assert not elsewhere.submit(call, 0.0).result()


def test_a_function_that_hangs_is_reported(tmp_path: Path) -> None:
    # In a process of its own: an alarm concerns the whole process.
    (tmp_path / "slow.py").write_text(
        "import time\n\n"
        "def memory(items, vectors):\n"
        "    def search(query, k):\n"
        "        while True:\n"
        "            try:\n"
        "                time.sleep(60)\n"
        "            except Exception:\n"
        "                pass\n"
        "    return search\n\n"
        "memory.needs_vectors = False\n"
    )
    words = ("run", "canary-locomo", "--store", "python:slow:memory", "--limit", "3", "--folder", "r", "-q")
    done = recallbench(*words, cwd=tmp_path, env={"RECALLBENCH_STORE_TIMEOUT": "0.3"})
    assert done.returncode == 2
    assert "did not come back while searching for" in done.stderr
    assert "RECALLBENCH_STORE_TIMEOUT" in done.stderr


def test_a_searcher_is_closed_with_its_scope(opened) -> None:
    store = opened("closing")
    store.forget(1)
    store.close()
    assert sys.modules["my_memory"].CLOSED == [1]


@pytest.mark.parametrize(("name", "complaint"), [("not_opening", "no memory today"), ("no_searcher", "a int")])
def test_a_function_that_opens_nothing_is_refused(opened, name: str, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        opened(name)
    assert complaint in caught.value.found


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("my_memory", "names no function"),
        (":by_dot", "names no function"),
        ("no_such_module_here:f", "can't be imported"),
        ("broken_memory:f", "can't be imported"),
        ("my_memory:absent", "is no function"),
        ("my_memory:number", "is no function"),
    ],
)
def test_a_name_that_leads_nowhere_is_refused(opened, call: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        CallableStore(call)
