"""A pipeline opened: its stores, its stages, and the encoder that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from recallbench.embedding.embedder import Embedder, Matrix
from recallbench.progress import Progress
from recallbench.retrieval.pipeline.chain import Encode, Leg, OpenedStage
from recallbench.retrieval.pipeline.composite import PipelineStore
from recallbench.retrieval.pipeline.pipeline import Pipeline, StageSpec
from recallbench.retrieval.pipeline.shared_legs import SharedLegs
from recallbench.retrieval.stages.search import DEPTH, SearchStage
from recallbench.retrieval.stages.stage import StageRequest
from recallbench.stores.registry import asks_vectors, open_store
from recallbench.stores.store import Store


def open_pipeline(
    pipeline: Pipeline,
    under_test: Callable[[Mapping[str, str]], Store],
    embedder: Embedder | None,
    *,
    environ: Mapping[str, str],
    cache_dir: Path,
    progress: Progress | None = None,
    shared: SharedLegs | None = None,
) -> PipelineStore:
    """Return the pipeline as a store, not yet prepared; `under_test` opens the store under test with these options.

    With `shared`, a leg that another pipeline has already is searched there, and once for each question.
    What was opened is closed again where something can't be.
    """
    with ExitStack() as opened:
        legs = []
        for spec in pipeline.legs:
            if spec.method == "store":
                opening = partial(under_test, spec.store_options)
            else:
                name = SearchStage.store_name(spec.method, "")
                opening = partial(open_store, name, environ=environ, options=spec.store_options, progress=progress)
            store = opening() if shared is None else shared.open(spec.method, spec.store_options, opening)
            opened.callback(store.close)
            legs.append(Leg(spec, store, DEPTH.read(spec.options)))
        stages = []
        for spec in pipeline.of_kind("rewrite", "fuse", "diversify", "rerank"):
            names = [leg.name for leg in pipeline.legs]
            request = StageRequest(spec.name, spec.options, environ, cache_dir, progress, names)
            stage = spec.stage.open(request)
            opened.callback(stage.close)
            stages.append(OpenedStage(spec, stage))
        store = PipelineStore(pipeline, legs, stages, None if embedder is None else _encode(embedder))
        opened.pop_all()
    return store


def pipeline_needs_vectors(
    pipeline: Pipeline, under_test: str, *, environ: Mapping[str, str], options: Mapping[str, str]
) -> bool:
    """Return whether any part of it takes vectors; `options` are those of the store under test."""
    if any(spec.stage.needs_vectors for spec in pipeline.of_kind("rewrite", "fuse", "diversify", "rerank")):
        return True
    return any(_leg_needs_vectors(leg, under_test, environ, options) for leg in pipeline.legs)


def _leg_needs_vectors(leg: StageSpec, under_test: str, environ: Mapping[str, str], options: Mapping[str, str]) -> bool:
    own = {**options, **leg.store_options} if leg.method == "store" else leg.store_options
    return asks_vectors(SearchStage.store_name(leg.method, under_test), environ=environ, options=own)


def _encode(embedder: Embedder) -> Encode:
    def encode(texts: Sequence[str], as_passages: bool) -> Matrix:
        return embedder.lookup(texts, "passage" if as_passages else "query").vectors

    return encode
