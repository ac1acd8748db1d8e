"""Single changes to results of each store, found out by what the store declares."""

from __future__ import annotations

from collections.abc import Mapping

from mutations import (
    IN_PROCESS,
    ONE_CALL,
    SECOND_LIST,
    Mutation,
    append,
    document,
    environment,
    evidence,
    metrics,
    no_colder,
    other_scores,
    row,
    rows,
    scaled,
    setting,
    text,
    thoroughly,
    timed,
    version,
)

CONTROL_PHASE = '{"phase": "control", "seconds": 0.001}\n'
STORES: Mapping[str, tuple[Mutation, ...]] = {
    "pgvector": (
        Mutation("a second list invented", "RB-CALLS", SECOND_LIST),
        Mutation("another k1", "RB-RECORDED", setting("recallbench.bm25_k1", "1.5")),
        Mutation("another half-life", "RB-RECORDED", setting("recallbench.recency_half_life_days", "300")),
        Mutation("another weight than asked for", "RB-RECORDED", setting("recallbench.weight_graph", "0.5")),
        Mutation("another plan cache", "RB-RECORDED", setting("plan_cache_mode", "auto")),
        Mutation("a setting it never states", "RB-RECORDED", setting("hnsw.ef_search", "1000")),
        Mutation("a setting less", "RB-RECORDED", metrics("guc_state", by=lambda all: dict(list(all.items())[1:]))),
        Mutation("pgvector of another version", "RB-RECORDED", evidence("pgvector", "0.9.9")),
        Mutation("a server of another version", "RB-RECORDED", evidence("server", "PostgreSQL 21.1, embedded")),
        Mutation("an embedded server far away", "RB-RECORDED", evidence("connection", "host=far.example")),
        Mutation("a plan by a vector index", "RB-RECORDED", evidence("plan", "Index Scan using hnsw on segments")),
        Mutation("a plan of vectors alone", "RB-RECORDED", evidence("plan", "Index Scan using pkey on segments s")),
        Mutation("a plan of another table", "RB-RECORDED", evidence("plan", "Index Scan on postings p")),
        Mutation(
            "slow cold queries left out",
            "RB-TIMINGS",
            thoroughly(timed(no_colder), environment("cold_queries", to=IN_PROCESS)),
        ),
        Mutation("an index it never makes", "RB-RECORDED", evidence("index", "hnsw on (embedding)")),
        Mutation("evidence it never states", "RB-RECORDED", evidence("audited by", "nobody in particular")),
        Mutation("nothing was searched", "RB-RECORDED", evidence("plan", "nothing was searched")),
        Mutation(
            "a revision to come", "RB-RECORDED", version("recallbench-pgvector/9 (PostgreSQL 18.4, pgvector 0.8.5)")
        ),
        Mutation("a server that was not asked", "RB-RECORDED", environment("options", "dsn", to="host=far.example")),
        Mutation("a score above all weights", "RB-SCORES", thoroughly(row(lambda r: r["hits"][0].update(score=2.5)))),
        Mutation("the phase `ready` left out", "RB-TIMINGS", text("timings.jsonl", '^{"phase": "ready".*\n', "")),
    ),
    "bm25": (
        Mutation("a second list of BM25", "RB-CALLS", SECOND_LIST),
        Mutation("a list announced that is not there", "RB-CALLS", metrics("retrieval", "calls", to=[10, 50])),
        Mutation("scores doubled", "RB-CONTROL-AGAIN", thoroughly(rows(scaled))),
        Mutation("a negative score", "RB-SCORES", thoroughly(row(lambda r: r["hits"][-1].update(score=-1.0)))),
        Mutation("another b", "RB-RECORDED", setting("bm25.b", "0.5")),
        Mutation("bm25s of another version", "RB-RECORDED", version("recallbench-bm25/1 (bm25s 9.9.9)")),
        Mutation("a control beside itself", "RB-TIMINGS", append("timings.jsonl", CONTROL_PHASE)),
    ),
    "python": (
        Mutation("two scores for one segment", "RB-CALLS", thoroughly(row(other_scores))),
        Mutation("a third call", "RB-CALLS", metrics("retrieval", "calls", to=[10, 20, 50])),
        Mutation("one call of a memory that promises nothing", "RB-CALLS", ONE_CALL),
        Mutation("another function's version", "RB-RECORDED", version("my_memory:another (7.2)")),
        Mutation("another function's settings", "RB-RECORDED", setting("callable.function", "my_memory:another")),
        Mutation("a setting of no function", "RB-RECORDED", setting("recallbench.bm25_k1", "1.2")),
    ),
    "http": (
        Mutation("two scores for one item of a server", "RB-CALLS", thoroughly(row(other_scores))),
        Mutation("a third call of a server", "RB-CALLS", metrics("retrieval", "calls", to=[10, 20, 50])),
        Mutation("too few requests for two calls", "RB-CALLS", evidence("requests", "170 sent, 0 of them again")),
        Mutation("requests that were mostly repeats", "RB-CALLS", evidence("requests", "1000 sent, 900 of them again")),
        Mutation("one call of a server that promises nothing", "RB-CALLS", ONE_CALL),
        Mutation("a server elsewhere", "RB-RECORDED", evidence("server", "http://far.example")),
        Mutation("no requests", "RB-RECORDED", evidence("requests", "none")),
    ),
    "pgmnemo": (
        Mutation("one call of the canonical store", "RB-CALLS", ONE_CALL),
        Mutation("two scores for one segment", "RB-CALLS", thoroughly(row(other_scores))),
        Mutation("another function", "RB-RECORDED", evidence("function", "pgmnemo.recall_fast(k integer)")),
        Mutation("dates nobody asked for", "RB-RECORDED", evidence("created_at", "the corpus' dates")),
        Mutation(
            "half the segments",
            "RB-RECORDED",
            evidence("recallable", "1 of 9 segments, each scope asked for all of its own"),
        ),
        Mutation("the gate wide open", "RB-RECORDED", setting("pgmnemo.gate_strict", "off")),
        Mutation("another recency", "RB-RECORDED", setting("pgmnemo.recency_weight", "0.90")),
        Mutation("fewer candidates", "RB-RECORDED", setting("pgmnemo.ef_search", "10")),
        Mutation("a setting of another store", "RB-RECORDED", setting("recallbench.bm25_k1", "1.2")),
        Mutation("a server elsewhere", "RB-RECORDED", evidence("connection", "host=far.example")),
        Mutation(
            "another function in the command",
            "RB-OPTIONS",
            document("environment.json", lambda e: e["command"].extend(["--pgmnemo-function", "recall_fast"])),
        ),
    ),
    "callable": (
        Mutation("one call of a function", "RB-CALLS", ONE_CALL),
        Mutation("two scores for one item of a function", "RB-CALLS", thoroughly(row(other_scores))),
        Mutation("scores as no memory has them", "RB-RECORDED", evidence("scores", "as they should be")),
    ),
    "graph": (
        Mutation("one call of the graph", "RB-CALLS", ONE_CALL),
        Mutation("two scores for one session", "RB-CALLS", thoroughly(row(other_scores))),
        Mutation("another ranker in force", "RB-RECORDED", setting("graph.ranker", "importance")),
        Mutation("another half-life of the graph", "RB-RECORDED", setting("graph.recency_half_life_days", "300")),
        Mutation(
            "sessions of another corpus",
            "RB-RECORDED",
            evidence("index", "none: from the scope along its links (1 sessions, 2 entities, 3 mentions)"),
        ),
        Mutation("another server", "RB-RECORDED", evidence("server", "Neo4j/9.9.9, given by NEO4J_URI")),
        Mutation(
            "another ranker in the command",
            "RB-OPTIONS",
            document("environment.json", lambda e: e["command"].extend(["--graph-ranker", "importance"])),
        ),
        Mutation("a ranker asked for in silence", "RB-OPTIONS", environment("options", "ranker", to="importance")),
    ),
}
"""By store, since each declares the checks of its own results."""
