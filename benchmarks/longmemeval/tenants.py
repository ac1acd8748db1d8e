"""Measures the indexes of the store pgvector where tenants of several sizes share a table of LongMemEval's turns.

    python benchmarks/longmemeval/tenants.py FILE [--cache DIR] [--types exact hnsw …] [--shares 100 50 10 1]

A segment is what a user says in one turn, each text once: 93,802 of them. The haystacks of whole items are dealt out to
100 tenants of about 1% each (--seed); ten of these together are one of 10%, fifty one of 50%, all of them one of 100%.
Every question is asked in the tenant that holds its evidence, so that all shares are asked the same. The vectors are
MiniLM's, from the cache or embedded first, which takes half an hour. Every search is the store's own. All stores of a
share are filled first; then each question is asked of every one, in an order drawn anew, so that what else the machine
does falls on all alike. How each index was built goes to stderr.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import ijson

from recallbench.embedding.registry import default_cache_dir, open_embedder
from recallbench.machine_load import MachineLoad, MachineReading
from recallbench.reports.table import Table
from recallbench.stores.pgvector.index_choice import IndexChoice
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.pgvector.vector_index import USED
from recallbench.stores.request import StoreRequest
from recallbench.stores.store import Item, Matrix, Query

TENANTS, K, WARMING = 100, 10, 20
OFF, STRICT, RELAXED = ({"iterative_scan": how} for how in ("off", "strict_order", "relaxed_order"))
Search = Mapping[str, str]
BUILDS: Mapping[str, Mapping[str, str]] = {
    "exact": {},
    "hnsw": {"index": "hnsw"},
    "hnsw halfvec": {"index": "hnsw", "vector_type": "halfvec"},
    "hnsw bit": {"index": "hnsw", "vector_type": "bit"},
    "ivfflat": {"index": "ivfflat", "lists": "300"},
}
SEARCHES: Mapping[str, Sequence[Search]] = {
    "exact": [{}],
    "hnsw": [
        *({"ef_search": ef, **scan} for scan in (OFF, STRICT, RELAXED) for ef in ("10", "40", "200")),
        {"ef_search": "40", "max_scan_tuples": "2000", **RELAXED},
    ],
    "hnsw halfvec": [
        {"candidates": "40", "ef_search": ef, **scan} for scan in (OFF, STRICT, RELAXED) for ef in ("40", "200")
    ],
    "hnsw bit": [
        {"candidates": "100", "ef_search": ef, **scan} for scan in (OFF, STRICT, RELAXED) for ef in ("100", "200")
    ],
    "ivfflat": [
        *({"probes": probes, **OFF} for probes in ("1", "10", "30")),
        *({"probes": probes, **RELAXED} for probes in ("1", "10", "30")),
    ],
}


class Asked(NamedTuple):
    """A question, the tenant of 1% that holds its evidence, and the segments that are it."""

    text: str
    tenant: int
    gold: frozenset[int]


class Turns(NamedTuple):
    """Distinct turns of users in the order of tenants, and the questions about them."""

    texts: list[str]
    tenants: list[int]
    questions: list[Asked]


def read(file: Path, seed: int) -> Turns:
    """Return the turns by tenant. A text of several items is that item's which it is evidence for, else the first's."""
    owner: dict[str, int] = {}
    evidence: dict[int, set[str]] = {}
    asked: dict[int, str] = {}
    with file.open("rb") as stream:
        for number, item in enumerate(ijson.items(stream, "item")):
            for turn in _turns(item):
                owner.setdefault(turn["content"], number)
                if turn.get("has_answer"):
                    evidence.setdefault(number, set()).add(turn["content"])
            if not item["question_id"].endswith("_abs"):
                asked[number] = item["question"]
    for number, held in sorted(evidence.items(), reverse=True):
        owner.update(dict.fromkeys(held, number))
    sizes = dict.fromkeys(sorted({*owner.values()}), 0)
    for number in owner.values():
        sizes[number] += 1
    order = list(sizes)
    random.Random(seed).shuffle(order)
    filled = [0] * TENANTS
    tenant_of: dict[int, int] = {}
    for number in sorted(order, key=lambda number: -sizes[number]):
        tenant = tenant_of[number] = filled.index(min(filled))
        filled[tenant] += sizes[number]
    texts = sorted(owner, key=lambda text: (tenant_of[owner[text]], text))
    place = {text: n for n, text in enumerate(texts)}
    questions = [
        Asked(asked[number], tenant_of[number], frozenset(place[text] for text in own))
        for number in asked
        if (own := [text for text in evidence.get(number, ()) if owner[text] == number])
    ]
    return Turns(texts, [tenant_of[owner[text]] for text in texts], questions)


def _turns(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for session in item["haystack_sessions"]:
        yield from (turn for turn in session if turn["role"] == "user" and turn["content"].strip())


@dataclass(slots=True)
class Asker:
    """One way to search a store, and what came back."""

    named: tuple[str, ...]
    """The share, the index, and how it is searched."""
    store: PgvectorStore
    built: tuple[str, str]
    """The seconds of the build, and the MB of the index."""
    answers: list[list[int]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def ask(self, query: Query) -> None:
        """Search once, and keep the answer and its time."""
        started = time.perf_counter()
        hits = self.store.search(query, K)
        self.milliseconds.append(1000 * (time.perf_counter() - started))
        self.answers.append([hit.id for hit in hits])

    def row(self, turns: Turns, exact: Sequence[Sequence[int]]) -> list[str]:
        """Return the row of the table."""
        rows = [len(answer) for answer in self.answers]
        found = [len({*answer} & {*true}) / K for answer, true in zip(self.answers, exact, strict=True)]
        golden = [bool(asked.gold & {*answer}) for asked, answer in zip(turns.questions, self.answers, strict=True)]
        short = sum(count < K for count in rows)
        figures = f"{fmean(rows):.2f}", str(min(rows)), str(short), f"{fmean(found):.3f}", f"{fmean(golden):.3f}"
        return [*self.named, *figures, f"{median(self.milliseconds):.2f}", *self.built]


def measure(
    turns: Turns, passages: Matrix, vectors: Matrix, kinds: Iterable[str], share: int, seed: int
) -> list[list[str]]:
    """Return a row for each search, of stores whose tenants have that share; every question is asked of all in turn."""
    group = share * TENANTS // 100
    queries = [
        Query(asked.tenant // group, asked.text, vector) for asked, vector in zip(turns.questions, vectors, strict=True)
    ]
    with ExitStack() as opened:
        askers = [asker for kind in kinds for asker in _askers(turns, passages, kind, share, opened)]
        for query in queries[:WARMING]:
            for asker in askers:
                asker.store.search(query, K)
        order = random.Random(seed)
        for query in queries:
            # What one search reads of an index, the next one finds in memory: none is to be always the first.
            for asker in order.sample(askers, len(askers)):
                asker.ask(query)
        return [asker.row(turns, askers[0].answers) for asker in askers]


def _askers(turns: Turns, passages: Matrix, kind: str, share: int, opened: ExitStack) -> Iterator[Asker]:
    """Yield the ways to search a store of that kind, which is filled and built here."""
    group, build = share * TENANTS // 100, {"weights": "cosine", **BUILDS[kind]}
    scopes = [tenant // group for tenant in turns.tenants]
    store = PgvectorStore.open(StoreRequest("pgvector", os.environ, os.environ.get("PGMNEMO_DSN"), build))
    opened.callback(store.close)
    store.prepare(passages.shape[1])
    for scope in dict.fromkeys(scopes):
        first, size = scopes.index(scope), scopes.count(scope)
        items = [Item(n, scope, turns.texts[n], None, 0.5) for n in range(first, first + size)]
        store.ingest(items, passages[first : first + size])
    started = time.perf_counter()
    store.ready()
    built = f"{time.perf_counter() - started:.1f}", f"{store.stored_bytes()['indexes'] / 2**20:.0f}"
    said = store.evidence()
    print(f"{share}%, {kind}: {said.get('index build', 'nothing to build')}", file=sys.stderr, flush=True)
    for search in SEARCHES[kind]:
        handle = store.another_caller()
        opened.callback(handle.close)
        if search:
            _search_otherwise(handle, IndexChoice.read({**build, **search}))
        aside = handle.evidence().get("answered", USED) != USED
        yield Asker((f"{share}%", f"{kind}, left aside by the plan" if aside else kind, *_named(search)), handle, built)


def _search_otherwise(store: PgvectorStore, choice: IndexChoice) -> None:
    """Search from now on, in a fresh session, as this choice says; the index that it names stays as it is."""
    store._choice, store._index = choice, copy(store._index)
    if store._index is not None:
        store._index._choice = choice
    store._sessions.settings = {**store._sessions.settings, **choice.settings}
    store.chill()


def _named(search: Search) -> tuple[str, str]:
    width = ", ".join(f"{name} {value}" for name, value in search.items() if name != "iterative_scan")
    return width or "–", search.get("iterative_scan", "–")


HEAD = (
    "share", "index", "width", "iterative scan", "rows of 10", "fewest", "short", "of exact's 10", "gold in 10",
    "p50 ms", "build s", "index MB",
)  # fmt: skip


def main() -> None:
    """Read the arguments, measure, and print the rows of each share as they are done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="LongMemEval's file, as recallbench fetches it")
    parser.add_argument("--cache", type=Path, default=default_cache_dir(), help="where vectors are kept")
    parser.add_argument("--seed", type=int, default=14, help="of the orders of items and of searches")
    parser.add_argument("--types", nargs="*", choices=list(BUILDS), default=list(BUILDS), help="exact is always run")
    parser.add_argument("--shares", nargs="*", type=int, choices=(100, 50, 10, 1), default=(100, 50, 10, 1))
    arguments = parser.parse_args()
    turns = read(arguments.file, arguments.seed)
    embedder = open_embedder("minilm", cache_dir=arguments.cache)
    passages = embedder.lookup(turns.texts, "passage").vectors
    queries = embedder.lookup([asked.text for asked in turns.questions], "query").vectors
    embedder.close()
    print(f"{len(turns.texts)} turns, {len(turns.questions)} questions, k = {K}, seed {arguments.seed}\n", flush=True)
    before, kinds = MachineReading.take(), dict.fromkeys(("exact", *arguments.types))
    for number, share in enumerate(arguments.shares):
        table = Table(HEAD, measure(turns, passages, queries, kinds, share, arguments.seed)).markdown()
        print("\n".join(table[2:] if number else table), flush=True)
    print(f"\n{MachineLoad.between(before, MachineReading.take()).sentence}")


if __name__ == "__main__":
    main()
