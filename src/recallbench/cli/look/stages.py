"""`recallbench stages`: the stages there are, and what each one of a result's pipeline is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli.command import PATH, VARIABLES, argument, choice, command, option, typed
from recallbench.reports.table import Table, print_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recallbench.reports.stages.beside import Beside
    from recallbench.reports.stages.document import MovedGoldPart, StageCostPart, StageDocument
    from recallbench.results.result import Result
    from recallbench.retrieval.stages.stage import Kind
    from recallbench.scoring.gold_moves import Way

EXAMPLES = "Examples: recallbench stages; recallbench stages results/0.4.2_20261119 --questions demoted."


@command(
    argument(
        "result",
        "A result that was made by a pipeline; without it, the stages that there are.",
        required=False,
        metavar="[DIR]",
        type=PATH,
    ),
    choice("questions", "Name the questions whose gold a stage moved this way.", ["promoted", "demoted", "lost"]),
    option("stage", "Only the questions of this stage, by its name in the pipeline."),
    choice("format", "How it is printed.", ["text", "markdown", "csv", "json", "html"], default="text"),
    epilog=f"{EXAMPLES} {VARIABLES}",
)
def stages(result: Path | None, questions: Way | None, stage: str | None, format: str) -> int:
    """List the stages that a pipeline can have, or show what each stage of a result's pipeline did.

    For each stage: the rankings it changed, gold promoted into and demoted out of the top 10, the ceiling of what it
    hands on, what fusion lost, and the paired difference to the same pipeline without it, beside what it adds to p50
    and p95.
    """
    from recallbench.errors import UsageError
    from recallbench.reports.stages.beside import beside_of
    from recallbench.results.result import open_with_manifest

    if result is None:
        if given := typed("questions", "stage", "format"):
            raise UsageError(f"{given} is about a result", expected="recallbench stages DIR", found="no folder")
        _list()
        return 0
    if stage is not None and questions is None:
        raise UsageError(
            "--stage goes with --questions", expected="--questions promoted, demoted or lost", found="none"
        )
    opened = open_with_manifest(result)
    _print(_document(opened, questions, stage), beside_of(opened.folder), format)
    return 0


def _document(result: Result, way: Way | None, chosen: str | None) -> StageDocument:
    from recallbench import __version__
    from recallbench.errors import InputError, UsageError
    from recallbench.reports.stages.document import StageDocument
    from recallbench.reports.stages.table import idle_sentences

    pipeline = result.metrics.pipeline
    if pipeline is None:
        raise InputError(
            f"{result.folder} has no stages",
            expected="a result that was made by a pipeline",
            found="a search alone",
            remedy="make one with `recallbench run CORPUS --pipeline FILE`",
        )
    names = [stage.name for stage in pipeline.stages]
    if chosen is not None and chosen not in names:
        raise UsageError(f"the pipeline has no stage {chosen}", expected=", ".join(names), found=chosen)
    return StageDocument(
        schema_version="1",
        recallbench_version=__version__,
        result=str(result.folder),
        asked=result.metrics.retrieval.asked,
        pipeline=pipeline,
        costs=_costs(result, names),
        told=idle_sentences(pipeline),
        way=way,
        moved=[] if way is None else [move for move in _moved(result, way) if chosen in (None, move.stage)],
    )


def _costs(result: Result, names: Sequence[str]) -> dict[str, StageCostPart]:
    from recallbench.reports.stages.document import StageCostPart
    from recallbench.results.costs.quantities import read_stage_quantities
    from recallbench.results.latency import stage_latencies
    from recallbench.usage import Usage

    times = {latency.stage: latency for latency in stage_latencies(result.folder, "warm")}
    tokens = {used.stage: used.tokens for used in read_stage_quantities(result.folder)}
    costs = {}
    for name in names:
        timed = times.get(name)
        p50, p95 = (None, None) if timed is None else (part.value for part in timed.percentiles()[:2])
        count = 0 if timed is None else timed.n
        costs[name] = StageCostPart(timed=count, p50_ms=p50, p95_ms=p95, tokens=tokens.get(name, Usage()))
    return costs


def _moved(result: Result, way: Way) -> list[MovedGoldPart]:
    from recallbench.reports.stages.document import MovedGoldPart
    from recallbench.results.kept import kept_retrieval
    from recallbench.results.stages import read_stages
    from recallbench.retrieval.record import Calls
    from recallbench.retrieval.stages.registry import known_kind
    from recallbench.scoring.gold_moves import gold_moves

    pipeline, rankings = result.metrics.pipeline, result.rankings
    assert pipeline is not None
    traces = [row.trace for row in read_stages(result.folder)]
    k = next(stage.effect.k for stage in pipeline.stages if stage.effect is not None)
    retrieval = kept_retrieval(result.rows(), traces, Calls(k, result.metrics.retrieval.depth))
    kinds = {stage.name: known_kind(stage.kind) for stage in pipeline.stages}
    return [
        MovedGoldPart(
            stage=move.stage,
            question_id=question.id,
            kind=question.kind,
            gold=rankings.name_of(f"{question.scope}/{move.position}"),
            before=move.before,
            after=move.after,
        )
        for move in gold_moves(kinds, retrieval, way, k)
        for question in [retrieval.questions[move.question]]
    ]


def _print(document: StageDocument, beside: Beside, format: str) -> None:
    from recallbench.escaping.document import plain
    from recallbench.reports.stages import document as report

    if format == "json":
        print(plain(document.model_dump_json(indent=1)))
    elif format == "csv":
        print(report.sheet(document).csv(), end="")
    elif format == "markdown":
        print(report.markdown(document, beside), end="")
    elif format == "html":
        print(report.page(document, beside), end="")
    else:
        print_parts(*report.parts(document, beside))


def _list() -> None:
    from recallbench.retrieval.stages.registry import METHODS, options_of, stage_class

    by_class: dict[str, tuple[Kind, list[str]]] = {}
    for kind, methods in METHODS.items():
        for method, path in methods.items():
            by_class.setdefault(path, (kind, []))[1].append(method)
    known = [(kind, methods, stage_class(kind, methods[0])) for kind, methods in by_class.values()]
    print_parts(
        Table(("kind", "method", "what it does"), [(kind, ", ".join(m), stage.summary) for kind, m, stage in known])
    )
    print("\nwhat the table of a stage in a pipeline's file may hold beside kind, method and a name of its own:")
    rows = [
        (kind, ", ".join(methods), f"{option.name} = {'|'.join(option.values) or '…'}", option.description)
        for kind, methods, _ in known
        for option in options_of(kind, methods[0])
    ]
    print_parts(Table(("kind", "method", "option", "what it decides"), rows))
