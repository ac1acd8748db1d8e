"""What a server knows of the runs on it: it notices that one was killed, but not at once."""

from __future__ import annotations

import time

import psycopg

LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
"""The locks by which runs hold what is theirs, one each."""


def wait_for_runs(session: psycopg.Connection, number: int) -> None:
    """Wait until the server has noticed which runs are gone."""
    end = time.monotonic() + 60
    while session.execute(LOCKS).fetchone() != (number,):
        assert time.monotonic() < end
        time.sleep(0.01)
