"""The rows of a latency study and of a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from recallbench.corpora.stream import sha256_of
from recallbench.exports.study_forms import LEVELS, POINTS, QUALITY, STUDIES, SWEEPS
from recallbench.exports.table_form import Row
from recallbench.results import manifest
from recallbench.results.dated import start_of
from recallbench.results.load.levels import LatencyDocument, LevelPart, LoadPercentilePart
from recallbench.results.metrics import EstimatePart
from recallbench.results.sweep.document import SweepDocument, SweepPointPart


def latency_tables(folder: Path, study: LatencyDocument) -> dict[str, list[Row]]:
    """Return the rows of a study of latency under load, by table."""
    id = sha256_of(folder / manifest.NAME)
    machine = study.environment.get("machine")
    row: Row = {
        "study": id,
        "folder": folder.resolve().name,
        "made": _moment(study.environment.get("started")) or start_of(folder),
        **{
            name: getattr(study, name)
            for name in ("corpus", "dataset_sha256", "questions", "depth", "seed", "seconds", "arrivals", "finished")
        },
        "cpu": str(machine.get("cpu", "")) if isinstance(machine, Mapping) else "",
        "recallbench_version": study.recallbench_version,
    }
    quality: list[Row] = [
        {
            "study": id,
            "level": level.level,
            **{name: getattr(part, name) for name in ("measure", "n", "value", "low", "high", "chance")},
        }
        for level in study.rows
        for part in level.quality
    ]
    return {STUDIES.name: [row], LEVELS.name: list(_levels(id, study)), QUALITY.name: quality}


def _levels(id: str, study: LatencyDocument) -> Iterator[Row]:
    systems = {system.side: system for system in study.systems}
    for level in study.rows:
        system = systems[level.side]
        yield {
            "study": id,
            **{name: getattr(system, name) for name in ("side", "store", "variant", "version", "pipeline")},
            "embedder": system.embedder or "",
            "loop": level.kind,
            **{
                name: getattr(level, name) for name in LEVELS.names if name in LevelPart.model_fields and name != "side"
            },
            **_percentile("p50", level.p50),
            **_percentile("p95", level.p95),
            **_percentile("p99", level.p99),
            "at_least": any(part.at_least for part in (level.p50, level.p95, level.p99)),
            "quiet": level.machine.quiet,
        }


def _percentile(name: str, part: LoadPercentilePart) -> Row:
    return {f"{name}_ms": part.value, f"{name}_low": part.low, f"{name}_high": part.high}


def sweep_tables(folder: Path, sweep: SweepDocument) -> dict[str, list[Row]]:
    """Return the rows of a sweep, by table."""
    id, choice = sha256_of(folder / manifest.NAME), sweep.choice
    row: Row = {
        "sweep": id,
        "folder": folder.resolve().name,
        "made": _sweep_started(folder, sweep),
        **{
            name: getattr(sweep, name)
            for name in ("name", "file_sha256", "corpus", "dataset_sha256", "method", "measure", "questions", "depth")
        },
        "seed": sweep.seed,
        "gates": list(sweep.gates),
        "knee": (choice.knee.point if choice.knee is not None else None) or "",
        **{name: getattr(choice, name) or "" for name in ("chosen", "best", "cheapest")},
        **{name: getattr(choice, name) for name in ("shown", "margin", "gain", "gain_low", "gain_high")},
        "recallbench_version": sweep.recallbench_version,
    }
    points = [_point(id, position, point, sweep) for position, point in enumerate(sweep.points, 1)]
    return {SWEEPS.name: [row], POINTS.name: points}


def _point(id: str, position: int, point: SweepPointPart, sweep: SweepDocument) -> Row:
    own = [name for name in POINTS.names if name in SweepPointPart.model_fields]
    return {
        "sweep": id,
        "position": position,
        **{name: getattr(point, name) for name in own},
        "point": point.name,
        "parameters": ", ".join(f"{name}={value}" for name, value in (point.in_force or point.parameters).items()),
        "embedder": point.embedder or "",
        **_estimate("", point.estimate, ("n", "value", "low", "high", "chance")),
        "held_out": None if point.held_out is None else point.held_out.value,
        **_estimate("held_out_", point.held_out, ("low", "high")),
        "on_front": point.name in sweep.choice.front,
        "chosen": point.name == sweep.choice.chosen,
    }


def _estimate(prefix: str, part: EstimatePart | None, names: tuple[str, ...]) -> Row:
    return {f"{prefix}{name}": None if part is None else getattr(part, name) for name in names}


def _sweep_started(folder: Path, sweep: SweepDocument) -> datetime:
    """Return when a sweep started: as it says itself, else the last day on which a point of it was asked."""
    days = [moment for point in sweep.points if (moment := _moment(point.measured))]
    return _moment(sweep.environment.get("started")) or max(days, default=None) or start_of(folder)


def _moment(stated: object) -> datetime | None:
    """Return a stated moment or day, without a zone in that of the world; None where there is none."""
    try:
        moment = datetime.fromisoformat(str(stated))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
