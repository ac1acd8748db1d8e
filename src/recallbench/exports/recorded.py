"""What folders record, as rows of tables; folders that record nothing, each with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recallbench.errors import InputError, RecallBenchError
from recallbench.exports.forms import RESULTS
from recallbench.exports.result_rows import line_of, result_tables
from recallbench.exports.study_forms import LEVELS, POINTS, STUDIES, SWEEPS
from recallbench.exports.study_rows import latency_tables, sweep_tables
from recallbench.exports.table_form import Row, TableForm
from recallbench.progress import Progress
from recallbench.results.costs.prices import read_prices
from recallbench.results.folder import BLOCKED, not_a_result
from recallbench.results.load.levels import NAME as LATENCY
from recallbench.results.load.reading import read_latency
from recallbench.results.result import METRICS, Result, open_unchanged
from recallbench.results.sweep.document import NAME as SWEEP
from recallbench.results.sweep.reading import read_sweep
from recallbench.scoring.costs import Prices

Tables = dict[str, list[Row]]


@dataclass(slots=True)
class Recorded:
    """The rows of all folders by the name of their table, and what was left out."""

    tables: Tables = field(default_factory=dict)
    lines: dict[str, dict[str, str]] = field(default_factory=dict)
    """By result, what tells its line over time from others."""
    left_out: list[tuple[Path, str]] = field(default_factory=list)
    """Folders without rows, each with the reason."""
    repeated: int = 0
    """Folders whose very run another folder had brought."""

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a table."""
        return self.tables.get(table, [])

    def take(self, tables: Tables) -> None:
        """Add rows."""
        for name, rows in tables.items():
            self.tables.setdefault(name, []).extend(rows)

    @property
    def words(self) -> str:
        """How many results, studies and sweeps there are."""
        counts = [
            (len(self.rows(form.name)), one, many)
            for form, one, many in (
                (RESULTS, "result", "results"),
                (STUDIES, "latency study", "latency studies"),
                (SWEEPS, "sweep", "sweeps"),
            )
        ]
        return ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts if n) or "nothing"

    @property
    def details(self) -> str:
        """How many levels and points there are; empty without any."""
        counts = [(len(self.rows(form.name)), what) for form, what in ((LEVELS, "levels"), (POINTS, "points"))]
        return ", ".join(f"{n} {what}" for n, what in counts if n)


def read_folders(
    folders: Sequence[Path],
    prices: Path | None,
    progress: Progress,
    take_result: Callable[[Result], None] | None = None,
) -> Recorded:
    """Return what these folders record; `take_result` is given each result, to take more of it.

    A folder that is no result or study, or that was changed since it was written, is left out with the reason; raises
    InputError where that is all of them.
    """
    listed, recorded, seen = read_prices(prices), Recorded(), set[str]()
    with progress.stage("reading folders", len(folders), "folders") as advance:
        for folder in dict.fromkeys(folders):
            try:
                identity, tables, result = _tables(folder, listed)
                if identity in seen:
                    recorded.repeated += 1
                    continue
                if result is not None:
                    if take_result is not None:
                        take_result(result)
                    recorded.lines[identity] = line_of(result.metrics)
                recorded.take(tables)
                seen.add(identity)
            except (RecallBenchError, OSError) as error:
                recorded.left_out.append((folder, _reason(error)))
            finally:
                advance(1)
    if not seen:
        raise InputError(
            "there is nothing to export",
            expected="a folder that `recallbench run`, `latency` or `sweep` wrote",
            found="; ".join(f"{folder}: {why}" for folder, why in recorded.left_out) or "no folder",
            remedy="name the folders of single results, such as results/*",
        )
    return recorded


def _tables(folder: Path, prices: Prices) -> tuple[str, Tables, Result | None]:
    """Return the identity of what a folder records, and its rows; raises InputError for another folder."""
    if (folder / LATENCY).is_file():
        tables = latency_tables(folder, read_latency(folder))
        return str(tables[STUDIES.name][0]["study"]), tables, None
    if (folder / SWEEP).is_file():
        tables = sweep_tables(folder, read_sweep(folder))
        return str(tables[SWEEPS.name][0]["sweep"]), tables, None
    if inner := _results_inside(folder):
        raise not_a_result(folder, f"a folder of {len(inner)} results", f"name them: {folder}/*")
    result = open_unchanged(folder)
    return result.manifest_sha256, result_tables(result, prices), result


def _results_inside(folder: Path) -> list[Path]:
    if not folder.is_dir() or (folder / METRICS).is_file() or (folder / BLOCKED).is_file():
        return []
    return [path for path in sorted(folder.iterdir()) if (path / METRICS).is_file()]


def _reason(error: RecallBenchError | OSError) -> str:
    if isinstance(error, RecallBenchError):
        return error.found or error.problem
    return error.strerror or str(error)


def newest(rows: Iterable[Row], form: TableForm, *names: str) -> Iterator[Row]:
    """Yield of a table's rows that share these columns the one made last; of equal moments, that with the last key.

    The views and the dashboard's queries order by the same two.
    """

    def order(row: Row) -> Any:
        return row["made"], *(row[name] for name in form.key)

    latest: dict[tuple[object, ...], Row] = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        latest[key] = max(latest.get(key, row), row, key=order)
    yield from latest.values()
