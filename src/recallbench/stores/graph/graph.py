"""Sessions, entities and links in a graph database: opt-in, by NEO4J_URI.

    (session)-[:RECALLBENCH_MENTIONS]->(entity)    (session)-[:RECALLBENCH_NEXT]->(session)
    (session)-[:RECALLBENCH_IN]->(scope)           (entity)-[:RECALLBENCH_IN]->(scope)

The ranker `importance` returns the most important sessions of the scope whatever is asked: deliberately naive. The
ranker `neighbours` scores recency x importance x relevance. Relevance sums how rare the entities are that question and
session share, and adds a quarter of the same for each neighbouring session: what was said just before or after counts.
Recency falls from 1 to 1/2, halving its way every 30 days before the question, or before the scope's last session where
the question has no date; a product with plain exponential decay would leave nothing of what is a year old.

The Cypher is what Neo4j and Bolt-compatible servers share: no procedures, no index, no vector. Nothing of the data is
ever part of a statement. Every node carries the tenant (one per run) and the scope, and every statement asks for both.
What a killed run left is removed by the next one.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from copy import copy
from datetime import UTC, datetime
from itertools import pairwise
from math import inf
from typing import Any, ClassVar, Self

from recallbench.errors import Blocked, InputError
from recallbench.progress import Progress, Silent
from recallbench.stores.call_clock import CallClock
from recallbench.stores.graph.bolt import Bolt
from recallbench.stores.graph.entities import MOST, RARE, UNIT, entities, question_words
from recallbench.stores.graph.graph_runs import register_run, remove_run, sweep
from recallbench.stores.options import StoreOption
from recallbench.stores.request import StoreRequest, StoreStatus
from recallbench.stores.statement import Statement, exactly
from recallbench.stores.store import ELSEWHERE, Hit, Item, Matrix, Query, Store
from recallbench.stores.vectors import check_importances

REVISION = 2
"""Counts up whenever the same input may rank otherwise."""
AT_ONCE = 500
"""Rows in one statement."""
SHARE = 0.25
HALF_LIFE = 30
FLOOR = 0.5
DAY = 86_400.0
LN2 = 0.6931471805599453
INDEX = "none: from the scope along its links"
PLAN = "every session of the scope is scored"

SCOPE = "CREATE (c:RecallBenchScope {tenant: $tenant, scope: $scope}) RETURN elementId(c) AS place"
SESSIONS = """
MATCH (c:RecallBenchScope) WHERE elementId(c) = $place AND c.tenant = $tenant AND c.scope = $scope
UNWIND $rows AS row
CREATE (s:RecallBenchSession {
  tenant: $tenant, scope: $scope, id: row.id, text: row.text, importance: row.importance, occurred: row.occurred
})-[:RECALLBENCH_IN]->(c)
RETURN s.id AS id, elementId(s) AS place
"""
ENTITIES = """
MATCH (c:RecallBenchScope) WHERE elementId(c) = $place AND c.tenant = $tenant AND c.scope = $scope
UNWIND $rows AS row
CREATE (e:RecallBenchEntity {
  tenant: $tenant, scope: $scope, name: row.name, weight: row.weight
})-[:RECALLBENCH_IN]->(c)
RETURN e.name AS id, elementId(e) AS place
"""
MENTIONS = """
UNWIND $rows AS row
MATCH (s:RecallBenchSession) WHERE elementId(s) = row.source AND s.tenant = $tenant AND s.scope = $scope
MATCH (e:RecallBenchEntity) WHERE elementId(e) = row.target AND e.tenant = $tenant AND e.scope = $scope
CREATE (s)-[:RECALLBENCH_MENTIONS]->(e)
"""
NEXT = """
UNWIND $rows AS row
MATCH (s:RecallBenchSession) WHERE elementId(s) = row.source AND s.tenant = $tenant AND s.scope = $scope
MATCH (n:RecallBenchSession) WHERE elementId(n) = row.target AND n.tenant = $tenant AND n.scope = $scope
CREATE (s)-[:RECALLBENCH_NEXT]->(n)
"""
BY_IMPORTANCE = """
MATCH (c:RecallBenchScope)<-[:RECALLBENCH_IN]-(s:RecallBenchSession)
WHERE elementId(c) = $place AND s.tenant = $tenant AND s.scope = $scope
RETURN s.id AS id, s.importance AS score ORDER BY score DESC, id LIMIT $k
"""
BY_NEIGHBOURS = """
MATCH (c:RecallBenchScope)<-[:RECALLBENCH_IN]-(s:RecallBenchSession)
WHERE elementId(c) = $place AND s.tenant = $tenant AND s.scope = $scope
OPTIONAL MATCH (s)-[:RECALLBENCH_MENTIONS]->(e:RecallBenchEntity) WHERE e.name IN $names
WITH s, sum(coalesce(e.weight, 0)) AS own
OPTIONAL MATCH (s)-[:RECALLBENCH_NEXT]-(:RecallBenchSession)-[:RECALLBENCH_MENTIONS]->(e:RecallBenchEntity)
WHERE e.name IN $names
WITH s, own, sum(coalesce(e.weight, 0)) AS near
WITH s, (own + $share * near) / $unit AS relevance,
  CASE WHEN s.occurred IS NULL OR $now IS NULL OR s.occurred >= $now THEN 1.0
    ELSE $floor + (1.0 - $floor) * exp(-$decay * ($now - s.occurred)) END AS recency
RETURN s.id AS id, recency * s.importance * relevance AS score ORDER BY score DESC, id LIMIT $k
"""


RANKER = StoreOption(
    "ranker",
    "What sessions are ranked by",
    default="neighbours",
    values=("neighbours", "importance"),
    flag="graph-ranker",
)


class GraphStore(Store):
    """Ranks in the server, by the graph; works without vectors."""

    name = "graph"
    summary: ClassVar[str] = "sessions, entities and links in a graph database over Bolt; on when NEO4J_URI is set"
    options: ClassVar[tuple[StoreOption, ...]] = (RANKER,)
    needs_vectors = False
    never_cold: ClassVar[str] = ELSEWHERE

    @classmethod
    def open(cls, request: StoreRequest) -> Self:
        return cls(request.environ, RANKER.read(request.options), request.progress)

    @classmethod
    def status(cls, request: StoreRequest) -> StoreStatus:
        with Bolt(request.environ) as server:
            return StoreStatus(True, f"{server.agent()} ({server.address})")

    @classmethod
    def states(cls, name: str, options: Mapping[str, Any]) -> tuple[Statement, ...]:
        settings = exactly(_score_settings(RANKER.read(options))) | {"graph.bolt": ".+"}
        evidence = {
            "server": r"(?P<agent>.+), given by NEO4J_URI",
            "connection": ".+",
            "index": rf"{re.escape(INDEX)} \((?P<segments>[0-9]+) sessions, [0-9]+ entities, [0-9]+ mentions\)",
            "plan": re.escape(PLAN),
        }
        # The first revision stated the same.
        return (Statement(rf"recallbench-graph/[1-{REVISION}] \((?P<agent>.+)\)", settings, evidence),)

    @classmethod
    def score_range(cls, options: Mapping[str, Any]) -> tuple[float, float]:
        return 0.0, 1.0 if RANKER.read(options) == "importance" else inf

    @classmethod
    def scores_alike(cls, size: int, k: int, options: Mapping[str, Any], evidence: Mapping[str, str]) -> bool:
        return True

    def __init__(self, environ: Mapping[str, str], ranker: str, progress: Progress | None = None) -> None:
        self._environ = environ
        self._progress = progress or Silent()
        self._ranker = ranker
        self._server: Bolt | None = None
        self._tenant = f"recallbench-{secrets.token_hex(8)}"
        self._clock = CallClock()
        self._owns = True
        """Whether its end is that of the server's connections and of what was written; not that of a handle."""
        self._places: dict[int, str] = {}
        self._latest: dict[int, float | None] = {}
        self._counts = dict.fromkeys(("sessions", "entities", "mentions"), 0)

    def prepare(self, dims: int) -> None:
        if self._server is None:
            self._server = Bolt(self._environ)
            for line in sweep(self._server):
                self._progress.note(line)
            register_run(self._server, self._tenant)

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        check_importances(items)
        for scope in dict.fromkeys(item.scope for item in items):
            self._fill(scope, sorted((item for item in items if item.scope == scope), key=lambda item: item.id))

    def search(self, query: Query, k: int) -> list[Hit]:
        place = self._places.get(query.scope)
        if place is None:
            return []
        server, own = self._open(), {"tenant": self._tenant, "scope": query.scope, "place": place, "k": k}
        if self._ranker == "importance":
            with self._clock:
                rows = server.run("searching", BY_IMPORTANCE, **own)
        else:
            now = _seconds(query.asked_at) if query.asked_at else self._latest[query.scope]
            values: dict[str, Any] = {
                "names": question_words(_sendable(query.text)),
                "now": now,
                "share": SHARE,
                "unit": float(UNIT),
                "floor": FLOOR,
                "decay": LN2 / (HALF_LIFE * DAY),
            }
            with self._clock:
                rows = server.run("searching", BY_NEIGHBOURS, **own, **values)
        return [Hit(int(row["id"]), float(row["score"])) for row in rows]

    @property
    def one_caller(self) -> str:
        return ""

    def another_caller(self) -> GraphStore:
        # The driver gives each call that is under way a connection of its own.
        handle = copy(self)
        handle._owns, handle._server, handle._places = False, self._open(), dict(self._places)
        handle._clock = CallClock()
        return handle

    @property
    def call_seconds(self) -> float:
        return self._clock.seconds

    def round_trip(self) -> bool:
        self._open().run("answering a statement without work", "RETURN 1 AS there")
        return True

    def version(self) -> str:
        return f"recallbench-graph/{REVISION} ({self._open().agent()})"

    def settings(self) -> Mapping[str, str]:
        return _score_settings(self._ranker) | {"graph.bolt": self._open().protocol()}

    def evidence(self) -> Mapping[str, str]:
        counted = ", ".join(f"{count} {what}" for what, count in self._counts.items())
        return {
            "server": f"{self._open().agent()}, given by NEO4J_URI",
            "connection": self._open().address,
            "index": f"{INDEX} ({counted})",
            "plan": PLAN,
        }

    def close(self) -> None:
        """Remove what this run wrote, and nothing else."""
        server, self._server = self._server, None
        if server is None or not self._owns:
            return
        try:
            remove_run(server, self._tenant)
        except Blocked:
            pass  # it is gone, and the error that ended the run is on its way
        finally:
            self._places.clear()
            server.close()

    def _fill(self, scope: int, items: Sequence[Item]) -> None:
        own: dict[str, Any] = {"tenant": self._tenant, "scope": scope}
        texts = [_sendable(item.text) for item in items]
        mentioned = entities(texts)
        ((placed,),) = [row.values() for row in self._open().run("taking in a scope", SCOPE, **own)]
        self._places[scope] = place = str(placed)
        moments = [None if item.occurred_at is None else _seconds(item.occurred_at) for item in items]
        self._latest[scope] = max((moment for moment in moments if moment is not None), default=None)
        sessions = [
            {"id": item.id, "text": text, "importance": float(item.importance), "occurred": moment}
            for item, text, moment in zip(items, texts, moments, strict=True)
        ]
        named = [{"name": name, "weight": weight} for name, weight in mentioned.weights.items()]
        at = {row["id"]: row["place"] for row in self._written("sessions", SESSIONS, sessions, own | {"place": place})}
        of = {row["id"]: row["place"] for row in self._written("entities", ENTITIES, named, own | {"place": place})}
        if len(at) != len(sessions) or len(of) != len(named):
            raise InputError(
                "the graph database does not keep what it is given",
                expected=f"{len(sessions)} sessions and {len(named)} entities of scope {scope}",
                found=f"{len(at)} and {len(of)}",
            )
        links = [
            {"source": at[item.id], "target": of[name]}
            for item, names in zip(items, mentioned.mentions, strict=True)
            for name in names
        ]
        self._written("mentions", MENTIONS, links, own)
        self._written("links", NEXT, [{"source": at[a.id], "target": at[b.id]} for a, b in pairwise(items)], own)
        for what, rows in (("sessions", sessions), ("entities", named), ("mentions", links)):
            self._counts[what] += len(rows)

    def _written(
        self, what: str, statement: str, rows: Sequence[Mapping[str, Any]], own: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = []
        with self._progress.stage(f"taking in {what}", len(rows), what) as advance:
            for start in range(0, len(rows), AT_ONCE):
                part = rows[start : start + AT_ONCE]
                answers += self._open().run(f"taking in {what}", statement, rows=part, **own)
                advance(len(part))
        return answers

    def _open(self) -> Bolt:
        if self._server is None:
            raise Blocked("the store is not open", remedy="prepare it before anything else")
        return self._server


def _score_settings(ranker: str) -> dict[str, str]:
    """The settings that the score depends on."""
    settings = {"graph.ranker": ranker, "graph.entity_rare": str(RARE), "graph.entities_per_session": str(MOST)}
    if ranker != "importance":
        settings |= {
            "graph.neighbour_share": str(SHARE),
            "graph.recency_half_life_days": str(HALF_LIFE),
            "graph.recency_floor": str(FLOOR),
        }
    return settings


def _seconds(moment: datetime) -> float:
    # A date without a zone is one of the corpus: the same everywhere.
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _sendable(text: str) -> str:
    """Return the text without characters that UTF-8 can't carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
