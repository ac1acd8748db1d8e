"""One run's project numbers in the extension's table, which other runs and real lessons may share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recallbench.errors import Blocked
from recallbench.stores.postgres.postgres import database_errors

if TYPE_CHECKING:
    from psycopg import Connection

LOCK_CLASS = 0x52424E50
"""Class of the advisory locks by which a living run holds its numbers."""
FIRST = 1_000_000_000
PER_RUN = 100_000
RUNS = 1_000


@dataclass(frozen=True, slots=True)
class Projects:
    """A range of project numbers that one session alone uses. The lowest free range: a repeat gets the same numbers."""

    slot: int

    @property
    def mark(self) -> str:
        """The source_run_id of every row of this run."""
        return f"recallbench-{self.slot}"

    def number(self, scope: int) -> int:
        """The project of a scope."""
        return FIRST + self.slot * PER_RUN + scope

    @property
    def span(self) -> tuple[int, int]:
        """The first number and the one behind the last."""
        return self.number(0), self.number(PER_RUN)


def claim_projects(connection: Connection) -> Projects:
    """Take the lowest range that no living run holds, and remove what a run that died left in it."""
    with database_errors("claiming project numbers"):
        for slot in range(RUNS):
            row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCK_CLASS, slot)).fetchone()
            if not row or not row[0]:
                continue
            projects = Projects(slot)
            remove_rows(connection, projects)
            row = connection.execute(
                "SELECT EXISTS (SELECT FROM pgmnemo.agent_lesson WHERE project_id >= %s AND project_id < %s)",
                projects.span,
            ).fetchone()
            if row and not row[0]:
                return projects
            release(connection, projects)  # somebody's own lessons lie there
    raise Blocked(
        "no project numbers are free",
        expected=f"a free range of {PER_RUN:,} numbers from {FIRST:,} on",
        found=f"{RUNS} ranges in use",
        remedy="remove what other programs left in pgmnemo.agent_lesson, or use a database of its own",
    )


def remove_rows(connection: Connection, projects: Projects) -> None:
    """Delete the rows of ours in this range."""
    connection.execute(
        "DELETE FROM pgmnemo.agent_lesson WHERE project_id >= %s AND project_id < %s AND source_run_id = %s",
        (*projects.span, projects.mark),
    )


def release(connection: Connection, projects: Projects) -> None:
    """Let others have the range."""
    connection.execute("SELECT pg_advisory_unlock(%s, %s)", (LOCK_CLASS, projects.slot))
