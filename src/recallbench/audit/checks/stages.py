"""The lists that each stage of a pipeline handed on, and the figures that rest on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from recallbench.audit.declared import recorded_pipeline
from recallbench.audit.difference import ROUNDING, differing
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.results.rows import Row
from recallbench.results.stage_figures import with_effects
from recallbench.results.stages import HandedRow, StageRow, read_stages
from recallbench.retrieval.pipeline.pipeline import Pipeline, StageSpec
from recallbench.retrieval.pipeline.trace import Handed, QuestionTrace
from recallbench.retrieval.ranking import sort_hits
from recallbench.retrieval.stages.candidates import Candidates, Memory
from recallbench.retrieval.stages.search import DEPTH
from recallbench.retrieval.stages.stage import KEEP, FuseStage, QuestionBatch, StageRequest
from recallbench.scoring.stage_lists import LISTING
from recallbench.stores.store import Query


def lists(subject: AuditSubject) -> Finding:
    pipeline = recorded_pipeline(subject.metrics)
    if pipeline is None:
        return Finding("pass", "a search alone")
    rows = read_stages(subject.folder)
    asked = subject.readable_rows
    if [row.question_id for row in rows] != [row.question_id for row in asked]:
        return Finding("fail", f"{len(rows)} rows, which are not of the {len(asked)} questions in their order")
    traces = [row.trace for row in rows]
    failed, depth = subject.metrics.retrieval.failed, subject.metrics.retrieval.depth
    problems = [
        f"{row.question_id}: {fault}"
        for row, question in zip(rows, asked, strict=True)
        for fault in _chained(row, pipeline, question.candidates, row.question_id in failed)
    ]
    # What is no list of this pipeline can't be looked at any further.
    problems = problems or [
        *_ends(asked, traces, depth),
        *_fused(pipeline, traces, depth),
        *_without_last(pipeline, traces, depth),
        *_alone_of_all(rows, pipeline),
    ]
    return pass_unless(problems, f"{sum(len(row.handed) for row in rows)} lists, each from the one before")


def effects(subject: AuditSubject) -> Finding:
    stated = subject.metrics.pipeline
    if stated is None:
        return Finding("pass", "a search alone")
    by_id = {row.question_id: row.trace for row in read_stages(subject.folder)}
    retrieval = subject.retrieval
    traces = [by_id.get(question.id, QuestionTrace(question.id)) for question in retrieval.questions]
    derived = with_effects(stated, replace(retrieval, traces=traces), subject.survey)
    problems = [
        difference
        for stage, again in zip(stated.stages, derived.stages, strict=True)
        for difference in differing(stage.effect, again.effect, stage.name)
    ]
    return pass_unless(
        problems, f"{sum(stage.effect is not None for stage in stated.stages)} worked out again, all equal"
    )


def _chained(row: StageRow, pipeline: Pipeline, candidates: int, failed: bool) -> Iterator[str]:
    """Yield what is wrong with the lists of one question, each for itself and against the one before."""
    listing = [spec for spec in pipeline if spec.kind in LISTING]
    names = [handed.stage for handed in row.handed]
    if names != ([] if failed else [spec.name for spec in listing]):
        yield f"lists of {', '.join(names) or 'no stage'}"
        return
    pool: set[int] = set()
    for spec, handed in zip(listing, row.handed, strict=bool(names)):
        ids = set(handed.positions)
        if len(handed.positions) != len(handed.scores) or list(handed.positions) != _sorted(handed):
            yield f"{spec.name}: not in the order of its scores, or a segment twice"
        if spec.kind != "search" and not ids <= pool:
            yield f"{spec.name}: hands on what it was not handed"
        if not ids <= set(range(candidates)):
            yield f"{spec.name}: a segment outside the haystack"
        most = KEEP.read(spec.options) if spec.kind != "search" else pipeline.most_texts * DEPTH.read(spec.options)
        if most is not None and len(ids) > most:
            yield f"{spec.name}: hands on {len(ids)}, which is more than {most}"
        pool = pool | ids if spec.kind == "search" else ids
    compared = {f"without {stage}": ranking for stage, ranking in row.without.items()}
    compared |= {f"{leg} alone": ranking for leg, ranking in row.alone.items()}
    for words, ranking in compared.items():
        if len(set(ranking)) < len(ranking) or not set(ranking) <= set(range(candidates)):
            yield f"{words}: a segment twice, or outside the haystack"
    unknown = {*row.without, *row.again} - {spec.name for spec in pipeline}
    if unknown:
        yield f"compared without {', '.join(sorted(unknown))}, which is no stage"
    # An endpoint may have failed in a comparison, and have answered before.
    if (
        names
        and not pipeline.asks_endpoint
        and (lacking := [s.name for s in pipeline.compared if s.name not in row.without])
    ):
        yield f"not compared without {', '.join(lacking)}"
    if not (
        1 <= len(row.variants) <= pipeline.most_texts if names and pipeline.of_kind("rewrite") else not row.variants
    ):
        yield f"{len(row.variants)} texts were searched for in place of it, {pipeline.most_texts} at most are"
    # Of releases that tried the first leg alone there is none.
    if row.alone and [*row.alone] != [leg.name for leg in pipeline.legs[1:]]:
        yield f"alone: {', '.join(row.alone)}, which are not the legs behind the first"


def _alone_of_all(rows: Sequence[StageRow], pipeline: Pipeline) -> Iterator[str]:
    """Yield the questions for which no leg was tried alone, where it was for others; an endpoint may fail at some."""
    if not pipeline.asks_endpoint and any(row.alone for row in rows):
        yield from (f"{row.question_id}: no leg alone" for row in rows if row.handed and not row.alone)


def _sorted(handed: HandedRow) -> list[int]:
    return list(sort_hits(list(zip(handed.positions, handed.scores, strict=False)))[0])


def _ends(rows: Sequence[Row], traces: Sequence[QuestionTrace], depth: int) -> Iterator[str]:
    """Yield the questions whose last list is not the ranking of raw_retrievals.jsonl."""
    for row, trace in zip(rows, traces, strict=True):
        last = trace.handed[-1] if trace.handed else Handed("", (), ())
        ids = {f"{row.scope}/{position}": position for position in last.positions}
        hits = tuple(ids.get(hit.id, -1) for hit in row.hits)
        if not _is_cut(hits, last, depth) or tuple(hit.score for hit in row.hits) != last.scores[: len(hits)]:
            yield f"{row.question_id}: the last list is not its ranking"


def _fused(pipeline: Pipeline, traces: Sequence[QuestionTrace], depth: int) -> Iterator[str]:
    """Yield the questions whose legs, fused again, give another list; where nothing but their lists decides that.

    Where fusion comes last, also those whose ranking without a leg is not the fusion of the others.
    """
    fuse = next(iter(pipeline.of_kind("fuse")), None)
    if fuse is None or pipeline.of_kind("rewrite") or not issubclass(fuse.stage, FuseStage):
        return
    kind, answered = fuse.stage, [trace for trace in traces if trace.handed]
    if kind.needs_texts or kind.needs_vectors or kind.asks_endpoint or not answered:
        return
    legs = [leg.name for leg in pipeline.legs]
    for trace, (positions, scores) in zip(answered, _fuse(fuse, legs, legs, answered), strict=True):
        stated = trace.handed[len(legs)]
        if positions != stated.positions or not np.allclose(scores, stated.scores, rtol=0, atol=ROUNDING):
            yield f"{trace.question_id}: {fuse.name} of its legs gives another list"
    if pipeline.of_kind("diversify", "rerank") or len(legs) < 2:
        return
    for leg in legs:
        others = _fuse(fuse, [name for name in legs if name != leg], legs, answered)
        for trace, (positions, scores) in zip(answered, others, strict=True):
            ranking = trace.without.get(leg)
            if ranking is not None and not _is_cut(ranking, Handed("", positions, scores), depth):
                yield f"{trace.question_id}: without {leg} it is not {fuse.name} of the other legs"


def _fuse(
    fuse: StageSpec, chosen: Sequence[str], legs: Sequence[str], traces: Sequence[QuestionTrace]
) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Return positions and scores of the chosen legs of each question, fused again."""
    stage = fuse.stage.open(StageRequest(fuse.name, fuse.options, legs=legs))
    assert isinstance(stage, FuseStage)
    found = [
        Candidates.of([list(zip(t.handed[n].positions, t.handed[n].scores, strict=True)) for t in traces])
        for n in map(legs.index, chosen)
    ]
    batch = QuestionBatch([Query(0, "", None)] * len(traces), Memory(texts=False, vectors=False))
    fused, keep = stage.fuse(batch, found, chosen), KEEP.read(fuse.options)
    return [sort_hits(hits) for hits in (fused if keep is None else fused.first(keep)).hits()]


def _without_last(pipeline: Pipeline, traces: Sequence[QuestionTrace], depth: int) -> Iterator[str]:
    """Yield the questions whose ranking without the last stage is not the list before it."""
    listing = [spec for spec in pipeline if spec.kind in LISTING]
    last = listing[-1]
    if last.kind == "search" or (last.kind == "fuse" and pipeline.of_kind("rewrite")):
        return
    before = 0 if last.kind == "fuse" else len(listing) - 2
    for trace in traces:
        stated = trace.without.get(last.name)
        if trace.handed and (stated is None or not _is_cut(stated, trace.handed[before], depth)):
            yield f"{trace.question_id}: without {last.name} it is not the list before"
        for leg, ranking in trace.alone.items() if last.kind == "fuse" else ():
            own = next((handed for handed in trace.handed if handed.stage == leg), None)
            if own is not None and not _is_cut(ranking, own, depth):
                yield f"{trace.question_id}: {leg} alone is not its own list"


def _is_cut(positions: tuple[int, ...], handed: Handed, depth: int) -> bool:
    """Return whether these are the first of a list; of equal scores at the cut, any may stand before it."""
    count = min(depth, len(handed.positions))
    if len(positions) != count or not count:
        return len(positions) == count
    last = handed.scores[count - 1]
    above = sum(score > last for score in handed.scores)
    tied = {position for position, score in zip(handed.positions, handed.scores, strict=True) if score == last}
    return positions[:above] == handed.positions[:above] and tied.issuperset(positions[above:])


LISTS = Examination(
    "RB-STAGES", "stages", "each list follows from the one before, and the last one is the ranking", lists
)
EFFECTS = Examination("RB-STAGE-EFFECTS", "stage effects", "what each stage did, as the lists give it", effects)
