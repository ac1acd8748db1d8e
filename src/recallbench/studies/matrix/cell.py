"""One cell of a matrix: a run, or the result of the same run that is there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from recallbench.corpora.labelled_sets.set_name import plain_names, short_names
from recallbench.corpora.records import Corpus
from recallbench.errors import InputError, RecallBenchError
from recallbench.escaping.paths import last_names
from recallbench.progress import Progress
from recallbench.reports.matrix.document import EffortPart
from recallbench.results.folder import folder_word, free_folder
from recallbench.results.result import Result, open_unchanged
from recallbench.runs.options import Options
from recallbench.runs.plan import Plan
from recallbench.runs.run import run
from recallbench.studies.address import answers_address
from recallbench.studies.matrix.effort import keep_effort, kept_effort, measure_effort
from recallbench.studies.matrix.windows import WindowedEncoder


@dataclass(frozen=True, slots=True)
class MeasuredCell:
    """What came of one encoder on one corpus."""

    encoder: WindowedEncoder
    corpus: str
    result: Result | None = None
    effort: EffortPart | None = None
    dims: int | None = None
    kept: bool = False
    failure: str = ""


MadeElsewhere = Mapping[Path, RecallBenchError | None]
"""The cells that nodes of a cluster were given, by their folder: what each failed with, None where it is there."""


def missing_run(
    encoder: WindowedEncoder, plan: Plan, corpus: Corpus, parent: Path, study: str, progress: Progress
) -> tuple[Path, Options] | None:
    """Return the folder of a cell and the run that it lacks; None where its result is there."""
    folder, _ = _place(encoder, plan, corpus, parent, study, progress)
    return (folder, _run_of(plan, folder)) if _find(folder, progress) is None else None


def measure_cell(
    encoder: WindowedEncoder,
    plan: Plan,
    corpus: Corpus,
    parent: Path,
    study: str,
    made: MadeElsewhere,
    progress: Progress,
    today: date,
) -> MeasuredCell:
    """Return a cell, with the result that lies below `parent` or is written there; a failure is part of the cell."""
    name = plan.corpus.name
    try:
        folder, dims = _place(encoder, plan, corpus, parent, study, progress)
        if (failure := made.get(folder)) is not None:
            raise failure
        result = _find(folder, progress)
        kept = result is not None and folder not in made
        if result is None:
            result = open_unchanged(run(_run_of(plan, folder), progress, today).folder)
        effort = kept_effort(result.folder)
        if effort is None:
            with plan.open_embedder(progress) as embedder:
                assert embedder is not None
                # What a pack brings is not embedded here, nor what an endpoint is asked for.
                timed = embedder.pack is None and not encoder.typed.startswith(("http:", "https:"))
                effort = measure_effort(embedder, plan.select(corpus.haystacks()), timed=timed)
            keep_effort(result.folder, effort)
    except RecallBenchError as error:
        progress.note(f"{encoder.name} on {plain_names(name)} failed: {error.brief}")
        return MeasuredCell(encoder, name, failure=last_names(error.brief))
    return MeasuredCell(encoder, name, result, effort, dims, kept)


def _place(
    encoder: WindowedEncoder, plan: Plan, corpus: Corpus, parent: Path, study: str, progress: Progress
) -> tuple[Path, int]:
    """Return the folder of a cell, which is named by all that decides it, and the length of its vectors."""
    with plan.open_embedder(progress) as embedder:
        assert embedder is not None  # a plan with an encoder has one
        address, dims = answers_address(plan, corpus.sha256, embedder, study), embedder.stored_dims
    return parent / "_".join(map(folder_word, (short_names(plan.corpus.name), encoder.name, address[:12]))), dims


def _run_of(plan: Plan, folder: Path) -> Options:
    return replace(plan.options, folder=free_folder(folder.parent, folder.name), command=_command(plan.options))


def _find(folder: Path, progress: Progress) -> Result | None:
    """Return the whole result that is kept under this name, or under the name with a number; None without one."""
    for kept in sorted(folder.parent.glob(f"{folder.name}*")):
        if not kept.is_dir() or kept.name.removeprefix(folder.name).strip("_0123456789"):
            continue
        try:
            return open_unchanged(kept)
        except InputError as error:
            progress.note(
                f"{error.brief}: it can be deleted, and the cell is taken from another folder or measured again"
            )
    return None


def _command(options: Options) -> tuple[str, ...]:
    """Return the words of `recallbench run` that measure the same."""
    words = ["run", options.corpus, "--store", options.store or "", "--embedder", options.embedder or ""]
    given = {
        "--max-tokens": options.max_tokens,
        "--backend": None if options.backend == "auto" else options.backend,
        "--corpus-file": options.corpus_file,
        "--limit": options.limit,
        "--depth": None if options.depth == 50 else options.depth,
    }
    words += [word for option, value in given.items() if value is not None for word in (option, str(value))]
    words += [word for server in options.dsn for word in ("--dsn", server)]
    words += [word for name, value in options.store_options.items() for word in ("--set", f"{name}={value}")]
    return tuple(words)
