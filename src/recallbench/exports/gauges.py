"""The values that Prometheus is given: of each line over time those of its newest result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from recallbench.escaping.terminal import visible
from recallbench.exports.forms import FIGURES, GATES, LATENCIES, RESULTS
from recallbench.exports.recorded import Recorded, newest
from recallbench.exports.study_forms import LEVELS, POINTS, QUALITY, STUDIES, SWEEPS
from recallbench.exports.table_form import Row, Value

LINE = (
    *("corpus", "dataset", "protocol", "store", "variant", "pipeline", "embedder", "scope", "depth", "limit"),
    "series",
)
"""What a line over time goes by; the last is the hash that tells every one from another."""
SLICE = ("measure", "slice_kind", "slice")
PERCENTILES = ("p50", "p95", "p99")


@dataclass(slots=True)
class Gauge:
    """A name with its samples, each a value with its labels."""

    name: str
    help: str
    labels: tuple[str, ...]
    samples: list[tuple[Mapping[str, str], float]] = field(default_factory=list)

    def add(self, labels: Mapping[str, Value], value: Value) -> None:
        """Add a sample; none where there is no value."""
        if value is not None:
            assert isinstance(value, (int, float))
            self.samples.append(({name: _word(labels[name]) for name in self.labels}, float(value)))


def gauges(recorded: Recorded) -> list[Gauge]:
    """Return every gauge that has a sample."""
    every = [*_of_results(recorded), *_of_levels(recorded), *_of_points(recorded)]
    return [gauge for gauge in every if gauge.samples or gauge.name == "recallbench_result_info"]


def _word(value: Value) -> str:
    return visible("" if value is None else str(value))


def _of_results(recorded: Recorded) -> Iterable[Gauge]:
    info = Gauge(
        "recallbench_result_info",
        "The newest result of a line: its version and verdict, as recorded.",
        (*LINE, "version", "verdict", "canonical", "recallbench_version", "content_sha256"),
    )
    made = Gauge("recallbench_result_made_timestamp_seconds", "When the run of the newest result started.", LINE)
    deviations = Gauge("recallbench_deviations", "How often it departs from the protocol.", LINE)
    gate = Gauge("recallbench_gate_info", "The gates of a result with their states.", (*LINE, "gate", "status"))
    timed = Gauge("recallbench_queries_timed", "Single warm queries that were timed.", LINE)
    money = (*LINE, "currency", "prices_of")
    cost = Gauge("recallbench_cost_per_1000_queries", "Money, without ingest and index.", money)
    least = Gauge(
        "recallbench_cost_per_1000_queries_at_least",
        "The same where a part has no price or was not counted: it costs that or more.",
        money,
    )
    query = Gauge(
        "recallbench_query_seconds",
        "Nearest-rank percentiles of single queries; stage and part are empty for a query end to end.",
        (*LINE, "state", "stage", "part", "percentile"),
    )
    by_field = {
        name: Gauge(f"recallbench_measure{ending}", help, (*LINE, *SLICE))
        for name, ending, help in (
            ("value", "", "The mean of a measure over its questions."),
            ("low", "_low", "Lower end of its 95% interval."),
            ("high", "_high", "Upper end of its 95% interval."),
            ("chance", "_chance", "What a random order would reach."),
            ("ceiling", "_ceiling", "What an oracle reaches."),
            ("bm25", "_bm25", "What the lexical control reaches."),
            ("saturated", "_saturated_share", "Share of questions whose haystack is no larger than k."),
            ("n", "_questions", "Questions that count."),
        )
    }
    lines = recorded.lines
    current = {str(row["result"]): row for row in newest(recorded.rows(RESULTS.name), RESULTS, "series")}
    for id, row in current.items():
        line = lines[id]
        info.add({**row, **line}, 1)
        made.add(line, row["made"].timestamp())  # type: ignore[union-attr]
        deviations.add(line, len(row["deviations"]))  # type: ignore[arg-type]
        timed.add(line, row["timed"])
        (least if row["cost_lacks"] else cost).add({**row, **line}, row["cost_per_1000"])
    for row in _of(recorded, GATES.name, "result", current):
        gate.add({**row, **lines[str(row["result"])]}, 1)
    for row in _of(recorded, FIGURES.name, "result", current):
        for name, gauge in by_field.items():
            gauge.add({**row, **lines[str(row["result"])]}, row.get(name))
    for row in _of(recorded, LATENCIES.name, "result", current):
        _add_percentiles(query, {**row, **lines[str(row["result"])]}, row)
    return (info, made, deviations, *by_field.values(), gate, timed, query, cost, least)


def _of_levels(recorded: Recorded) -> Iterable[Gauge]:
    system = ("store", "variant", "pipeline", "embedder")
    level = ("corpus", "dataset", "depth", *system, "against", "side", "size", "level", "loop", "clients")
    waits = Gauge(
        "recallbench_load_seconds",
        "Nearest-rank percentiles of a level of load, from the moment a question was to start; no void levels.",
        (*level, "percentile"),
    )
    throughput = Gauge("recallbench_load_answers_per_second", "Answers a second of a level of load.", level)
    rate = Gauge("recallbench_load_questions_per_second", "Questions a second that came, of an open loop.", level)
    quality = Gauge("recallbench_load_measure", "A measure of the very answers that were timed.", (*level, "measure"))
    sides: dict[str, dict[str, str]] = {}
    for row in recorded.rows(LEVELS.name):
        words = "; ".join(_word(row[name]) for name in system if row[name])
        sides.setdefault(str(row["study"]), {})[str(row["side"])] = words
    studies: list[Row] = [
        {**row, "systems": "\0".join(sides.get(str(row["study"]), {}).values())} for row in recorded.rows(STUDIES.name)
    ]
    current = {
        str(row["study"]): row for row in newest(studies, STUDIES, "corpus", "dataset_sha256", "depth", "systems")
    }
    levels = {}
    for row in _of(recorded, LEVELS.name, "study", current):
        if not row["void"]:
            study = current[str(row["study"])]
            labels = {
                **row,
                "corpus": study["corpus"],
                "dataset": str(study["dataset_sha256"])[:12],
                "depth": study["depth"],
                "against": next((w for side, w in sides[str(row["study"])].items() if side != row["side"]), ""),
            }
            levels[(row["study"], row["level"])] = labels
            _add_percentiles(waits, labels, row)
            throughput.add(labels, row["throughput"])
            rate.add(labels, row["rate"])
    for row in _of(recorded, QUALITY.name, "study", current):
        if (row["study"], row["level"]) in levels:
            quality.add({**levels[row["study"], row["level"]], "measure": row["measure"]}, row["value"])
    return (waits, throughput, rate, quality)


def _of_points(recorded: Recorded) -> Iterable[Gauge]:
    point = ("sweep", "corpus", "point", "parameters", "measure")
    every = {
        name: Gauge(f"recallbench_sweep_{ending}", help, point)
        for name, ending, help in (
            ("value", "measure", "The sweep's measure at a point, over all questions."),
            ("held_out", "measure_held_out", "Over the questions held out."),
            ("chosen", "chosen", "1 of the point that was chosen."),
            ("usd_per_1000", "usd_per_1000_queries", "What 1,000 questions cost."),
        )
    }
    query = Gauge("recallbench_sweep_query_seconds", "Of single warm searches at a point.", (*point, "percentile"))
    current = {str(row["sweep"]): row for row in newest(recorded.rows(SWEEPS.name), SWEEPS, "name", "corpus")}
    for row in _of(recorded, POINTS.name, "sweep", current):
        sweep = current[str(row["sweep"])]
        labels = {**row, "sweep": sweep["name"], "corpus": sweep["corpus"], "measure": sweep["measure"]}
        for name, gauge in every.items():
            gauge.add(labels, row[name])
        _add_percentiles(query, labels, row)
    return (*every.values(), query)


def _of(recorded: Recorded, table: str, key: str, ids: Mapping[str, Row]) -> list[Row]:
    return [row for row in recorded.rows(table) if row[key] in ids]


def _add_percentiles(gauge: Gauge, labels: Mapping[str, Value], row: Row) -> None:
    for percentile in PERCENTILES:
        milliseconds = row.get(f"{percentile}_ms")
        if milliseconds is not None:
            assert isinstance(milliseconds, (int, float))
            gauge.add({**labels, "percentile": percentile}, milliseconds / 1000)
