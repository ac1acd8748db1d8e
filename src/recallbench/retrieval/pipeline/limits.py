"""How many candidates each stage can see at most, and which stages can't change what is in the top k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recallbench.retrieval.pipeline.pipeline import Pipeline, StageSpec
from recallbench.retrieval.stages.search import DEPTH
from recallbench.retrieval.stages.stage import KEEP


def deepest(pipeline: Pipeline) -> int:
    """Return how many hits the pipeline can hand on at most."""
    given = _found(pipeline)
    for spec in pipeline.of_kind("fuse", "diversify", "rerank"):
        given = _kept(spec, given)
    return given


def idle_stages(pipeline: Pipeline, k: int) -> Iterator[tuple[StageSpec, str]]:
    """Yield the stages that can't change which segments are in the top k, and why not."""
    given = _found(pipeline)
    for spec in pipeline.of_kind("fuse", "diversify", "rerank"):
        if spec.kind != "fuse":
            looked_at = spec.stage.most_looked_at(spec.options, given)
            if given <= k:
                yield spec, f"it is handed no more than {given} candidates, so it runs after the cut"
            elif looked_at <= k:
                yield spec, f"it moves no more than the first {looked_at} among themselves"
        given = _kept(spec, given)


def limit_notes(pipeline: Pipeline, k: int, depth: int) -> Sequence[str]:
    """Return what is to be said before a run: stages that can't help, and rankings that are shorter than asked."""
    notes = [
        f"{spec.name} can't change which segments are in the top {k}: {why}" for spec, why in idle_stages(pipeline, k)
    ]
    most = deepest(pipeline)
    if most < depth:
        notes.append(f"the pipeline hands on at most {most} hits: nothing below place {most} can count")
    return notes


def _found(pipeline: Pipeline) -> int:
    return pipeline.most_texts * sum(int(DEPTH.read(leg.options)) for leg in pipeline.legs)


def _kept(spec: StageSpec, given: int) -> int:
    keep = KEEP.read(spec.options)
    return given if keep is None else min(given, int(keep))
