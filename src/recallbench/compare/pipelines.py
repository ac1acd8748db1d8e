"""A result held to the pipeline that it is to have been made by."""

from __future__ import annotations

from recallbench.errors import UsageError
from recallbench.results.metrics import Metrics
from recallbench.retrieval.pipeline.pipeline import Pipeline, pipeline_words

ALLOWED = "pipeline"
"""What a comparison that names a pipeline need not be allowed any more."""


def refuse_other_pipeline(metrics: Metrics, name: str, pipeline: Pipeline) -> None:
    """Raise UsageError where a result was made by another pipeline than this one."""
    stated = metrics.pipeline
    alone = pipeline.searches_alone
    if (stated is None and alone) or (stated is not None and stated.sha256 == pipeline.sha256):
        return
    raise UsageError(
        f"{name} was not made by {pipeline.source}",
        expected="search alone" if alone else pipeline_words(pipeline.words(), pipeline.sha256),
        found="search alone" if stated is None else pipeline_words(stated.words, stated.sha256),
        remedy=f"recallbench run {metrics.corpus.name} --pipeline {pipeline.source}, or name that result",
    )
