"""A published baseline that was reproduced: its record, from the figures of each question."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from recallbench.protocol.reproductions import Reproduction
from recallbench.reports.reproduction import LABEL, ComparedPart, QuestionPart, ReproductionRecord, SystemPart
from recallbench.results.metrics import OVERALL, Metrics


def record(
    reproduction: Reproduction,
    questions: Sequence[QuestionPart],
    segments: int,
    version: str,
    metrics: Metrics,
    registered_sha256: str,
) -> ReproductionRecord:
    """Return the published, the reproduced and the canonical figures, with all that must be said of them."""
    differing = obstacles(reproduction, metrics, registered_sha256)
    recall = [question.recall for question in questions]
    first = [1 / question.first if question.first else 0.0 for question in questions]
    canonical = {estimate.measure: estimate.value for estimate in metrics.estimates[OVERALL]}
    headline = {figure.protocol_name: figure.estimate for figure in metrics.headline}
    return ReproductionRecord(
        name=reproduction.name,
        corpus=reproduction.corpus,
        label=LABEL,
        citable=False,
        published_by=SystemPart(store=reproduction.store, version=reproduction.version, embedder=reproduction.embedder),
        reproduced_by=SystemPart(
            store=metrics.store.name,
            version=version,
            embedder=metrics.embedder_name,
        ),
        comparable=not differing,
        obstacles=differing,
        figures=[
            ComparedPart(
                figure=published.figure,
                measure=published.measure,
                published=published.frozen,
                published_artefact=published.artefact,
                published_low=published.low,
                published_high=published.high,
                **_reproduced(values),
                canonical_measure=headline[published.figure].measure if published.figure in headline else "",
                canonical=headline[published.figure].value if published.figure in headline else None,
                same_measure_canonical=canonical.get(published.measure),
            )
            for published, values in zip(reproduction.published, (recall, first), strict=True)
        ],
        definition=list(reproduction.definition),
        flaws=list(reproduction.flaws),
        not_repeated=list(reproduction.not_repeated),
        depth=reproduction.depth,
        segments=segments,
        questions=list(questions),
    )


def _reproduced(values: Sequence[float]) -> dict[str, float | None]:
    if not len(values):
        return {"reproduced": None, "reproduced_low": None, "reproduced_high": None}
    mean = math.fsum(values) / len(values)
    half = 1.96 * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return {
        "reproduced": mean,
        # The last digits of a standard deviation differ from one processor to the next.
        "reproduced_low": round(max(0.0, mean - half), 10),
        "reproduced_high": round(min(1.0, mean + half), 10),
    }


def obstacles(reproduction: Reproduction, metrics: Metrics, registered_sha256: str) -> list[str]:
    """Return the reasons why the reproduced figure can't be compared with the published one."""
    store, version = metrics.store.name, metrics.store.version
    embedder = metrics.embedder.name if metrics.embedder else "none"
    problems = []
    if store != reproduction.store:
        problems.append(f"the store is {store}, the published figure is that of {reproduction.store}")
    elif version.removeprefix("v") != reproduction.version:
        problems.append(
            f"the version is {version}, the published figure is that of {reproduction.store} {reproduction.version}"
        )
    if metrics.store.variant:
        problems.append(f"the store does not work by its defaults: {metrics.store.variant}")
    if embedder != reproduction.embedder:
        problems.append(f"the embedder is {embedder}, the published figure was made with {reproduction.embedder}")
    if metrics.dataset_sha256 != registered_sha256:
        problems.append(f"the corpus file is {metrics.dataset_sha256}, the published one was {registered_sha256}")
    if metrics.retrieval.limit is not None:
        problems.append(f"only the first {metrics.retrieval.limit} questions were asked")
    return problems
