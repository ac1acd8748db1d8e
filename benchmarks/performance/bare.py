"""A whole run of LoCoMo or LongMemEval without a harness: parse, COPY, pipelined queries at depth 50, dump of ids.

It checks nothing and proves nothing, and scores nothing but LongMemEval's two headline figures; a run through the
harness is measured against it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.stores.pgvector.statements import sql

if TYPE_CHECKING:
    import numpy as np
    from psycopg import Connection

DEPTH = 50
CHUNK = 400
"""Queries in one pipeline: more would fill both sides' buffers."""
COSINE = """SELECT id, 1 - (embedding <=> $1) AS score FROM segments WHERE scope = $2
            ORDER BY score DESC, id LIMIT $3"""


def bare_locomo(
    path: Path,
    segment_vectors: np.ndarray[Any, Any],
    question_vectors: np.ndarray[Any, Any],
    *,
    dsn: str,
    out: Path,
    weights: str = "cosine",
) -> list[list[int]]:
    """Search real LoCoMo from file to file of ids; vectors stand in file order, questions without evidence left out.

    With other weights than cosine alone it builds the same lexicon and asks the server the same, question by question.
    """
    segments, questions = _parsed(path)
    rankings = _searched(segments, questions, segment_vectors, question_vectors, dsn=dsn, weights=weights)
    _dump(rankings, out)
    return rankings


def bare_longmemeval(
    path: Path, segment_vectors: np.ndarray[Any, Any], question_vectors: np.ndarray[Any, Any], *, dsn: str, out: Path
) -> tuple[float, float]:
    """Search LongMemEval by cosine from file to file of ids, and return recall_any@10 and mrr@50."""
    segments, questions, gold = [], [], []
    for scope, item in enumerate(json.loads(path.read_bytes())):
        wanted = set(item["answer_session_ids"])
        gold.append({len(segments) + n for n, id in enumerate(item["haystack_session_ids"]) if id in wanted})
        for turns in item["haystack_sessions"]:
            segments.append((scope, "\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)))
        questions.append((scope, item["question"]))
    rankings = _searched(segments, questions, segment_vectors, question_vectors, dsn=dsn, weights="cosine")
    _dump(rankings, out)
    first = [
        next((place for place, id in enumerate(ids, 1) if id in relevant), 0)
        for ids, relevant in zip(rankings, gold, strict=True)
    ]
    return sum(0 < place <= 10 for place in first) / len(first), sum(1 / place for place in first if place) / len(first)


def _searched(
    segments: list[tuple[int, str]],
    questions: list[tuple[int, str]],
    segment_vectors: np.ndarray[Any, Any],
    question_vectors: np.ndarray[Any, Any],
    *,
    dsn: str,
    weights: str,
) -> list[list[int]]:
    import psycopg
    from pgvector.psycopg import register_vector

    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("DROP SCHEMA IF EXISTS bare CASCADE; CREATE SCHEMA bare; SET search_path TO bare, public")
        register_vector(connection)
        _copy(connection, segments, segment_vectors)
        if weights == "cosine":
            connection.execute("ANALYZE segments")
            cursors = _ask(
                connection, COSINE, [(v, scope, DEPTH) for (scope, _), v in _both(questions, question_vectors)]
            )
            rankings = [[identity for identity, _ in cursor.fetchall()] for cursor in cursors]
        else:
            rankings = _rankings_by_weights(connection, questions, question_vectors, weights)
        connection.execute("DROP SCHEMA bare CASCADE")
    return rankings


def _dump(rankings: list[list[int]], out: Path) -> None:
    with out.open("w", encoding="utf-8") as file:
        for ids in rankings:
            file.write(json.dumps(ids) + "\n")


def _parsed(path: Path) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    segments, questions = [], []
    for scope, sample in enumerate(json.loads(path.read_bytes())):
        talk = sample["conversation"]
        for number in sorted(int(key[8:]) for key in talk if re.fullmatch(r"session_\d+", key)):
            turns = talk[f"session_{number}"]
            if turns:
                lines = [f"[{talk[f'session_{number}_date_time']}]", *(f"{t['speaker']}: {t['text']}" for t in turns)]
                segments.append((scope, "\n".join(lines)))
        questions += [(scope, question["question"]) for question in sample["qa"] if question["evidence"]]
    return segments, questions


def _copy(connection: Connection, segments: list[tuple[int, str]], vectors: np.ndarray[Any, Any]) -> None:
    tables = sql("schema").replace(":dims", str(vectors.shape[1])).replace(":storage", "PLAIN")
    connection.execute(tables.encode())
    statement = "COPY segments (scope, id, importance, text, embedding) FROM STDIN BINARY"
    with connection.cursor().copy(statement) as copy:
        copy.set_types(["int4", "int8", "float8", "text", "vector"])
        for number, ((scope, text), vector) in enumerate(_both(segments, vectors)):
            copy.write_row((scope, number, 0.5, text, vector))


def _rankings_by_weights(
    connection: Connection, questions: list[tuple[int, str]], vectors: np.ndarray[Any, Any], weights: str
) -> list[list[int]]:
    from psycopg import RawCursor

    from recallbench.stores.pgvector.score_constants import CONSTANTS
    from recallbench.stores.pgvector.weights import PARTS, parse_weights

    factors = parse_weights(weights)
    settings = {f"weight_{part}": str(getattr(factors, part)) for part in PARTS} | CONSTANTS.settings
    for name, value in settings.items():
        connection.execute("SELECT set_config(%s, %s, false)", (f"recallbench.{name}", value))
    connection.execute(
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off"
    )
    for scope in {scope for scope, _ in questions}:
        RawCursor(connection).execute(sql("lexicon").encode(), (scope,), prepare=True)
    connection.execute("ANALYZE segments; ANALYZE postings")
    rows = [(scope, vector, text, None, DEPTH) for (scope, text), vector in _both(questions, vectors)]
    statement = re.sub(r"(\$\d)::(\w+)\[\]", r"ARRAY[\1::\2]", sql("recall"))
    return [cursor.fetchall()[0][0] for cursor in _ask(connection, statement, rows)]


def _ask(connection: Connection, query: str, rows: list[tuple[Any, ...]]) -> list[Any]:
    from psycopg import RawCursor

    cursors = []
    for start in range(0, len(rows), CHUNK):
        with connection.pipeline():
            for row in rows[start : start + CHUNK]:
                cursor = RawCursor(connection)
                cursor.format = 1  # type: ignore[assignment]
                cursors.append(cursor.execute(query.encode(), row, prepare=True))
    return cursors


def _both(left: list[tuple[int, str]], right: np.ndarray[Any, Any]) -> Any:
    return zip(left, right, strict=True)
