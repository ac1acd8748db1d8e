"""The same run several times, on a cold and on a warm index, and how far its figures lie apart."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, cast

import numpy as np

from recallbench import __version__
from recallbench.corpora.pooled import pooled
from recallbench.corpora.records import Haystack
from recallbench.corpora.registry import facts, open_corpus
from recallbench.corpora.stream import sha256_of
from recallbench.embedding.embedder import open_embedder
from recallbench.errors import InputError
from recallbench.experiment.choices import REFERENCE_STORE, Choice, choose, dsn_of
from recallbench.experiment.options import Options
from recallbench.experiment.placement import parent
from recallbench.experiment.run import Outcome, run
from recallbench.progress import Progress
from recallbench.protocol.frozen import load
from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.results import manifest, rankings
from recallbench.results import repetition as told
from recallbench.results.folder import check_writable, folder_name, free_folder
from recallbench.results.metrics import Metrics
from recallbench.results.report import system
from recallbench.results.retrievals import rows
from recallbench.results.rows import NAME as RETRIEVALS
from recallbench.retrieval.loop import Calls, Retrieval, retrieve
from recallbench.retrieval.selection import selected
from recallbench.retrieval.timing import Timings
from recallbench.scoring.judgement import Bools, Floats, Judged, judge
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.registry import ALL, PRIMARY
from recallbench.stores.registry import open_store
from recallbench.stores.store import Item, Matrix, Store
from recallbench.verdict.bands import stay

FOUND = PRIMARY[0]
LIMITS = (
    "embedding: vectors are computed once and read from the cache after that, so only the store can differ",
    "the hash seed: all runs share it, as the protocol fixes it",
)


@dataclass(frozen=True, slots=True)
class Repeated:
    """What was made."""

    summary: told.Repetition
    folder: Path


@dataclass(frozen=True, slots=True)
class _Pass:
    name: str
    state: str
    questions: tuple[str, ...]
    counted: Bools
    values: Mapping[str, Floats]
    """By measure, one for each question."""
    first_gold: Floats
    """1 / rank of the first gold segment, over the whole depth; 0 where none came back."""
    rankings_sha256: str
    content_sha256: str


def repeat(options: Options, times: int, progress: Progress, today: date) -> Repeated:
    """Run `times` times, each into a folder of its own, then ask one filled store as often; tell how they differ.

    Every run's folder is whole or absent, and the summary is written last: what an interrupted repeat leaves are runs.
    """
    rules = load()
    registered = facts(options.corpus, rules)
    choice = choose(options, registered, rules)
    cold, warm = _conditions(options, choice)
    folder = _own_folder(options, choice, today)
    try:
        outcomes = []
        for i in range(1, times + 1):
            progress.note(f"run {i} of {times}")
            outcomes.append(run(replace(options, folder=folder / f"run_{i}", label=None), progress, today))
        measures = [one for one in ALL if one.k <= options.depth]
        passes = [_cold(outcome, measures) for outcome in outcomes]
        if not warm.startswith("none"):
            passes += _warm(options, choice, rules, times, measures, folder, progress)
        summary = _summary(outcomes, passes, measures, registered, (cold, warm))
        _put(folder / told.MARKDOWN, told.markdown(summary))
        _put(folder / told.JSON, summary.model_dump_json(indent=1) + "\n")
    finally:
        if not any(folder.iterdir()):
            folder.rmdir()
    return Repeated(summary, folder)


def _conditions(options: Options, choice: Choice) -> tuple[str, str]:
    """What cold and warm can honestly mean for this store."""
    store = _open(options, choice)
    try:
        alone = store.one_scope_at_a_time
    finally:
        store.close()
    if alone:
        return (
            "the store runs inside this process, and builds each haystack's index anew in every run",
            "none: the store holds one haystack at a time and forgets it, so nothing stays to be asked again",
        )
    again = "one more filled store, asked once, then that often again in the same server without a change to it"
    if choice.store == REFERENCE_STORE and dsn_of(options) is None:
        return (
            "each run starts a server of its own and fills it; the machine's cache of files is not emptied",
            again,
        )
    return (
        "each run fills the store anew, in sessions of its own; the server is not ours, so it is not restarted, and "
        "what it caches across runs stays",
        again,
    )


def _open(options: Options, choice: Choice, progress: Progress | None = None) -> Store:
    return open_store(
        choice.store,
        dsn=dsn_of(options),
        weights=options.weights,
        call=options.call,
        function=options.function,
        dates=options.dates,
        environ=options.environ,
        progress=progress,
    )


def _own_folder(options: Options, choice: Choice, today: date) -> Path:
    name = folder_name(f"repeat_{options.version or choice.store}", today, options.label)
    folder = free_folder(parent(options), name)
    check_writable(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                folder.mkdir()
            except FileExistsError:
                folder = free_folder(folder.parent, name)
            else:
                return folder
    except OSError as error:
        raise InputError(
            f"the folder {folder} can't be made",
            expected="a writable place",
            found=error.strerror or str(error),
            remedy="name another place with --out DIR",
        ) from None


def _cold(outcome: Outcome, measures: Sequence[Measure]) -> _Pass:
    found = rankings.read(outcome.folder, outcome.metrics, measures)
    stated = json.loads((outcome.folder / manifest.NAME).read_text(encoding="utf-8"))
    return _Pass(
        outcome.folder.name,
        "cold",
        found.questions,
        found.calls[-1].gold > 0,
        {str(measure): found.values(measure) for measure in measures},
        found.values(Mrr(outcome.metrics.retrieval.depth)),
        sha256_of(outcome.folder / RETRIEVALS),
        str(stated["content_sha256"]),
    )


def _warm(
    options: Options,
    choice: Choice,
    rules: Rules,
    times: int,
    measures: Sequence[Measure],
    folder: Path,
    progress: Progress,
) -> list[_Pass]:
    corpus = open_corpus(
        options.corpus,
        rules=rules,
        file=options.corpus_file,
        environ=options.environ,
        allow_dataset_deviation="dataset" in options.allow_deviations,
        download=options.download,
        progress=progress,
    )
    survey = corpus.survey()
    asked = min(options.limit or survey.asked, survey.asked)
    limit = asked if asked < survey.asked else None

    def haystacks() -> Iterator[Haystack]:
        every: Iterable[Haystack] = corpus.haystacks()
        return selected(pooled(every) if options.pooled else every, limit)

    embedder = None
    if choice.embedder is not None:
        embedder = open_embedder(
            choice.embedder,
            backend=options.backend,
            cache_dir=options.cache_dir,
            environ=options.environ,
            progress=progress,
        )
    store = _open(options, choice, progress)

    def ask(one: Store) -> Retrieval:
        calls = Calls(rules.default_k, options.depth)
        return retrieve(
            haystacks, one, None, embedder, expected=asked, calls=calls, timings=Timings(), progress=progress
        )

    try:
        ask(store)
        made = []
        for i in range(1, times + 1):
            progress.note(f"warm pass {i} of {times}")
            made.append(_asked_again(ask(cast(Store, _Filled(store))), f"warm_{i}", rules, options, measures, folder))
        return made
    finally:
        store.close()
        if embedder is not None:
            embedder.close()


class _Filled:
    """A store that holds everything already: only asking reaches it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def prepare(self, dims: int) -> None:
        return

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        return

    def ready(self) -> None:
        return

    def chill(self) -> str:
        return "not wanted: this pass is a warm one"


def _asked_again(
    found: Retrieval, name: str, rules: Rules, options: Options, measures: Sequence[Measure], folder: Path
) -> _Pass:
    lines = "".join(rows(found.questions, found.candidates, found.rankings, found.short))
    _put(folder / f"{name}.jsonl", lines)
    grades = [question.grades for question in found.questions]

    def judged(depth: int, short: bool) -> Judged:
        ranked = found.short if short and found.short is not None else found.rankings
        return judge(
            [ranking.positions for ranking in ranked],
            [question.gold for question in found.questions],
            found.candidates,
            depth,
            grades if any(grades) else None,
        )

    deep = judged(options.depth, short=False)
    brief = deep if found.short is None else judged(rules.default_k, short=True)

    def reaching(measure: Measure) -> Judged:
        return brief if brief.depth >= measure.k else deep

    return _Pass(
        name,
        "warm",
        tuple(question.id for question in found.questions),
        deep.gold > 0,
        {str(measure): measure.values(reaching(measure)) for measure in measures},
        Mrr(options.depth).values(deep),
        hashlib.sha256(lines.encode()).hexdigest(),
        "",
    )


def _summary(
    outcomes: Sequence[Outcome],
    passes: Sequence[_Pass],
    measures: Sequence[Measure],
    registered: CorpusRules,
    conditions: tuple[str, str],
) -> told.Repetition:
    first = outcomes[0].metrics
    unlike = _unlike([outcome.metrics for outcome in outcomes])
    if any(one.questions != passes[0].questions for one in passes):
        unlike.append("the questions that were asked")
    means = [{name: _mean(values[one.counted]) for name, values in one.values.items()} for one in passes]
    reason = "; ".join(unlike) or (
        f"only {first.retrieval.asked} of the questions were asked" if first.retrieval.limit is not None else ""
    )
    bands = []
    for headline in first.headline:
        measure = headline.estimate.measure
        values = [value for mean in means if (value := mean[measure]) is not None]
        found = stay(registered, headline.protocol_name, values, reason)
        bands.append(
            told.BandPart(
                protocol_name=headline.protocol_name,
                measure=measure,
                width=found.width,
                apart=_rounded(found.apart),
                inside=found.inside,
                told=found.told,
            )
        )
    return told.Repetition(
        schema_version="1",
        recallbench_version=__version__,
        protocol=first.protocol.version,
        corpus=first.corpus.name,
        dataset_sha256=first.dataset_sha256,
        store=system(first),
        version=first.store.version,
        embedder=first.embedder.name if first.embedder else "no embedder",
        n=int(passes[0].counted.sum()),
        deviations=[f"{one.kind}: {one.detail}" for one in first.deviations],
        cold=conditions[0],
        warm=conditions[1],
        limits=list(LIMITS),
        unlike=unlike,
        same_content=len({one.content_sha256 for one in passes if one.content_sha256}) == 1,
        same_rankings=len({one.rankings_sha256 for one in passes}) == 1,
        passes=[
            told.PassPart.model_validate(
                {
                    "name": one.name,
                    "state": one.state,
                    "values": mean,
                    "rankings_sha256": one.rankings_sha256,
                    "content_sha256": one.content_sha256,
                }
            )
            for one, mean in zip(passes, means, strict=True)
        ],
        spread=[one for measure in measures if (one := _spread(str(measure), passes, means))],
        bands=bands,
        moved=_moved(passes) if "the questions that were asked" not in unlike else [],
    )


def _unlike(every: Sequence[Metrics]) -> list[str]:
    """What of the configuration was not the same in all runs; drifting settings are a usual cause of spread."""

    def identity(metrics: Metrics) -> dict[str, object]:
        return {
            "store": system(metrics),
            "version": metrics.store.version,
            "dataset": metrics.dataset_sha256,
            "embedder": metrics.embedder.fingerprint_sha256 if metrics.embedder else None,
            "deviations": [str(one) for one in metrics.deviations],
            **{f"setting {name}": value for name, value in metrics.guc_state.items()},
        }

    found = [identity(metrics) for metrics in every]
    names = dict.fromkeys(name for one in found for name in one)
    return [name for name in names if any(one.get(name) != found[0].get(name) for one in found)]


def _spread(
    measure: str, passes: Sequence[_Pass], means: Sequence[Mapping[str, float | None]]
) -> told.SpreadPart | None:
    values = [
        (one.state, value) for one, mean in zip(passes, means, strict=True) if (value := mean[measure]) is not None
    ]
    if not values:
        return None
    every = np.array([value for _, value in values])
    apart = {state: _range([value for its, value in values if its == state]) for state in ("cold", "warm")}
    return told.SpreadPart(
        measure=measure,
        minimum=float(every.min()),
        maximum=float(every.max()),
        range=round(float(np.ptp(every)), 10),
        mean=round(float(every.mean()), 10),
        sd=round(float(every.std(ddof=1)), 10) if len(every) > 1 else 0.0,
        cold_range=apart["cold"] or 0.0,
        warm_range=apart["warm"],
    )


def _range(values: Sequence[float]) -> float | None:
    return round(max(values) - min(values), 10) if values else None


def _moved(passes: Sequence[_Pass]) -> list[told.MovedPart]:
    found = np.stack([one.values[str(FOUND)] > 0 for one in passes])
    first = np.stack([one.first_gold for one in passes])
    changed = ((found != found[0]).any(axis=0) | (first != first[0]).any(axis=0)) & passes[0].counted
    return [
        told.MovedPart(
            question_id=passes[0].questions[i],
            found=[bool(one) for one in found[:, i]],
            first_gold=[None if value == 0 else round(1 / float(value)) for value in first[:, i]],
        )
        for i in np.flatnonzero(changed)
    ]


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 10)


def _put(path: Path, text: str) -> None:
    """Write a file that is whole or absent."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    except OSError as error:
        raise InputError(
            f"{path} can't be written",
            expected="a writable place with room for it",
            found=error.strerror or str(error),
            remedy="free some room; the runs that were made are whole",
        ) from None
    finally:
        partial.unlink(missing_ok=True)
