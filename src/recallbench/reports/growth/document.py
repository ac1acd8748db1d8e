"""A store's figures as its haystacks grow."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from recallbench.reports.comparison import DifferencePart
from recallbench.results.metrics import EstimatePart
from recallbench.scoring.quantiles import NEAREST_RANK
from recallbench.scoring.returned import ReturnedRows


@dataclass(frozen=True, slots=True)
class Size:
    """One size of the haystacks."""

    factor: int
    stored: int
    """Documents that the store held in all."""
    largest: int
    """Documents of the largest haystack."""
    estimates: tuple[EstimatePart, ...]
    p50_ms: float | None
    p95_ms: float | None
    """Of single warm queries, a sample."""
    queries: int
    ingest_seconds: float
    returned: tuple[ReturnedRows, ...]
    """Rows asked for and returned, of each call."""
    disturbed: str = ""
    """The other load of the machine, where it was not quiet."""
    impossible: str = ""
    """That its answers are faster than a round trip without work, where they are."""


@dataclass(frozen=True, slots=True)
class Growth:
    """One store on one corpus, haystack size by haystack size."""

    corpus: str
    store: str
    version: str
    embedder: str
    seed: int
    distractors: str
    """The source of the added documents."""
    matching: str
    """The method that makes a document relevant."""
    unmatched: int
    """Queries that expect a text which no document matches: they are in no mean."""
    pool: int
    """Documents that could be added, those that answer a query included."""
    passed_over: int
    """Documents that match a query's expected text, and so are no distractors in its haystack."""
    room: int
    """The largest factor with enough documents."""
    left_out: tuple[int, ...]
    """Requested factors that are larger."""
    sizes: tuple[Size, ...]
    change: DifferencePart | None = None
    """The leading measure at the largest size minus that at the smallest, on the same questions."""


def document(growth: Growth) -> dict[str, object]:
    """Return the JSON document."""
    return asdict(growth) | {
        "percentiles": NEAREST_RANK,
        "change": None if growth.change is None else growth.change.model_dump(),
        "sizes": [
            asdict(size) | {"estimates": [estimate.model_dump() for estimate in size.estimates]}
            for size in growth.sizes
        ],
    }
