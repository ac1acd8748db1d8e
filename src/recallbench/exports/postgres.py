"""`export postgres`: history tables that grow with every run."""

from __future__ import annotations

from typing import ClassVar

from recallbench.errors import Blocked, UsageError
from recallbench.exports.export_target import AS_RECORDED, Exported, ExportOption, ExportRequest, ExportTarget
from recallbench.exports.history.filling import fill
from recallbench.exports.history.migrations import SCHEMA, Migration, migrate, read_migrations
from recallbench.exports.recorded import Recorded, read_folders
from recallbench.extras import require
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.stores.postgres.postgres import connect, database_errors, redacted

NEEDS = "a PostgreSQL server that may be written to"


class PostgresTarget(ExportTarget):
    """History tables in a schema of their own."""

    name: ClassVar[str] = "postgres"
    summary: ClassVar[str] = (
        "Add results, latency studies and sweeps to history tables in Postgres; what is there stays."
    )
    details: ClassVar[str] = (
        f"The tables are in the schema {SCHEMA}, made and brought up to date by the command, in one transaction under "
        "a lock. A run is there once, known by the hash of its manifest: the same folder again adds nothing, the same "
        "answers on another day are another run, with times of their own."
    )
    example: ClassVar[str] = "recallbench export postgres results/* --dsn postgresql://user@host/bench"
    options: ClassVar[tuple[ExportOption, ...]] = (
        ExportOption("dsn", "The Postgres database of the history; a password is better kept in ~/.pgpass."),
    )

    def export(self, request: ExportRequest) -> Exported:
        require("postgres", "export postgres")
        dsn = request.texts.get("dsn")
        if not dsn:
            raise UsageError(
                "export postgres needs the database of the history",
                expected="--dsn postgresql://user@host/database, or RECALLBENCH_DSN",
                found="none",
                remedy=self.example,
            )
        recorded = read_folders(request.folders, request.prices, request.progress)
        migrations, counts = _write(dsn, recorded)
        names = ", ".join(f"{migration.number:04d}_{migration.name}" for migration in migrations)
        told = [f"tables of {SCHEMA} were brought up to date: {names}"] if migrations else []
        return Exported(_conclusion(counts), [*told, f"database: {redacted(dsn)}"], recorded)


def _write(dsn: str, recorded: Recorded) -> tuple[list[Migration], dict[str, tuple[int, int]]]:
    from psycopg import errors

    with connect(dsn, NEEDS, "") as connection, database_errors("writing the history"):
        try:
            with connection.transaction():
                return migrate(connection, read_migrations()), fill(connection, recorded)
        except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
            raise Blocked(
                "the history can't be written with this role or to this server",
                expected=f"the right to make the schema {SCHEMA}, or to write to its tables",
                found=str(error).strip().split("\n")[0],
                remedy="GRANT CREATE ON DATABASE … TO …; as its owner, or name a server that takes writes",
            ) from error


def _conclusion(counts: dict[str, tuple[int, int]]) -> Conclusion:
    """Return what was added; `counts` has new and all rows of each table."""
    told = ", ".join(f"{new} of {total} {table.replace('_', ' ')}" for table, (new, total) in counts.items() if total)
    happened = f"{told} are new in the schema {SCHEMA}"
    if all(new == 0 for new, _ in counts.values()):
        happened = f"Nothing is new in the schema {SCHEMA}: these very runs were there already"
    return Conclusion(happened, AS_RECORDED, "recallbench export grafana > dashboard.json")
