"""A published baseline that was measured again its own way, told from what each question got."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from recallbench.protocol.reproductions import Reproduction
from recallbench.reports.reproduction import LABEL, ComparedPart, QuestionPart, ReproductionRecord, SystemPart
from recallbench.results.metrics import OVERALL, Metrics


def record(
    wanted: Reproduction,
    questions: Sequence[QuestionPart],
    segments: int,
    version: str,
    metrics: Metrics,
    registered_sha256: str,
) -> ReproductionRecord:
    """The published, the reproduced and the canonical figures, with all that must be said of them."""
    differing = obstacles(wanted, metrics, registered_sha256)
    recall = [question.recall for question in questions]
    first = [1 / question.first if question.first else 0.0 for question in questions]
    canonical = {one.measure: one.value for one in metrics.estimates[OVERALL]}
    headline = {one.protocol_name: one.estimate for one in metrics.headline}
    return ReproductionRecord(
        name=wanted.name,
        corpus=wanted.corpus,
        label=LABEL,
        citable=False,
        published_by=SystemPart(store=wanted.store, version=wanted.version, embedder=wanted.embedder),
        reproduced_by=SystemPart(
            store=metrics.store.name,
            version=version,
            embedder=metrics.embedder_name,
        ),
        comparable=not differing,
        obstacles=differing,
        figures=[
            ComparedPart(
                figure=one.figure,
                measure=one.measure,
                published=one.frozen,
                published_artefact=one.artefact,
                published_low=one.low,
                published_high=one.high,
                **_reproduced(values),
                canonical_measure=headline[one.figure].measure if one.figure in headline else "",
                canonical=headline[one.figure].value if one.figure in headline else None,
                same_measure_canonical=canonical.get(one.measure),
            )
            for one, values in zip(wanted.published, (recall, first), strict=True)
        ],
        definition=list(wanted.definition),
        flaws=list(wanted.flaws),
        not_repeated=list(wanted.not_repeated),
        depth=wanted.depth,
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


def obstacles(wanted: Reproduction, metrics: Metrics, registered_sha256: str) -> list[str]:
    """Why this run's reproduced figure can't be held against the published one."""
    store, version = metrics.store.name, metrics.store.version
    embedder = metrics.embedder.name if metrics.embedder else "none"
    problems = []
    if store != wanted.store:
        problems.append(f"the store is {store}, the published figure is that of {wanted.store}")
    elif version.removeprefix("v") != wanted.version:
        problems.append(f"the version is {version}, the published figure is that of {wanted.store} {wanted.version}")
    if metrics.store.variant:
        problems.append(f"the store does not work by its defaults: {metrics.store.variant}")
    if embedder != wanted.embedder:
        problems.append(f"the embedder is {embedder}, the published figure was made with {wanted.embedder}")
    if metrics.dataset_sha256 != registered_sha256:
        problems.append(f"the corpus file is {metrics.dataset_sha256}, the published one was {registered_sha256}")
    if metrics.retrieval.limit is not None:
        problems.append(f"only the first {metrics.retrieval.limit} questions were asked")
    return problems
