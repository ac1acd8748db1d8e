"""The vector index of a run: built when all is loaded, searched by the nearest, and described as the server has it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from recallbench.errors import Blocked, UsageError
from recallbench.stores.pgvector.index_choice import HNSW, IndexChoice
from recallbench.stores.pgvector.statements import sql
from recallbench.stores.postgres.postgres import database_errors

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.errors import Diagnostic

NAME = "segments_nearest"
MOST_DIMS = {"vector": 2_000, "halfvec": 4_000, "bit": 64_000}
"""Dimensions that an index can hold."""
BYTES = {"vector": 4.0, "halfvec": 2.0, "bit": 0.125}
"""Of a dimension."""
OLDEST = (0, 8)
"""The first version of pgvector that goes on scanning where a filter leaves too few rows."""
LEAST_MEMORY, MOST_MEMORY = 64, 2_048
"""MB for a build. A parallel one takes all of it at once as shared memory."""
MOST_WORKERS = 4
USED = "by the vector index"
UNUSED = "not by the vector index, which the plan leaves aside"
NOT_REPRODUCIBLE = "not reproducible: pgvector draws at random without a seed, so another build may find others"
OUTGROWN = "; the graph outgrew that memory after "
BUILD = (
    rf"maintenance_work_mem [0-9]+MB, (?:no parallel worker|at most [0-9]+ parallel workers?(?:, [0-9]+ at work)?)"
    rf"(?:{OUTGROWN}[0-9]+ rows)?; {NOT_REPRODUCIBLE}"
)
"""The pattern of how an index was built; earlier releases did not tell how many workers came."""
_AT_WORK = re.compile(r"using (\d+) parallel workers")
_OUTGROWN = re.compile(r"no longer fits into maintenance_work_mem after (\d+)")
_OPERATORS = {"vector": "<=>", "halfvec": "<=>", "bit": "<~>"}
_CLASSES = {"vector": "vector_cosine_ops", "halfvec": "halfvec_cosine_ops", "bit": "bit_hamming_ops"}


class VectorIndex:
    """The index of one run's segments."""

    def __init__(self, choice: IndexChoice, dims: int) -> None:
        self._choice = choice
        self._dims = dims
        self._build = ""

    def check(self, pgvector: str) -> None:
        """Raise an error where this version of pgvector, or its index, can't hold the vectors."""
        kind, most = self._choice.vector_type, MOST_DIMS[self._choice.vector_type]
        if tuple(map(int, re.findall(r"\d+", pgvector)[:2])) < OLDEST:
            raise Blocked(
                f"the server's pgvector is too old for --set index={self._choice.kind}",
                expected="pgvector 0.8 or newer",
                found=pgvector,
                remedy="install a newer pgvector on the server, or leave out --set index",
            )
        if self._dims > most:
            wider = next((name for name, dims in MOST_DIMS.items() if dims >= self._dims), "")
            raise UsageError(
                f"an index of {kind} can't hold these vectors",
                expected=f"at most {most} numbers each",
                found=f"{self._dims} numbers",
                remedy=f"--set vector_type={wider}" if wider else "leave out --set index",
            )

    @property
    def statement(self) -> str:
        """The search for the nearest, with the index's own expression in it: no other would be answered by it."""
        found = str(self._choice.candidates) if self._choice.rescored else "$5"
        return (
            sql("nearest")
            .replace(":indexed", self._value("s.embedding"))
            .replace(":asked", self._value("asked.embedding"))
            .replace(":distance", _OPERATORS[self._choice.vector_type])
            .replace(":found", found)
        )

    def build(self, connection: Connection, rows: int) -> None:
        """Build it over all segments; where a parallel build gets no shared memory, one process does it."""
        from psycopg import errors

        memory, workers = self._memory(rows), _workers()
        with database_errors("building its index"):
            try:
                self._create(connection, memory, workers)
            except (errors.DiskFull, errors.OutOfMemory):
                if not workers:
                    raise
                self._create(connection, memory, 0)

    def described(self, connection: Connection, plan: str) -> dict[str, str]:
        """Return the index as the server defines it, how it was built, and whether `plan` goes through it."""
        with database_errors("describing its index"):
            row = connection.execute(
                "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexname = %s", (NAME,)
            ).fetchone()
        return {
            "index": row[0].partition(" USING ")[2] if row else "none",
            "index build": self._build,
            "answered": USED if self.is_used(plan) else UNUSED,
        }

    @staticmethod
    def is_used(plan: str) -> bool:
        """Whether a plan goes through the index."""
        return f"Index Scan using {NAME}" in plan

    def _create(self, connection: Connection, memory: int, workers: int) -> None:
        outgrown: list[str] = []
        at_work = ["0"]

        def note(diagnostic: Diagnostic) -> None:
            if told := _OUTGROWN.search(str(diagnostic.message_primary)):
                outgrown.append(f"{OUTGROWN}{told[1]} rows")
            if told := _AT_WORK.search(str(diagnostic.message_primary)):
                at_work.append(told[1])

        choice = self._choice
        options = {"m": choice.m, "ef_construction": choice.ef_construction}
        if choice.kind != HNSW:
            options = {"lists": choice.lists}
        parameters = ", ".join(f"{name} = {value}" for name, value in options.items())
        value = self._value("embedding")
        connection.add_notice_handler(note)
        try:
            with connection.transaction():
                connection.execute(f"SET LOCAL maintenance_work_mem = '{memory}MB'".encode())
                connection.execute(f"SET LOCAL max_parallel_maintenance_workers = {workers}".encode())
                connection.execute("SET LOCAL client_min_messages = debug1")
                connection.execute(
                    f"CREATE INDEX {NAME} ON segments USING {choice.kind}"
                    f" (({value}) {_CLASSES[choice.vector_type]}) WITH ({parameters})".encode()
                )
                memory, workers = _read_back(connection)
        finally:
            connection.remove_notice_handler(note)
        sharing = "no parallel worker"
        if workers:
            sharing = f"at most {workers} parallel worker{'s' if workers > 1 else ''}, {at_work[-1]} at work"
        self._build = f"maintenance_work_mem {memory}MB, {sharing}{''.join(outgrown)}; {NOT_REPRODUCIBLE}"

    def _value(self, column: str) -> str:
        if self._choice.vector_type == "halfvec":
            return f"{column}::halfvec({self._dims})"
        if self._choice.vector_type == "bit":
            return f"binary_quantize({column})::bit({self._dims})"
        return column

    def _memory(self, rows: int) -> int:
        """Return the MB that the whole of it fits into, with a third to spare."""
        links = 40 * self._choice.m if self._choice.kind == HNSW else 0
        each = self._dims * BYTES[self._choice.vector_type] + links + 200
        return min(max(int(4 / 3 * rows * each) >> 20, LEAST_MEMORY), MOST_MEMORY)


def index_states(choice: IndexChoice) -> list[dict[str, str]]:
    """Return the patterns of what `described` says and of the plan: of one that uses the index, and of any other."""
    value = {
        "vector": "embedding",
        "halfvec": r"\(\(embedding\)::halfvec\([0-9]+\)\)",
        "bit": r"\(\(binary_quantize\(embedding\)\)::bit\([0-9]+\)\)",
    }[choice.vector_type]
    parameters = rf"lists='{choice.lists}'"
    if choice.kind == HNSW:
        parameters = rf"m='{choice.m}', ef_construction='{choice.ef_construction}'"
    index = rf"{choice.kind} \({value} {_CLASSES[choice.vector_type]}\) WITH \({parameters}\)"
    scan = rf"Index Scan using {NAME} on segments\b"
    return [
        {"index": index, "index build": BUILD, "answered": re.escape(how), "plan": plan}
        for how, plan in ((USED, rf".*{scan}.*"), (UNUSED, rf"(?!.*{scan}).*\bScan\b[^\n]* on segments\b.*"))
    ]


def _read_back(connection: Connection) -> tuple[int, int]:
    """Return the MB and the parallel workers that the transaction allows a build."""
    row = connection.execute(
        """SELECT pg_size_bytes(current_setting('maintenance_work_mem')) >> 20,
               current_setting('max_parallel_maintenance_workers')::int"""
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def _workers() -> int:
    return min(MOST_WORKERS, max(1, (os.cpu_count() or 2) - 1))
