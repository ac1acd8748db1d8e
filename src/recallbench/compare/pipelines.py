"""A result held to the pipeline that it is to have been made by."""

from __future__ import annotations

from recallbench.errors import UsageError
from recallbench.results.metrics import Metrics
from recallbench.retrieval.pipeline.pipeline import Pipeline, pipeline_words
from recallbench.retrieval.stages.search import SearchStage


def refuse_other_pipeline(metrics: Metrics, name: str, pipeline: Pipeline) -> None:
    """Raise UsageError where a result was made by another pipeline than this one."""
    stated = metrics.pipeline
    searched = SearchStage.store_name(pipeline.main_leg.method, metrics.store.name)
    if stated is not None:
        fits, found = stated.sha256 == pipeline.sha256, pipeline_words(stated.words, stated.sha256)
    else:
        fits = pipeline.searches_alone and searched == metrics.store.name
        found = f"search alone, of {metrics.store.name}"
    if fits:
        return
    expected = (
        f"search alone, of {searched}" if pipeline.searches_alone else pipeline_words(pipeline.words(), pipeline.sha256)
    )
    raise UsageError(
        f"{name} was not made by {pipeline.source}",
        expected=expected,
        found=found,
        remedy=f"recallbench run {metrics.corpus.name} --pipeline {pipeline.source}, or name that result",
    )
