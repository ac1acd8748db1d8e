"""Measures the indexes of the store pgvector where tenants of several sizes share a table of LongMemEval's turns.

    python benchmarks/longmemeval/tenants.py FILE [--cache DIR] [--types exact hnsw …] [--shares 100 50 10 1]

A segment is what a user says in one turn, each text once: 93,802 of them. The haystacks of whole items are dealt out to
100 tenants of about 1% each (--seed); ten of these together are one of 10%, fifty one of 50%, all of them one of 100%.
Every question is asked in the tenant that holds its evidence, so that all shares are asked the same. The vectors are
MiniLM's, from the cache or embedded first, which takes half an hour. Searches are the store's own, one after another.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import ijson

from recallbench.embedding.registry import default_cache_dir, open_embedder
from recallbench.machine_load import MachineLoad, MachineReading
from recallbench.reports.table import Table
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


class Cell(NamedTuple):
    """What one search of one store gave."""

    answers: list[list[int]]
    milliseconds: list[float]


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


class Bench:
    """The stores of one set of turns."""

    def __init__(self, turns: Turns, passages: Matrix, queries: Matrix) -> None:
        self._turns = turns
        self._passages = passages
        self._queries = queries
        self._exact: dict[int, list[list[int]]] = {}

    def rows(self, kind: str, share: int) -> Iterator[list[str]]:
        """Yield a row for each search of a store of that kind, whose tenants have that share."""
        group = share * TENANTS // 100
        scopes = [tenant // group for tenant in self._turns.tenants]
        queries = [
            Query(asked.tenant // group, asked.text, vector)
            for asked, vector in zip(self._turns.questions, self._queries, strict=True)
        ]
        build = {"weights": "cosine", **BUILDS[kind]}
        store = PgvectorStore.open(StoreRequest("pgvector", os.environ, os.environ.get("PGMNEMO_DSN"), build))
        try:
            store.prepare(self._passages.shape[1])
            for scope in dict.fromkeys(scopes):
                first, size = scopes.index(scope), scopes.count(scope)
                items = [Item(n, scope, self._turns.texts[n], None, 0.5) for n in range(first, first + size)]
                store.ingest(items, self._passages[first : first + size])
            started = time.perf_counter()
            store.ready()
            seconds, megabytes = time.perf_counter() - started, store.stored_bytes()["indexes"] / 2**20
            for search in SEARCHES[kind]:
                if search:
                    store.search_otherwise({**build, **search})
                cell = self._ask(store, queries)
                if kind == "exact":
                    self._exact[share] = cell.answers
                aside = store.evidence().get("answered", USED) != USED
                named = (f"{share}%", f"{kind}, left aside by the plan" if aside else kind, *_named(search))
                yield [*named, *self._figures(cell, share), f"{seconds:.1f}", f"{megabytes:.0f}"]
        finally:
            store.close()

    def _ask(self, store: PgvectorStore, queries: Sequence[Query]) -> Cell:
        for query in queries[:WARMING]:
            store.search(query, K)
        answers, milliseconds = [], []
        for query in queries:
            started = time.perf_counter()
            hits = store.search(query, K)
            milliseconds.append(1000 * (time.perf_counter() - started))
            answers.append([hit.id for hit in hits])
        return Cell(answers, milliseconds)

    def _figures(self, cell: Cell, share: int) -> list[str]:
        rows = [len(answer) for answer in cell.answers]
        exact = [len({*answer} & {*true}) / K for answer, true in zip(cell.answers, self._exact[share], strict=True)]
        golden = [
            bool(asked.gold & {*answer}) for asked, answer in zip(self._turns.questions, cell.answers, strict=True)
        ]
        short = sum(count < K for count in rows)
        return [
            f"{fmean(rows):.2f}", str(min(rows)), str(short), f"{fmean(exact):.3f}", f"{fmean(golden):.3f}",
            f"{median(cell.milliseconds):.2f}",
        ]  # fmt: skip


def _named(search: Search) -> tuple[str, str]:
    width = ", ".join(f"{name} {value}" for name, value in search.items() if name != "iterative_scan")
    return width or "–", search.get("iterative_scan", "–")


HEAD = (
    "share", "index", "width", "iterative scan", "rows of 10", "fewest", "short", "of exact's 10", "gold in 10",
    "p50 ms", "build s", "index MB",
)  # fmt: skip


def main() -> None:
    """Read the arguments, measure, and print a row for each search as it is done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="LongMemEval's file, as recallbench fetches it")
    parser.add_argument("--cache", type=Path, default=default_cache_dir(), help="where vectors are kept")
    parser.add_argument("--seed", type=int, default=14, help="of the order in which items go to tenants")
    parser.add_argument("--types", nargs="*", choices=list(BUILDS), default=list(BUILDS), help="exact is always run")
    parser.add_argument("--shares", nargs="*", type=int, choices=(100, 50, 10, 1), default=(100, 50, 10, 1))
    arguments = parser.parse_args()
    turns = read(arguments.file, arguments.seed)
    embedder = open_embedder("minilm", cache_dir=arguments.cache)
    passages = embedder.lookup(turns.texts, "passage").vectors
    queries = embedder.lookup([asked.text for asked in turns.questions], "query").vectors
    embedder.close()
    print(f"{len(turns.texts)} turns, {len(turns.questions)} questions, k = {K}, seed {arguments.seed}\n", flush=True)
    bench, lines, before = Bench(turns, passages, queries), 0, MachineReading.take()
    for share in arguments.shares:
        for kind in dict.fromkeys(("exact", *arguments.types)):
            for row in bench.rows(kind, share):
                table = Table(HEAD, [row]).markdown()
                print("\n".join(table if not lines else table[-1:]), flush=True)
                lines += 1
    print(f"\n{MachineLoad.between(before, MachineReading.take()).sentence}")


if __name__ == "__main__":
    main()
