"""The part of `report.md` about the run itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recallbench.reports.latency import interpolated, latency_section
from recallbench.reports.table import Table
from recallbench.results.environment import recorded_load
from recallbench.results.latency import STATES, latencies, round_trips
from recallbench.results.metrics import Metrics
from recallbench.retrieval.timing import Timings
from recallbench.scoring.editions import EDITIONS

CIRCUMSTANCES = "## Circumstances"
"""The heading of the section."""
_PHASES = {
    "survey": "reading the corpus",
    "embed": "embedding its texts",
    "ingest": "handing the segments to the store",
    "control": "filling and asking BM25",
    "static control": "filling and asking the static control",
    "ready": "waiting until the store was ready to be asked",
    "search": "asking all questions",
    "score": "working out the figures",
    "reproduce": "asking again in the published way",
}
"""What is done in each phase of a run; those of stages behind the ranking go by their own names."""
_EMBEDDING = {
    "encoder": "encoder",
    "backend": "the encoder was run by",
    "device": "on the device",
    "proof": "comparison of OpenVINO with torch",
    "worst_cosine": "least cosine of its vectors with those of torch",
    "proof_texts": "texts on which the two were compared",
    "distinct": "different texts",
    "computed": "of these embedded in this run",
    "reused": "of these with a vector from the cache",
    "tokens": "tokens of these texts",
    "truncated": "of these longer than the encoder reads",
    "seconds": "time of embedding",
    "notes": "on the encoder",
    "foreign": "vectors in the cache that another user made",
    "embedded_again": "vectors from the cache that were made again and compared",
    "embedded_again_worst_cosine": "least cosine of these with the new ones",
    "computed_with": "the vectors in the cache were made with",
    "usage": "asked of the endpoint",
}
_OF_TOKENS = frozenset({"tokens", "truncated"})
"""Counts that mean nothing of an encoder that counts no tokens."""


def circumstances(
    metrics: Metrics, environment: Mapping[str, Any], timings: Timings, *, early: bool = False
) -> list[str]:
    """Return the section; `early` is for reports of release 0.1, which also told what had not been needed."""
    rows = [(_PHASES.get(phase, phase), f"{seconds:.3f} s") for phase, seconds in timings.phases.items()]
    bounded = EDITIONS[metrics.statistics_edition].bounded_times
    by_state = {state: latencies(timings.sample, timings.answers, state) for state in STATES}
    by_state |= round_trips(timings.no_ops)
    rows += [] if bounded else interpolated(by_state)
    if timings.cold:
        rows.append(("one query, cold", timings.cold))
    rows += _embedding(environment.get("embedding") or {}, early=early)
    machine = environment["machine"]
    rows.append(("machine", f"{machine['cpu']}, {machine['cores']} cores, Python {machine['python']}"))
    if load := recorded_load(environment):
        rows.append(("machine load", load.sentence))
    rows.append(("made", f"{environment['started']} to {environment['ended']}"))
    return [
        CIRCUMSTANCES,
        "",
        "These differ from run to run and decide no figure above. The times here are of whole phases of the run; what",
        "a single query takes is told below, of a sample of the questions.",
        "",
        *Table(("", ""), rows).markdown(),
        *(latency_section(metrics, by_state, environment) if bounded else []),
    ]


def _embedding(embedding: Mapping[str, Any], *, early: bool) -> Iterator[tuple[str, str]]:
    # The backend names its device, and without a cosine nothing was compared.
    untold = {"device"} | ({"proof"} if embedding.get("worst_cosine") is None else set())
    for name, value in embedding.items():
        counted = name not in _OF_TOKENS or embedding["tokens"]
        told = early or (value != 0 and name not in untold)
        if value not in (None, "", {}) and counted and told:
            yield _EMBEDDING.get(name, name), _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(
            f"{name} {part}" if isinstance(part, int) else f"{name} {part:.2f} s" for name, part in value.items()
        )
    if isinstance(value, (list, tuple)):
        return "; ".join(map(str, value)) or "none"
    return f"{value:.9f}" if isinstance(value, float) else str(value)
