"""The pipeline of a result: its record is whole, and agrees with its hash and with the rest of metrics.json."""

from collections.abc import Iterator

from recallbench import __version__
from recallbench.audit.checks.recorded import SHOWN
from recallbench.audit.declared import recorded_pipeline
from recallbench.audit.examination import CannotTell, Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.results.pipeline_part import PipelinePart
from recallbench.retrieval.pipeline.pipeline import Pipeline, stages_sha256
from recallbench.retrieval.stages.search import SearchStage
from recallbench.retrieval.stages.stage import Stage


def pipeline(subject: AuditSubject) -> Finding:
    stated = subject.metrics.pipeline
    if stated is None:
        return Finding("pass", "a search alone")
    try:
        read = recorded_pipeline(subject.metrics)
    except CannotTell as error:
        return Finding("fail", str(error))
    assert read is not None
    problems = [*_record(stated, read), *_legs(subject, stated, read)]
    # Prompts and weights of another release are its own.
    if subject.metrics.recallbench_version == __version__:
        problems += _settings(stated, read)
    return pass_unless(problems, f"{len(stated.stages)} stages, as their hash has them")


def _record(stated: PipelinePart, read: Pipeline) -> Iterator[str]:
    if stages_sha256([stage.model_dump() for stage in stated.stages]) != stated.sha256:
        yield "a sha256 that is not the stages'"
    for stage, spec in zip(stated.stages, read, strict=True):
        if stage.options != spec.recorded()["options"]:
            yield f"{stage.name}: options {stage.options}, a run records {spec.recorded()['options']}"
    if stated.words != read.words():
        yield f"words {stated.words}, the stages say {read.words()}"


def _settings(stated: PipelinePart, read: Pipeline) -> Iterator[str]:
    """Yield the stages that tell of themselves what no run with their options does, such as another prompt."""
    for stage, spec in zip(stated.stages, read, strict=True):
        if spec.kind == "search":
            continue  # RB-RECORDED compares it with its store
        for name, value in spec.stage.states(spec.options).items():
            if stage.settings.get(name) != value:
                yield f"{stage.name}: {name} {stage.settings.get(name, 'not stated')[:SHOWN]}, a run states {value}"
        if spec.stage.settings is Stage.settings and stage.settings:
            yield f"{stage.name}: states {', '.join(stage.settings)[:SHOWN]}, which no run does"


def _legs(subject: AuditSubject, stated: PipelinePart, read: Pipeline) -> Iterator[str]:
    metrics = subject.metrics
    for stage, spec in zip(stated.stages, read, strict=True):
        if spec.kind != "search":
            if stage.store or stage.version or stage.evidence:
                yield f"{stage.name}: {spec.kind} searches no store"
            continue
        searched = SearchStage.store_name(spec.method, metrics.store.name)
        if stage.store != searched:
            yield f"{stage.name}: searches {searched}, {stage.store or 'no store'} stated"
        if spec is read.main_leg:
            own = (metrics.store.name, metrics.store.version_after, metrics.guc_state)
            if (stage.store, stage.version, stage.settings) != own:
                yield f"{stage.name}: not the store, version and settings of the result"


PIPELINE = Examination(
    "RB-PIPELINE", "pipeline", "every stage is recorded, as the hash and the rest of the result have it", pipeline
)
