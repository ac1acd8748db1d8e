"""Classes of the user's own, with the signatures and answers that memory libraries have."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from recallbench.errors import InputError, UsageError
from recallbench.stores.outside.callable import CallableStore
from recallbench.stores.store import Hit, Item, Query

DAY = datetime(2026, 3, 1, tzinfo=UTC)
ITEMS = [Item(3, 1, "red fox", DAY, 0.5), Item(4, 1, "blue owl", None, 0.5), Item(15, 1, "owl owl", None, 0.9)]
ELSEWHERE = [Item(16, 2, "owl", None, 0.5)]
VECTORS = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
QUESTION = Query(1, "owl", np.array([0, 1], np.float32))
OWLS = [Hit(15, 2.0), Hit(4, 1.0)]
"""The answer by how often the word stands there."""
RANKED = [Hit(15, 1.0), Hit(4, 0.5)]
"""The same without scores."""

Opened = Callable[..., CallableStore]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """Return a store of a class, from the source of its module; it holds ITEMS."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])

    def open_it(source: str, name: str = "Memory", **texts: str) -> CallableStore:
        (tmp_path / "class_of_mine.py").write_text(source)
        sys.modules.pop("class_of_mine", None)
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            store = CallableStore(f"class_of_mine:{name}", texts=texts)
        finally:
            sys.dont_write_bytecode = before
        store.prepare(2)
        store.ingest(ITEMS, VECTORS if store.needs_vectors else None)
        return store

    yield open_it
    sys.modules.pop("class_of_mine", None)


OF_LIBRARY = "{'id': 7 * n, 'similarity': n, 'metadata': key}"


def memory(add: str, search: str, found: str, keep: str = "rows += [(id, text)]") -> str:
    """Return a module with a class that counts words; `found` makes a hit of `key`, `text` and `n`."""
    return f"""
from types import SimpleNamespace as Thing

class Memory:
    def __init__(self):
        self.rows = []
    def {add}:
        rows = self.rows
        {keep}
    def {search}:
        word = {search.split(",")[1].strip(" )")}
        counted = [(text.count(word), key, text) for key, text in self.rows if word in text]
        return [{found} for n, key, text in sorted(counted, key=lambda row: -row[0])]
"""


SEARCH = "search(self, query, k)"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (memory("add(self, id, text)", SEARCH, "(key, n)"), OWLS),
        (memory("ingest(self, text, id)", "search(self, query, top_k=5)", "(key, n)"), OWLS),
        (memory("add(self, doc_id, t, /)", "search(self, q, limit)", "[key, n]", "rows += [(doc_id, t)]"), OWLS),
        (memory("add(self, text, *, key: int)", "search(self, query)", "(key, n)", "rows += [(key, text)]"), OWLS),
        (memory("add(self, id: int, text)", SEARCH, "str(key)"), RANKED),
        (memory("add(self, id, text)", SEARCH, "int(key)"), RANKED),
        (memory("add(self, id, text)", "search(self, query, **more)", "{'id': key, 'score': n}"), OWLS),
        (memory("add(self, id, text)", SEARCH, "Thing(id=key, score=n)"), OWLS),
        (memory("add(self, id, text)", SEARCH, "(Thing(id=key), n)"), OWLS),
        (memory("add(self, texts, ids=None)", SEARCH, "(key, n)", "rows += zip(ids, texts)"), OWLS),
        (memory("add(self, batch: list[str], ids)", SEARCH, "(key, n)", "rows += zip(ids, batch)"), OWLS),
        (memory("ingest(self, items)", SEARCH, "(key, n)", "rows += [(i.id, i.text) for i in items]"), OWLS),
        (memory("add(self, item)", SEARCH, "(key, n)", "rows += [(item.id, item.text)]"), OWLS),
        (
            # An id of the library's own, beside that in the metadata that it was given.
            memory("add(self, text, metadata=None)", SEARCH, OF_LIBRARY, "rows += [(metadata, text)]"),
            OWLS,
        ),
        (memory("add(self, messages, *, metadata=None)", SEARCH, OF_LIBRARY, "rows += [(metadata, messages)]"), OWLS),
        (memory("add(self, text)", SEARCH, "key", "rows += [(f'n{len(rows)}', text)]; return rows[-1][0]"), RANKED),
        (memory("add(self, text)", SEARCH, "(text, n)", "rows += [(0, text)]"), OWLS),
        (memory("add(self, text)", SEARCH, "Thing(content=text)", "rows += [(0, text)]"), RANKED),
    ],
)
def test_a_class_is_taken_as_it_is(opened: Opened, source: str, expected: list[Hit]) -> None:
    store = opened(source)
    assert store.search(QUESTION, 5) == expected
    assert not store.needs_vectors
    assert store.evidence()["scores"].startswith("none of its own" if expected is RANKED else "one for an item")
    assert store.search(Query(9, "owl", None), 5) == []


def test_a_search_without_k_is_cut_and_one_with_k_is_held_to_it(opened: Opened) -> None:
    without = opened(memory("add(self, id, text)", "search(self, query)", "(key, n)"))
    assert without.search(QUESTION, 1) == OWLS[:1]
    with_k = opened(memory("add(self, id, text)", "search(self, query, k)", "(key, n)"))
    with pytest.raises(InputError) as caught:
        with_k.search(QUESTION, 1)
    assert (caught.value.expected, caught.value.found) == ("at most k = 1 hits", "2 hits")


def test_items_of_one_text_are_told_apart_by_their_order_alone(opened: Opened) -> None:
    store = opened(memory("add(self, text)", SEARCH, "text", "rows += [(0, text)]"))
    store.ingest([Item(20, 3, "owl", None, 0.5), Item(21, 3, "owl", None, 0.5)], None)
    assert store.search(Query(3, "owl", None), 5) == [Hit(20, 1.0), Hit(21, 0.5)]


def test_a_mapping_may_hold_the_hits(opened: Opened) -> None:
    source = memory("add(self, id, text)", "search(self, query, k)", "(key, n)")
    store = opened(source.replace("return [", "return {'took': 1} | {'results': [").rstrip() + "}\n")
    assert store.search(QUESTION, 5) == OWLS


def test_what_is_asked_for_by_name_is_given(opened: Opened) -> None:
    source = """
class Memory:
    def __init__(self, unit=1.0):
        self.rows, self.unit = [], unit
    def add(self, text, vector, occurred_at, importance=0, metadata=None):
        assert metadata == {"id": metadata["id"], "importance": importance} | (
            {"occurred_at": occurred_at.isoformat()} if occurred_at else {})
        self.rows.append((metadata, vector))
        return "not used"
    def search(self, query, top_k, query_vector, asked_at=None):
        scored = [(self.unit * float(vector @ query_vector), metadata) for metadata, vector in self.rows]
        best = sorted(scored, key=lambda row: -row[0])[:top_k]
        return [{"metadata": metadata, "score": score} for score, metadata in best]
"""
    store = opened(source, unit="0.5")
    assert store.needs_vectors
    assert store.search(QUESTION, 2) == [Hit(4, 0.5), Hit(15, 0.5)]
    assert store.settings() == {"callable.function": "class_of_mine:Memory", "unit": "0.5"}


def test_a_vector_with_a_default_is_given_where_the_class_says_so(opened: Opened) -> None:
    source = """
class Memory:
    def __init__(self):
        self.rows = []
    def add(self, id, text, embedding=None):
        self.rows.append((id, embedding))
    def search(self, query, k, embedding=None):
        return [(id, -1.0 if vector is None else float(vector @ embedding)) for id, vector in self.rows][:k]
class Wanting(Memory):
    needs_vectors = True
"""
    assert opened(source).search(QUESTION, 1) == [Hit(3, -1.0)]
    wanting = opened(source, "Wanting")
    assert wanting.needs_vectors
    assert wanting.search(QUESTION, 1) == [Hit(3, 0.0)]


def test_each_scope_has_an_instance_that_is_closed_after_it(opened: Opened) -> None:
    source = memory("add(self, id, text)", "search(self, query, k)", "(key, n)")
    source += "    def close(self):\n        CLOSED.append(len(self.rows))\nCLOSED = []\n"
    store = opened(source)
    store.ingest(ELSEWHERE, None)
    assert store.search(Query(2, "owl", None), 5) == [Hit(16, 1.0)]
    assert store.search(QUESTION, 5) == OWLS
    store.forget(1)
    assert sys.modules["class_of_mine"].CLOSED == [3]
    store.close()
    assert sys.modules["class_of_mine"].CLOSED == [3, 1]
    assert store.evidence()["calls"] == "add(id, text), search(query, k), an instance for each scope"


def test_a_class_that_knows_scopes_is_made_once_and_closed_last(opened: Opened) -> None:
    source = """
MADE, CLOSED = [], []
class Memory:
    def __init__(self):
        MADE.append(self)
        self.rows = []
    def add(self, text, id, user_id):
        self.rows.append((user_id, id, text))
    def search(self, query, user_id, limit=10):
        return [id for user, id, text in self.rows if user == user_id and query in text][:limit]
    def close(self):
        CLOSED.append(len(self.rows))
"""
    store = opened(source)
    store.ingest(ELSEWHERE, None)
    assert store.search(Query(2, "owl", None), 5) == [Hit(16, 1.0)]
    assert [hit.id for hit in store.search(QUESTION, 5)] == [4, 15]
    store.forget(1)
    module = sys.modules["class_of_mine"]
    assert (len(module.MADE), module.CLOSED) == (1, [])
    store.close()
    assert module.CLOSED == [4]
    with pytest.raises(UsageError, match="knows scopes in one method only") as caught:
        opened(source.replace("query, user_id", "query, user=None").replace("== user_id and", "and"))
    assert caught.value.found == "add(text, id, user_id) and search(query, user, limit)"


def test_methods_may_be_async_and_answers_may_come_one_by_one(opened: Opened) -> None:
    source = memory("add(self, id, text)", "search(self, query, k)", "(key, n)").replace("    def a", "    async def a")
    asynchronous = opened(source.replace("    def s", "    async def s"))
    assert asynchronous.search(QUESTION, 5) == OWLS
    asynchronous.close()
    endless = memory("add(self, id, text)", "search(self, query, k)", "(key, n)").split("        counted")[0]
    store = opened(endless + "        while True:\n            yield '3'\n")
    with pytest.raises(InputError, match="broke its contract") as caught:
        store.search(QUESTION, 2)
    assert caught.value.found == "3 or more hits"


def test_a_store_of_the_house_can_be_named_by_its_module() -> None:
    store = CallableStore("recallbench.stores.exact:ExactStore")
    store.prepare(2)
    store.ingest(ITEMS, VECTORS)
    assert [hit.id for hit in store.search(QUESTION, 2)] == [4, 15]
    store.close()


@pytest.mark.parametrize(
    ("found", "expected", "seen"),
    [
        ("float(key)", "ids that `add` was given for this haystack, such as '3'", "15.0, a float"),
        ("'kb-1'", "ids that `add` was given for this haystack, such as '3'", "'kb-1', a str"),
        ("None", "ids that `add` was given for this haystack, such as '3'", "None, None"),
        ("(True, 1.0)", "ids that `add` was given for this haystack, such as '3'", "True, a bool"),
        ("(n, key)", "ids that `add` was given for this haystack, such as '3'", "2, an int"),
        ("(key, text)", "a number as score", "'owl owl', a str"),
        (
            "(key, text, n, n)",
            "ids that `add` was given for this haystack, such as '3'",
            "('15', 'owl owl', 2, 2), a tuple",
        ),
        ("{'id': key, 'score': n} if n == 2 else key", "a score for each hit, or for none", "1 for 2 hits"),
        ("('3', 1.0)", "each id once", "the id 3 twice"),
        ("(key, 1 / n)", "hits with the highest score first (a distance is to be turned round)", "the id 4 with 1 b"),
    ],
)
def test_a_wrong_answer_is_named(opened: Opened, found: str, expected: str, seen: str) -> None:
    with pytest.raises(InputError, match="on the question `owl`") as caught:
        opened(memory("add(self, id, text)", "search(self, query, k)", found)).search(QUESTION, 5)
    assert caught.value.expected == expected
    assert caught.value.found.startswith(seen)


@pytest.mark.parametrize(
    ("answer", "seen"),
    [("None", "None"), ("'15'", "a str"), ("7", "an int"), ("{'ids': []}", "a dict with the keys ids")],
)
def test_what_is_no_list_of_hits_is_named(opened: Opened, answer: str, seen: str) -> None:
    source = f"class Memory:\n    def add(self, id, text): ...\n    def search(self, query, k): return {answer}\n"
    with pytest.raises(InputError) as caught:
        opened(source).search(QUESTION, 5)
    assert (
        caught.value.expected
        == "a list of ids, of (id, score) pairs or (id, score, source), or of dicts or objects with id and score"
    )
    assert caught.value.found == seen


@pytest.mark.parametrize(
    ("add", "search", "problem", "seen"),
    [
        (
            "remember(self, text)",
            "search(self, query)",
            "can't be used as a memory",
            "the methods remember, search; add is missing",
        ),
        (
            "add(self, text)",
            "recall(self, query)",
            "can't be used as a memory",
            "the methods add, recall; search is missing",
        ),
        ("add(self, text, mood)", "search(self, query)", "what is mood?", "add(text, mood)"),
        ("add(self, id)", "search(self, query)", "nothing gets the text", "add(id)"),
        ("add(self, text)", "search(self, query, k, filters)", "what is filters?", "search(query, k, filters)"),
        ("add(self, text)", "search(self, query, hits=10)", "is hits the number of hits?", "search(query, hits)"),
        ("add(self, text)", "search(self)", "nothing gets the query", "search()"),
    ],
)
def test_a_class_that_leaves_open_how_it_is_called_is_refused(
    opened: Opened, add: str, search: str, problem: str, seen: str
) -> None:
    with pytest.raises(UsageError, match="class_of_mine:Memory") as caught:
        opened(f"class Memory:\n    def {add}: ...\n    def {search}: ...\n")
    assert problem in caught.value.problem
    assert caught.value.found == seen
    assert caught.value.expected
    assert caught.value.remedy
