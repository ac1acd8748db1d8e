"""A result's files, each written once into a folder that appears whole."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import recallbench
from recallbench.addresses import recorded_name
from recallbench.confidential import concealed_lines, without_secrets
from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.corpora.records import Haystack
from recallbench.embedding.embedder import EmbeddingReport
from recallbench.embedding.encoders import Role
from recallbench.embedding.packs.record import PackRecord
from recallbench.embedding.registry import recorded_encoder
from recallbench.escaping.markdown import unformatted
from recallbench.escaping.terminal import visible
from recallbench.reports.report import ReportedRun, render
from recallbench.reports.reproduction import JSON_NAME, PAGE_NAME, ReproductionRecord, document, page
from recallbench.reports.result_page import PAGE, page_of
from recallbench.reports.stages.beside import model_of, stage_costs
from recallbench.results import answers as answer_rows
from recallbench.results import environment, manifest, stages
from recallbench.results.answers import AnswerRow
from recallbench.results.costs import prices, quantities
from recallbench.results.costs.quantities import EmbeddedPart
from recallbench.results.folder import staged
from recallbench.results.known_texts import row_texts
from recallbench.results.latency import NO_OP, read_timings
from recallbench.results.metrics import Metrics
from recallbench.results.pipeline_part import PipelinePart
from recallbench.results.result import open_result
from recallbench.results.retrievals import (
    CONTROL_RUN,
    CONTROL_TAG,
    GRADED,
    NAMES,
    STATIC_RUN,
    STATIC_TAG,
    document_names,
    rows,
    run_tag,
    trec_grades,
    trec_qrels,
    trec_run,
)
from recallbench.retrieval.record import Retrieval
from recallbench.runs.options import Options
from recallbench.scoring.calls import judge_calls
from recallbench.scoring.returned import returned_rows
from recallbench.stores.postgres.postgres import redacted


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The circumstances that differ from run to run."""

    started: datetime
    since: float
    """The same moment by the clock that can't be set, `time.perf_counter()`."""
    options: Options
    embedding: EmbeddingReport | None
    """The embedder's own report."""
    pack: PackRecord | None = None
    """The pack that the vectors are of."""
    embedded: Mapping[Role, EmbeddedPart] = field(default_factory=dict)
    """What embedding the segments and the questions took."""
    stages: Sequence[Mapping[str, Any]] = ()
    """What each stage of a pipeline took over all questions; empty without one."""
    contexts: Sequence[int] = ()
    """How many hits a stage answers from."""


def write(
    folder: Path,
    metrics: Metrics,
    retrieval: Retrieval,
    circumstances: Circumstances,
    texts: Mapping[str, str] | None,
    named: Iterable[Haystack],
    reproduced: ReproductionRecord | None = None,
    answers: Sequence[AnswerRow] = (),
) -> Path:
    """Write every file of the result and return its folder; metrics are validated against their schema first."""
    # Parts are built without checks along the way; what is written has passed them all.
    whole = Metrics.model_validate(metrics.model_dump())
    with staged(folder, explicit=circumstances.options.folder is not None) as draft:
        staging = draft.temporary
        questions, depth, tag = retrieval.questions, metrics.retrieval.depth, run_tag(metrics.store.name)
        environment_document = printable(_environment(folder, circumstances, retrieval, metrics.pipeline))
        write_lines(staging / "metrics.json", [whole.model_dump_json(indent=1), "\n"])
        write_lines(
            staging / "raw_retrievals.jsonl",
            rows(questions, retrieval.candidates, retrieval.rankings, retrieval.short, texts),
        )
        if retrieval.traces:
            write_lines(staging / stages.NAME, stages.rows(retrieval.traces, with_text=texts is not None))
        if answers:
            right = None if texts is None else {question.id: question.answer for question in questions}
            write_lines(staging / answer_rows.NAME, answer_rows.rows(answers, right))
        write_lines(staging / "run.trec", trec_run(questions, retrieval.rankings, depth, tag))
        write_lines(staging / CONTROL_RUN, trec_run(questions, retrieval.control, depth, CONTROL_TAG))
        if retrieval.static is not None:
            write_lines(staging / STATIC_RUN, trec_run(questions, retrieval.static, depth, STATIC_TAG))
        write_lines(staging / "qrels.trec", trec_qrels(questions))
        if any(question.grades for question in questions):
            write_lines(staging / GRADED, trec_grades(questions))
        write_lines(staging / "environment.json", [json.dumps(environment_document, indent=1), "\n"])
        write_lines(staging / "timings.jsonl", _timings(retrieval))
        costs = None if whole.pipeline is None else stage_costs(staging, whole.pipeline, whole.retrieval.asked)
        returned = returned_rows(judge_calls(retrieval), [question.kind for question in questions])
        run = ReportedRun(environment_document, read_timings(staging, environment_document), costs, returned)
        write_lines(staging / "report.md", [render(whole, run)])
        if is_set_name(metrics.corpus.name):
            write_lines(staging / NAMES, document_names(named))
        write_lines(staging / PAGE, [page_of(open_result(staging), whole, row_texts(staging))])
        if reproduced is not None:
            write_lines(staging / JSON_NAME, [document(reproduced)])
            write_lines(staging / PAGE_NAME, [page(reproduced)])
        write_lines(staging / manifest.NAME, [manifest.build(staging)])
    return draft.folder


def write_lines(path: Path, pieces: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(concealed_lines(pieces))


def _environment(
    folder: Path, circumstances: Circumstances, retrieval: Retrieval, pipeline: PipelinePart | None
) -> dict[str, object]:
    embedding = circumstances.embedding
    used = quantities.quantities(retrieval, circumstances.embedded, circumstances.contexts)
    return {
        "started": circumstances.started.isoformat(timespec="seconds"),
        "ended": _ended(circumstances).isoformat(timespec="seconds"),
        "recallbench_version": recallbench.__version__,
        **stated_circumstances(circumstances.options, folder),
        "embedding": embedding.document() if embedding is not None else None,
        **({environment.PACK: circumstances.pack.origin()} if circumstances.pack is not None else {}),
        "seconds": {name: round(seconds, 4) for name, seconds in retrieval.timings.phases.items()},
        "cold_queries": retrieval.timings.cold or "timed",
        "store_calls": retrieval.timings.undivided or "timed",
        **environment.load_document(retrieval.timings.load),
        **({"stages": list(circumstances.stages)} if circumstances.stages else {}),
        quantities.FIELD: used.model_dump(),
        **_prices(pipeline, circumstances.stages),
    }


def stated_circumstances(options: Options, folder: Path) -> dict[str, object]:
    """Return command, options, code, machine, packages and variables, without secrets and places on one machine."""
    recorded = options.recorded()
    servers = [redacted(server) for server in options.dsn if server]
    recorded["dsn"] = servers if len(servers) > 1 else next(iter(servers), None)
    recorded["store"] = recorded_name(options.store) if options.store else None
    recorded["embedder"] = recorded_encoder(options.embedder) if options.embedder else None
    for path in ("cache_dir", "corpus_file", "out", "folder", "environ"):
        del recorded[path]  # where files lay on one machine decides nothing
    return {
        "command": _command(sys.argv[1:] if options.command is None else options.command),
        "options": {name: sorted(v) if isinstance(v, frozenset) else v for name, v in recorded.items()},
        "git": {
            "recallbench": environment.git_state(Path(recallbench.__file__).parent, "."),
            "results": environment.git_state(folder),
        },
        "machine": environment.machine(),
        "packages": environment.packages(),
        "variables": {
            name: os.environ[name]
            for name in ("PYTHONHASHSEED", "HF_HUB_OFFLINE", "OMP_NUM_THREADS")
            if name in os.environ
        },
    }


def _prices(pipeline: PipelinePart | None, totals: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    asked = {total["stage"] for total in totals if "tokens" in total}
    models = [model_of(stage) for stage in pipeline.stages if stage.name in asked] if pipeline is not None else []
    told = prices.recorded(prices.read_prices(), models)
    return {} if told is None else {prices.FIELD: told}


def printable(value: Any) -> Any:
    """Return the same with every text on one line, without control characters and tags: an audit refuses others."""
    if isinstance(value, Mapping):
        return {visible(str(name)): printable(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [printable(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float)) else unformatted(visible(str(value)))


def _ended(circumstances: Circumstances) -> datetime:
    """Return the time now; where the clock was set back meanwhile, the start plus the run's duration."""
    return max(datetime.now(UTC), circumstances.started + timedelta(seconds=time.perf_counter() - circumstances.since))


def _command(words: Sequence[str]) -> list[str]:
    """Return the command line without secrets and without the folders of one machine."""
    command = ["recallbench"]
    for before, word in zip(("", *words), words, strict=False):
        name, equals, value = word.partition("=") if word.startswith("--") else (before, "", word)
        if name == "--dsn" and word != "--dsn":
            value = redacted(value)
        elif name in ("--store", "--against") and word != name:
            value = recorded_name(value)
        elif name in ("--set", "--store-option", "--against-set") and word != name:
            option, assigned, text = value.partition("=")
            value = f"{option}{assigned}{without_secrets({option: text})[option]}"
        elif name == "--embedder" and word != "--embedder":
            value = recorded_encoder(value)
        elif Path(value).is_absolute():
            value = Path(value).name
        command.append(f"{name}={value}" if equals else word if word.startswith("--") else value)
    return command


def _timings(retrieval: Retrieval) -> Iterable[str]:
    for name, seconds in retrieval.timings.phases.items():
        yield json.dumps({"phase": name, "seconds": round(seconds, 6)}) + "\n"
    for call in retrieval.timings.sample:
        row: dict[str, Any] = {"question_id": call.question_id, "state": call.state, "ms": round(call.milliseconds, 4)}
        if call.stages:
            row["stages"] = {stage: round(ms, 4) for stage, ms in call.stages.items()}
        if call.store_call is not None and call.adapter is not None:
            row |= {"store_ms": round(call.store_call, 4), "adapter_ms": round(call.adapter, 4)}
        yield json.dumps(row) + "\n"
    for answer in retrieval.timings.answers:
        row = {"question_id": answer.question_id, "stage": answer.stage, "state": answer.state}
        row["ms"] = round(answer.milliseconds, 4)
        yield json.dumps(row | ({"kept": True} if answer.kept else {})) + "\n"
    for milliseconds in retrieval.timings.no_ops:
        yield json.dumps({"state": NO_OP, "ms": round(milliseconds, 4)}) + "\n"
