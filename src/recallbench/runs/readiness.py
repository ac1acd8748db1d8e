"""What a real run would need, whether it is here, and how much work it would be."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Literal

from recallbench.citing.publication import read
from recallbench.corpora.registry import facts, open_corpus
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.weights import weights_status
from recallbench.errors import Blocked, RecallBenchError
from recallbench.protocol.deviations import departures
from recallbench.protocol.frozen import load
from recallbench.protocol.history import unrecorded
from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.results.environment import git_state
from recallbench.results.folder import check_writable
from recallbench.runs.choices import Choice, choose, configuration, dsn_of
from recallbench.runs.options import Options
from recallbench.runs.placement import parent, result_folder
from recallbench.stores.postgres.postgres import has_extension
from recallbench.stores.registry import REFERENCE_STORE, store_status

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
    corpus = facts(options.corpus, rules)
    rows = [
        ReadinessRow(
            "protocol",
            "ready",
            f"{rules.version}, sha256 {rules.sha256[:12]}…, {len(rules.clarifications)} clarifications",
        )
    ]
    sha256, row = _corpus(options, rules)
    rows.append(row)
    try:
        choice = choose(options, corpus, rules)
    except Blocked as error:
        told = f"{error.problem}: {error.found}" if error.found else error.problem
        rows.append(ReadinessRow("server", "NOT READY", told, error.remedy))
        choice = choose(replace(options, store=REFERENCE_STORE), corpus, rules)
    rows += [ReadinessRow("choice", "note", line) for line in choice.announcements]
    rows.append(_weights(choice, options))
    rows.append(_checked("store", lambda: store_status(choice.address, dsn_of(options), options.environ)))
    rows.append(_extension(options, rules))
    rows.append(_version(options, choice, rules))
    rows.append(_disk(options, choice))
    rows.append(_folder(options, choice))
    rows.append(_git(options))
    found = departures(configuration(options, choice, sha256 or corpus.sha256), corpus, rules)
    rows += [ReadinessRow("deviation", "note", str(one)) for one in found]
    history = _history(options)
    if history is None:
        rows.append(ReadinessRow("history", "warning", "no HISTORY.md above this folder, so no deviation is on record"))
    else:
        rows += [
            ReadinessRow("history", "warning", f"HISTORY.md has no entry for the deviation {one.name} on {corpus.name}")
            for one in unrecorded(found, read(history), corpus.name)
        ]
    return (*rows, *_work(corpus, choice, options))


def _checked(name: str, ask: Callable[[], tuple[bool, str, str]]) -> ReadinessRow:
    ready, detail, remedy = ask()
    return ReadinessRow(name, "ready" if ready else "NOT READY", detail, "" if ready else remedy)


def _corpus(options: Options, rules: Rules) -> tuple[str, ReadinessRow]:
    try:
        corpus = open_corpus(
            options.corpus,
            rules=rules,
            environ=options.environ,
            file=options.corpus_file,
            allow_dataset_deviation="dataset" in options.allow_deviations,
        )
    except RecallBenchError as error:
        found = f"{error.problem} (found {error.found})" if error.found else error.problem
        return "", ReadinessRow("corpus", "NOT READY", found, error.remedy)
    return corpus.sha256, ReadinessRow("corpus", "ready", f"{corpus.path.name}, sha256 {corpus.sha256}")


def _weights(choice: Choice, options: Options) -> ReadinessRow:
    if choice.embedder is None:
        return ReadinessRow("weights", "ready", f"store {choice.store} needs no vectors")
    name = choice.embedder
    return _checked(f"weights of {name}", lambda: weights_status(name, options.environ, options.cache_dir))


def _extension(options: Options, rules: Rules) -> ReadinessRow:
    dsn = dsn_of(options)
    name = rules.canonical_store
    if dsn is None:
        return ReadinessRow("extension", "note", f"{name}: none, since no PGMNEMO_DSN or --dsn names a server")
    try:
        version = has_extension(dsn, name)
    except RecallBenchError as error:
        return ReadinessRow("extension", "NOT READY", f"{name}: {error.problem}", error.remedy)
    return ReadinessRow("extension", "note", f"{name} {version or 'is not installed on the server'}")


def _version(options: Options, choice: Choice, rules: Rules) -> ReadinessRow:
    asked = options.version or "not asked for (--version)"
    if choice.store == rules.canonical_store:
        try:
            there = has_extension(dsn_of(options) or "", choice.store) if options.version else ""
        except RecallBenchError:
            there = ""  # told by the rows on store and extension
        if options.version and there and options.version.removeprefix("v") != there:
            told = f"{asked}, but the server has {choice.store} {there}: the gate on the version would fail"
            return ReadinessRow(
                "version", "NOT READY", told, "name the version that is installed, or install the one asked for"
            )
        return ReadinessRow("version", "note", f"{asked}; compared with the extension's own when the run is made")
    return ReadinessRow(
        "version", "note", f"{asked}; the gate compares what {choice.store} states before and after the run"
    )


def _disk(options: Options, choice: Choice) -> ReadinessRow:
    spec = ENCODERS.get(choice.embedder or "")
    sizes = _sizes().get(options.corpus, {})
    texts = int(sizes.get("distinct_segments", 0)) + int(sizes.get("distinct_questions", 0))
    need = ARTEFACT_BYTES + texts * 4 * (spec.stored_dims if spec else 0)
    place = options.cache_dir
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    status: Status = "ready" if free > 2 * need else "NOT READY"
    return ReadinessRow(
        "disk",
        status,
        f"{free >> 20:,} MiB free, about {need >> 20:,} MiB needed",
        "free some room" * (free <= 2 * need),
    )


def _folder(options: Options, choice: Choice) -> ReadinessRow:
    try:
        folder = result_folder(options, choice.store, date.today())
        check_writable(options.cache_dir / "vectors")
    except RecallBenchError as error:
        return ReadinessRow("folders", "NOT READY", f"{error.problem}: {error.found}", error.remedy)
    return ReadinessRow("folders", "ready", f"the result would be {folder.name}")


def _git(options: Options) -> ReadinessRow:
    state = git_state(options.folder or parent(options))
    if not state:
        return ReadinessRow(
            "git", "warning", "results would lie outside git: the gate on committed artefacts can't pass there"
        )
    told = f"results lie in a checkout at {state['commit']}" + ("" if state["clean"] else ", with changes")
    return ReadinessRow("git", "ready" if state["clean"] else "warning", told)


def _history(options: Options) -> Path | None:
    for here in ((options.folder or parent(options)).resolve(), Path.cwd()):
        found = next(
            (place / "HISTORY.md" for place in (here, *here.parents) if (place / "HISTORY.md").is_file()), None
        )
        if found is not None:
            return found
    return None


def _sizes() -> dict[str, dict[str, int | str]]:
    with Path(__file__).with_name("sizes.toml").open("rb") as file:
        return tomllib.load(file)


def _work(corpus: CorpusRules, choice: Choice, options: Options) -> list[ReadinessRow]:
    rows = [
        ReadinessRow("segments", "note", f"{corpus.segments:,} (registered)"),
        ReadinessRow(
            "questions",
            "note",
            f"{options.limit or corpus.with_evidence:,} to ask, of {corpus.questions:,} (registered)",
        ),
    ]
    sizes = _sizes().get(corpus.name)
    if sizes is None or choice.embedder is None:
        return rows
    texts = f"{sizes['distinct_segments']:,} segments and {sizes['distinct_questions']:,} questions"
    tokens = (
        f"{sizes['tokens_within_512']:,} of {sizes['tokens']:,} in segments, {sizes['question_tokens']:,} in questions"
    )
    exact = choice.embedder == sizes["encoder"]
    return [
        *rows,
        ReadinessRow("distinct texts", "note", f"{texts} ({sizes['texts_source']})"),
        ReadinessRow(
            "tokens",
            "note",
            f"{tokens} ({sizes['tokens_source'] if exact else 'an estimate: counted with ' + str(sizes['encoder'])})",
        ),
    ]
