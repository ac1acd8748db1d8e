"""The prerequisites of a run, whether they are here, and how much work it would be."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Literal

from recallbench.citing.publication import read_text
from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.registry import encoder_status
from recallbench.errors import Blocked, RecallBenchError
from recallbench.progress import Silent
from recallbench.protocol.deviations import Deviation
from recallbench.protocol.frozen import load
from recallbench.protocol.history import nearest, unrecorded
from recallbench.results.environment import git_state
from recallbench.results.folder import check_writable
from recallbench.retrieval.stages.stage import StageRequest
from recallbench.retrieval.static_control import ENCODER
from recallbench.runs.options import Options
from recallbench.runs.placement import result_folder, results_parent
from recallbench.runs.plan import Plan, plan_run
from recallbench.runs.workload import vector_bytes, workload
from recallbench.stores.postgres.postgres import has_extension
from recallbench.stores.registry import REFERENCE_STORE

Status = Literal["ready", "NOT READY", "warning", "note"]
ARTEFACT_BYTES = 64 << 20
"""Room a result folder needs at most: LongMemEval's with texts left out takes about a tenth."""


@dataclass(frozen=True, slots=True)
class ReadinessRow:
    """One prerequisite, or one figure of the run to expect."""

    name: str
    status: Status
    detail: str
    remedy: str = ""


def readiness(options: Options) -> tuple[ReadinessRow, ...]:
    """The readiness table of the run that `options` asks for. Nothing is embedded, started or written."""
    rules = load()
    rows = [
        ReadinessRow(
            "protocol",
            "ready",
            f"{rules.version}, sha256 {rules.sha256[:12]}…, {len(rules.clarifications)} clarifications",
        )
    ]
    try:
        plan, server = plan_run(options), []
    except Blocked as error:
        problem = f"{error.problem}: {error.found}" if error.found else error.problem
        server = [ReadinessRow("server", "NOT READY", problem, error.remedy)]
        plan = plan_run(replace(options, store=REFERENCE_STORE))
    sha256, corpus = _corpus(plan)
    deviations = plan.departures(sha256 or plan.corpus.sha256)
    return (
        *rows,
        corpus,
        *server,
        *(ReadinessRow("choice", "note", line) for line in plan.announcements),
        _weights(plan),
        *_static_control(plan),
        _checked("store", lambda: plan.store_status),
        *_endpoints(plan),
        _extension(plan),
        _version(plan),
        _disk(plan),
        _folder(plan),
        _git(options),
        *(ReadinessRow("deviation", "note", plain_names(str(deviation))) for deviation in deviations),
        *_history(plan, deviations),
        *_work(plan),
    )


def _checked(name: str, ask: Callable[[], tuple[bool, str, str]]) -> ReadinessRow:
    ready, detail, remedy = ask()
    return ReadinessRow(name, "ready" if ready else "NOT READY", detail, "" if ready else remedy)


def _corpus(plan: Plan) -> tuple[str, ReadinessRow]:
    try:
        corpus = plan.open_corpus(fetch=False)
    except RecallBenchError as error:
        told = {"expected": error.expected, "found": error.found}
        seen = "; ".join(f"{label} {text}" for label, text in told.items() if text)
        return "", ReadinessRow(
            "corpus", "NOT READY", f"{error.problem} ({seen})" if seen else error.problem, error.remedy
        )
    return corpus.sha256, ReadinessRow("corpus", "ready", f"{corpus.path.name}, sha256 {corpus.sha256}")


def _weights(plan: Plan) -> ReadinessRow:
    name, options = plan.embedder, plan.options
    if name is None:
        return ReadinessRow("weights", "ready", f"store {plan.store} needs no vectors")
    typed = options.embedder or name
    try:
        pack = plan.find_pack(Silent(), fetch=False)
    except RecallBenchError:
        pack = None  # the rows on weights and corpus say what is missing
    if pack is not None:
        return ReadinessRow(f"vectors of {name}", "ready", f"{pack.words}: no weights are needed")
    return _checked(
        f"weights of {name}" if name in ENCODERS else "encoder",
        lambda: encoder_status(typed, options.environ, options.cache_dir, options.max_tokens),
    )


def _static_control(plan: Plan) -> Iterator[ReadinessRow]:
    options = plan.options
    if options.controls != "bm25":
        yield _checked("static control", lambda: encoder_status(ENCODER, options.environ, options.cache_dir))


def _endpoints(plan: Plan) -> Iterator[ReadinessRow]:
    for spec in plan.pipeline or ():
        if spec.stage.asks_endpoint:
            request = StageRequest(spec.name, spec.options, plan.options.environ, plan.options.cache_dir)
            yield _checked(f"stage {spec.name}", partial(spec.stage.endpoint_status, request))


def _extension(plan: Plan) -> ReadinessRow:
    servers, name = plan.servers, plan.rules.canonical_store
    if not servers:
        return ReadinessRow("extension", "note", f"{name}: none, since no PGMNEMO_DSN or --dsn names a server")
    try:
        versions = [has_extension(server, name) or "is not installed" for server in servers]
    except RecallBenchError as error:
        return ReadinessRow("extension", "NOT READY", f"{name}: {error.problem}", error.remedy)
    on = " on the server" if versions == ["is not installed"] else ""
    return ReadinessRow("extension", "note", f"{name} {', '.join(dict.fromkeys(versions))}{on}")


def _version(plan: Plan) -> ReadinessRow:
    version, store = plan.options.version, plan.store
    requested = version or "not asked for (--version)"
    if store != plan.rules.canonical_store:
        detail = f"{requested}; the gate compares what {store} states before and after the run"
        return ReadinessRow("version", "note", detail)
    try:
        there = has_extension(next(iter(plan.servers), ""), store) if version else ""
    except RecallBenchError:
        there = ""  # the rows on store and extension say so
    if version and there and version.removeprefix("v") != there:
        detail = f"{requested}, but the server has {store} {there}: the gate on the version would fail"
        remedy = "name the version that is installed, or install the one asked for"
        return ReadinessRow("version", "NOT READY", detail, remedy)
    return ReadinessRow("version", "note", f"{requested}; compared with the extension's own when the run is made")


def _disk(plan: Plan) -> ReadinessRow:
    need = ARTEFACT_BYTES + vector_bytes(plan)
    place = plan.options.cache_dir
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    detail = f"{free >> 20:,} MiB free, about {need >> 20:,} MiB needed"
    if free <= 2 * need:
        return ReadinessRow("disk", "NOT READY", detail, "free some room")
    return ReadinessRow("disk", "ready", detail)


def _folder(plan: Plan) -> ReadinessRow:
    try:
        folder = result_folder(plan.options, plan.store, date.today())
        check_writable(plan.options.cache_dir / "vectors")
    except RecallBenchError as error:
        return ReadinessRow("folders", "NOT READY", f"{error.problem}: {error.found}", error.remedy)
    return ReadinessRow("folders", "ready", f"the result would be {folder.name}")


def _git(options: Options) -> ReadinessRow:
    state = git_state(options.folder or results_parent(options))
    if not state:
        return ReadinessRow("git", "note", "results would lie outside git, which only those that are to be cited need")
    detail = f"results lie in a checkout at {state['commit']}"
    return (
        ReadinessRow("git", "ready", detail)
        if state["clean"]
        else ReadinessRow("git", "warning", f"{detail}, with changes")
    )


def _history(plan: Plan, deviations: Sequence[Deviation]) -> Iterator[ReadinessRow]:
    file = nearest(plan.options.folder or results_parent(plan.options)) or nearest(Path.cwd())
    if file is None:
        yield ReadinessRow("history", "warning", "no HISTORY.md above this folder, so no deviation is on record")
        return
    for deviation in unrecorded(deviations, read_text(file), plan.corpus.name):
        detail = f"HISTORY.md has no entry for the deviation {deviation.name} on {plan.corpus.name}"
        yield ReadinessRow("history", "warning", detail)


def _work(plan: Plan) -> Iterator[ReadinessRow]:
    for name, detail in workload(plan).items():
        yield ReadinessRow(name, "note", detail)
