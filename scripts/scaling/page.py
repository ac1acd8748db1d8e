"""The tables of docs/scale.md, from measured.toml alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from scaling.constants import DIMENSIONS, Constants, Run, constants, smaller
from scaling.designs import GB, HOUR, MONTH, Outcome, Server, Workload, exact, one_index, partitions, several
from scaling.simulation import simulate

DESIGNS: Mapping[str, Callable[[Workload, Constants, Server], Outcome]] = {
    "exact, one server": exact,
    "one HNSW, one server": one_index,
    "partitions, one server": partitions,
    "exact, several servers": partial(several, exact),
    "partitions, several servers": partial(several, partitions),
}
NODES = (1, 2, 10, 100)


def tables(data: Mapping[str, Any]) -> dict[str, str]:
    """Return every table by the name that the page has it under."""
    runs = sorted(data["run"], key=lambda run: int(run["segments"]))
    others, largest = smaller(runs)
    of_others, of_all, server = constants(others), constants(runs), Server.of(data["assumed"])
    works = [Workload(**each) for each in data["workload"]]
    return {
        "measured": measured(runs),
        "widths": widths(largest),
        "held": held(largest, of_others, server),
        "constants": stated(of_others, of_all, server),
        "designs": designs(works, of_all, server),
        "embedding": embedding(works, of_all, data["embedding"], data["ray"], server),
    }


def rewritten(text: str, made: Mapping[str, str]) -> str:
    """Return a page with its tables made anew; raises KeyError for one that is not known."""
    return re.sub(
        r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}\n{made[found[2]]}\n\n{found[3]}",
        text,
        flags=re.DOTALL,
    )


def measured(runs: Sequence[Run]) -> str:
    """Return what each run took."""

    def row(name: str, cell: Any) -> list[str]:
        return [name, *(cell(run) for run in runs)]

    return _table(
        ["", *(f"{run['segments']:,}" for run in runs)],
        [
            row("real segments (distinct texts)", lambda run: f"{run['real']:,} ({run['distinct']:,})"),
            row("COPY, rows a second", lambda run: f"{run['segments'] / run['copy_s']:,.0f}"),
            row("row by row, rows a second", lambda run: f"{run['row_by_row_rows'] / run['row_by_row_s']:,.0f}"),
            row("COPY is faster by", lambda run: f"{_faster(run):.1f} times"),
            row("COPY of all, s", lambda run: _short(run["copy_s"])),
            row("bytes of a row, its text among them", lambda run: f"{run['table_bytes'] / run['segments']:,.0f}"),
            row("the same, row by row", lambda run: f"{run['row_by_row_bytes'] / run['row_by_row_rows']:,.0f}"),
            row("table, GB", lambda run: _short(run["table_bytes"] / 1e9)),
            row("HNSW built in, s", lambda run: _short(run["build_s"])),
            row("by", lambda run: run["build"]),
            row("HNSW, GB", lambda run: _short(run["hnsw_bytes"] / 1e9)),
            row("exact scoped question, many in a statement, ms", lambda run: _short(run["exact_block_ms"])),
            row("the same, one by one, ms", lambda run: _short(run["exact_single_ms"])),
            row("the same in this process, without a server, ms", lambda run: _short(run["floor_ms"])),
            row("exact: share of the ten that this process finds", lambda run: f"{run['exact_recall']:.3f}"),
        ],
    )


def widths(run: Run) -> str:
    """Return what the index of a run finds for each width, in a scope and without."""
    each = zip(
        *(run[name] for name in ("ef_search", "scoped_ms", "scoped_rows", "scoped_recall")),
        *(run[name] for name in ("unscoped_ms", "unscoped_recall")),
        strict=True,
    )
    rows = [
        [f"{width}", _short(ms), f"{came:.2f}", f"{recall:.3f}", _short(free_ms), f"{free:.3f}"]
        for width, ms, came, recall, free_ms, free in each
    ]
    further = [
        _short(run["scanned_on_ms"][0]),
        f"{run['scanned_on_rows'][0]:.2f}",
        f"{run['scanned_on_recall'][0]:.3f}",
    ]
    rows.append(["40, relaxed_order", *further, "–", "–"])
    rows.append(
        [
            "exact",
            _short(run["exact_block_ms"]),
            "10.00",
            f"{run['exact_recall']:.3f}",
            _short(run["unscoped_floor_ms"]) + " (in this process)",
            "1.000",
        ]
    )
    head = ["ef_search", "scoped, ms", "rows of 10", "of the exact ten", "all scopes, ms", "of the exact ten"]
    return _table(head, rows)


def held(run: Run, of: Constants, server: Server) -> str:
    """Return what was predicted of a run beside what was seen."""
    rows = [
        [each.name, f"{_short(each.predicted)} {each.unit}", f"{_short(each.seen)} {each.unit}", f"{each.ratio:.2f}"]
        for each in simulate(run, of, server.build_mb)
    ]
    needed, given = run["segments"] * of.graph_bytes / (1 << 20), re.search(r"([0-9]+MB)(.*outgrew)?", run["build"])
    assert given is not None
    seen = f"{'more' if given[2] else 'no more'} than the {given[1]} that it was given"
    rows.append(["memory of the build", f"{_short(needed)} MB", seen, "–"])
    return _table([f"{run['segments']:,} segments", "predicted", "seen", "predicted / seen"], rows)


def stated(smaller: Constants, every: Constants, server: Server) -> str:
    """Return the constants of the smaller runs, and of all of them."""

    def row(name: str, cell: Callable[[Constants], str]) -> list[str]:
        return [name, cell(smaller), cell(every)]

    return _table(
        ["constant", "from the smaller runs", "from all"],
        [
            row("COPY, ns a byte sent", lambda of: f"{of.copy_s * 1e9:.1f}"),
            row("a row beside its text, bytes", lambda of: f"{of.vector_bytes:,.0f}"),
            row("btree and HNSW, bytes a segment", lambda of: f"{of.btree_bytes:,.0f} and {of.hnsw_bytes:,.0f}"),
            row("an exact question, µs for each segment of its scope", lambda of: f"{of.compare_ms * 1000:.1f}"),
            row("the largest scope that is compared in time, in memory", lambda of: f"{_reach(of, server):,}"),
            row("building, µs for segments x ln(segments)", lambda of: f"{of.build_s * 1e6:.1f}"),
            row("memory of a build, bytes a segment", lambda of: f"{of.graph_bytes:,.0f}"),
            row("building, for what outgrows its memory", lambda of: f"{of.outgrown:.1f} times that"),
            row("a question to the HNSW, ms for ln(segments)", lambda of: f"{of.hop_ms:.3f}"),
            row("and µs for each row that is scanned on over", lambda of: f"{of.walk_ms * 1000:.1f}"),
        ],
    )


def _reach(of: Constants, server: Server) -> int:
    """Return the segments of the largest scope whose exact question keeps to the limit, in hundreds."""
    return int((server.question_ms - of.ask_ms) / of.compare_ms) // 100 * 100


def designs(works: Iterable[Workload], of: Constants, server: Server) -> str:
    """Return every design for every workload."""
    rows = [
        [work.name if not number else "", name, *_cells(design(work, of, server))]
        for work in works
        for number, (name, design) in enumerate(DESIGNS.items())
    ]
    head = [
        "workload",
        "design",
        "servers",
        "load and build, h",
        "memory that holds it all, GB each",
        "disk, GB each",
        "a question, ms",
        "a month",
    ]
    return _table([*head, "where it stops"], rows)


def embedding(
    works: Sequence[Workload], of: Constants, encoder: Mapping[str, Any], ray: Mapping[str, Any], server: Server
) -> str:
    """Return the hours and the money of embedding, on one machine and on nodes like it."""
    most = {work.segments: work for work in reversed(works)}
    rows = []
    for segments, work in sorted(most.items()):
        cells = []
        for nodes in NODES:
            alone = segments / encoder["texts_per_s"]
            seconds = alone if nodes == 1 else alone / nodes / ray["efficiency"] + ray["start_s"]
            cells.append(f"{_short(seconds / HOUR)} h, {_short(nodes * seconds / HOUR * server.month(0) / MONTH)}")
        kept_up = segments / of.copy(segments, work.characters) / (encoder["texts_per_s"] * ray["efficiency"])
        rows.append([f"{segments:,}", *cells, _short(4 * DIMENSIONS * segments / GB), f"{kept_up:,.0f}"])
    head = ["segments", *(f"{nodes} node{'s' * (nodes > 1)}" for nodes in NODES)]
    return _table([*head, "vectors, GB", "nodes that one COPY keeps up with"], rows)


def _cells(outcome: Outcome) -> list[str]:
    figures = (outcome.hours, outcome.memory_gb, outcome.disk_gb, outcome.question_ms, outcome.month)
    return [f"{outcome.servers:,}", *map(_short, figures), outcome.stops or "holds"]


def _faster(run: Run) -> float:
    copied, inserted = run["segments"] / run["copy_s"], run["row_by_row_rows"] / run["row_by_row_s"]
    return float(copied / inserted)


def _short(value: float) -> str:
    """Return a figure with three digits that count."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 0.01 else f"{value:.1g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
