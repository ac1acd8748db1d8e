"""Runs as the job of a worker: each is made there like anywhere, and its folder comes back whole."""

from __future__ import annotations

import io
import os
import sys
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from recallbench.addresses import recorded_name
from recallbench.cluster.crew import open_crew
from recallbench.cluster.engine import HERE, Engine
from recallbench.cluster.job import Failed, Share
from recallbench.cluster.worker import cores_here
from recallbench.confidential import without_secrets
from recallbench.embedding.machine import library_versions
from recallbench.embedding.openvino_engine import keep_to_cores
from recallbench.embedding.registry import default_cache_dir
from recallbench.errors import RecallBenchError
from recallbench.progress import Progress, Silent
from recallbench.results.environment import packages
from recallbench.results.folder import staged
from recallbench.runs.options import Options
from recallbench.runs.plan import Plan, plan_run
from recallbench.runs.run import run
from recallbench.runs.searched import SearchedStore
from recallbench.stores.postgres.postgres import redacted
from recallbench.stores.registry import DSN_VARIABLE, servers_of, store_class, store_status

OWN_FOLDER = Path()
"""In place of a cache folder: that of the node."""
SEED = "PYTHONHASHSEED"


def sent(options: Options) -> Options:
    """Return options as a node is sent them: without what is of this machine alone, but with the server it names."""
    cache_dir = options.cache_dir.resolve()
    usual = default_cache_dir(options.environ).resolve()
    return replace(
        options,
        engine=Engine("ray", at_work=True),
        environ={DSN_VARIABLE: options.environ.get(DSN_VARIABLE, "")},
        cache_dir=OWN_FOLDER if cache_dir == usual else cache_dir,
        corpus_file=None if options.corpus_file is None else options.corpus_file.resolve(),
        command=tuple(sys.argv[1:]) if options.command is None else options.command,
    )


def received(options: Options) -> Options:
    """Return options that were sent here, with this node's own folders and other variables."""
    environ = {**os.environ, **options.environ}
    cache_dir = default_cache_dir(environ) if options.cache_dir == OWN_FOLDER else options.cache_dir
    return replace(options, environ=environ, cache_dir=cache_dir)


def deciding_facts(plans: Sequence[Plan]) -> dict[str, str]:
    """Return what decides the rankings of these plans: packages, files of corpora, stores, encoders."""
    facts = {**packages(), SEED: plans[0].options.environ.get(SEED) or "not set"}
    for plan in plans:
        facts[f"corpus {plan.corpus.name}"] = _file_of(plan)
        facts |= {f"store {_named_store(store)}": _status_of(store, plan) for store in plan.stores}
        if plan.embedder is not None and f"encoder {plan.embedder}" not in facts:
            with plan.open_embedder(Silent(), packs=False) as embedder:
                assert embedder is not None  # a plan with an encoder has one
                of_encoder = f"{embedder.fingerprint['backend']}, fingerprint {embedder.fingerprint_sha256[:16]}"
                facts[f"encoder {plan.embedder}"] = of_encoder
    return facts


def _file_of(plan: Plan) -> str:
    try:
        return f"sha256 {plan.open_corpus(fetch=False).sha256}"
    except RecallBenchError as error:
        return f"not here ({error.problem})"


def share_machine(plans: Sequence[Plan], cores: int) -> None:
    """Keep what these plans embed to a worker's share of the machine's cores."""
    with_encoder = any(plan.embedder is not None for plan in plans)
    if with_encoder and cores < cores_here() and library_versions()["openvino"]:
        keep_to_cores(cores)


def _named_store(store: SearchedStore) -> str:
    given = without_secrets({name: str(value) for name, value in store.options.items()})
    return " ".join([recorded_name(store.name), *(f"{name}={value}" for name, value in sorted(given.items()))])


def _status_of(store: SearchedStore, plan: Plan) -> str:
    kind = store_class(store.name)
    servers = () if kind.servers == "none" else servers_of(store.servers, plan.options.environ)
    if not servers and not kind.outside:
        return "without a server"
    status = store_status(store.name, servers, plan.options.environ, store.options)
    if not status.ready:
        return f"not here ({status.detail})"
    return ", ".join([*map(redacted, servers), *status.decides]) or "here"


def differing(wanted: Iterable[Options]) -> list[Options]:
    """Return one of all options with the same corpus, stores and encoder: what a node has of these is stated once."""

    def of(each: Options) -> tuple[object, ...]:
        pipeline = None if each.pipeline is None else each.pipeline.sha256
        encoder = (each.embedder, each.max_tokens)
        return each.corpus, each.store, each.dsn, sorted(each.store_options.items()), pipeline, encoder

    return list({repr(of(each)): each for each in wanted}.values())


def run_on_nodes(wanted: Mapping[Path, Options], progress: Progress, today: date) -> dict[Path, RecallBenchError]:
    """Make the runs of these options on the nodes of their engine, and put each result into its folder.

    Returns what failed, by its folder; raises Blocked where no node can work. What is there when this is interrupted
    is whole.
    """
    failed: dict[Path, RecallBenchError] = {}
    if not wanted:
        return failed
    runs = list(wanted.items())
    of_each = differing(options for _, options in runs)
    expected = deciding_facts([plan_run(replace(each, engine=HERE)) for each in of_each])
    job = RunJob(tuple(map(sent, of_each)), today)
    with (
        open_crew(runs[0][1].engine, job, expected, "the runs", progress) as crew,
        progress.stage("runs on nodes", len(runs), "runs") as advance,
    ):
        for place, came, _ in crew.work((sent(options) for _, options in runs), _named):
            folder = runs[place][0]
            if isinstance(came, Failed):
                failed[folder] = came.error
            else:
                unpack(came.value, folder)
            advance(1)
    return failed


def _named(options: Options) -> str:
    return f"a run of {options.corpus} with {options.store or 'the default store'}"


@dataclass(frozen=True, slots=True)
class RunJob:
    """Runs on corpora whose files a worker has."""

    options: tuple[Options, ...]
    """One for each corpus, store and encoder, as they are sent."""
    today: date

    @property
    def share(self) -> Share:
        return "node"

    def open(self, cores: int, *, gpu: bool) -> OpenedRuns:
        plans = [plan_run(received(options)) for options in self.options]
        share_machine(plans, cores)
        return OpenedRuns(deciding_facts(plans), self.today)


class OpenedRuns:
    """Runs on a worker."""

    def __init__(self, facts: Mapping[str, str], today: date) -> None:
        self._facts, self._today = facts, today

    def facts(self) -> Mapping[str, str]:
        return self._facts

    def do(self, item: Options) -> bytes:
        """Make a run, and return its folder."""
        with TemporaryDirectory(prefix="recallbench-") as room:
            outcome = run(replace(received(item), folder=Path(room) / "result"), Silent(), self._today)
            return packed(outcome.folder)


def packed(folder: Path) -> bytes:
    """Return the files of a result folder as one."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        for path in sorted(folder.iterdir()):
            tar.add(path, path.name, recursive=False)
    return buffer.getvalue()


def unpack(whole: bytes, folder: Path) -> Path:
    """Make the folder that was packed, whole or not at all, and return it."""
    with staged(folder) as draft, tarfile.open(fileobj=io.BytesIO(whole)) as tar:
        tar.extractall(draft.temporary, filter="data")
    return draft.folder
