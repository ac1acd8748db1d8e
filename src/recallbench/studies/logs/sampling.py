"""A sample of logged recalls to label: stratified, seeded, the same whatever the order of the log's lines."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from recallbench.corpora.recall_log import Recall, RecallLog
from recallbench.errors import UsageError
from recallbench.escaping.document import json_text
from recallbench.scoring.strata import allocate


def sampled_id(stratum: str, query: str) -> str:
    """The id of a sampled query: the same for the same query of the same stratum, in any log."""
    return "s" + blake2b(f"{stratum}\0{query}".encode(), digest_size=6).hexdigest()


def draw_place(seed: int, stratum: str, name: str) -> int:
    """The place of a query in the order of the draw, a hash: every prefix of a stratum is a sample too."""
    return int.from_bytes(blake2b(f"{seed}\0{stratum}\0{name}".encode(), digest_size=16).digest(), "big")


@dataclass(slots=True)
class SampledQuery:
    """A distinct query of a stratum."""

    place: int
    """Its place in the order of the draw."""
    latest: Recall
    logged: int = 1

    def record(self) -> dict[str, Any]:
        """The query as it is labelled: `relevant` is null until someone says which ids are."""
        recall = self.latest
        record: dict[str, Any] = {
            "query_id": sampled_id(recall.stratum, recall.query),
            "query": recall.query,
            "relevant": None,
            **recall.slices,
            "ranked": list(recall.ids),
        }
        if recall.texts:
            record["texts"] = dict(recall.texts)
        if recall.at:
            record["at"] = recall.at
        return record | {"logged": self.logged}


@dataclass(slots=True)
class _Stratum:
    """The queries with the smallest hashes, as many as could be asked for: more are never needed."""

    recalls: int = 0
    queries: dict[int, SampledQuery] = field(default_factory=dict)
    places: list[int] = field(default_factory=list)
    """Their hashes, negated: a heap with the largest first."""

    def add(self, place: int, recall: Recall, most: int) -> None:
        self.recalls += 1
        if place in self.queries:
            query = self.queries[place]
            query.logged += 1
            # Of several recalls the latest is shown; ties by content, so that the order of lines decides nothing.
            query.latest = max(query.latest, recall, key=lambda logged: (logged.at, logged.ids, logged.ms or 0.0))
        elif len(self.queries) < most:
            self.queries[place] = SampledQuery(place, recall)
            heapq.heappush(self.places, -place)
        elif place < -self.places[0]:
            del self.queries[-heapq.heapreplace(self.places, -place)]
            self.queries[place] = SampledQuery(place, recall)


@dataclass(frozen=True, slots=True)
class QuerySample:
    """The queries that were drawn, in the order of the draw."""

    queries: tuple[SampledQuery, ...]
    recalls: Mapping[str, int]
    """The recalls that were logged, by stratum."""
    sample_sizes: Mapping[str, int]

    def lines(self) -> Iterator[str]:
        """JSON lines to label: `relevant` is null until someone says which ids are (or none, of kind abstention)."""
        return (json_text(query.record()) for query in self.queries)


def draw_sample(log: RecallLog, n: int, seed: int) -> QuerySample:
    """n distinct queries, of each stratum in proportion to its recalls and at least one; UsageError if n is too few.

    Memory is bounded by n and the number of strata, not by the log.
    """
    strata: dict[str, _Stratum] = {}
    for recall in log.recalls():
        if recall.stratum not in strata and len(strata) == n:
            raise UsageError(
                f"{n} can't hold one of each {log.by}",
                expected="--n, at least as many as there are values of --by",
                found=f"more than {n} values of {log.by}, such as {recall.stratum!r}",
                remedy="sample by a field with fewer values, or more recalls",
            )
        place = draw_place(seed, recall.stratum, recall.query)
        strata.setdefault(recall.stratum, _Stratum()).add(place, recall, n)
    sizes = {name: stratum.recalls for name, stratum in strata.items()}
    sample_sizes = allocate(n, sizes, {name: len(stratum.queries) for name, stratum in strata.items()})
    chosen = [
        query for name, stratum in strata.items() for _, query in sorted(stratum.queries.items())[: sample_sizes[name]]
    ]  # fmt: skip
    return QuerySample(tuple(sorted(chosen, key=lambda query: query.place)), sizes, sample_sizes)
