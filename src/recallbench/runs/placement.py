"""The folder of a run's result, or of its BLOCKED note."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from recallbench.addresses import recorded_name
from recallbench.audit.named_version import leading_version
from recallbench.errors import Blocked, RecallBenchError
from recallbench.progress import Progress
from recallbench.results.folder import (
    check_writable,
    explicit_folder,
    folder_name,
    folder_word,
    free_folder,
    write_blocked,
)
from recallbench.runs.options import Options
from recallbench.runs.plan import SYSTEM_UNDER_TEST
from recallbench.stores.registry import REFERENCE_STORE


def results_parent(options: Options) -> Path:
    """The folder that results of the corpus lie in: --out, else below RECALLBENCH_RESULTS, else below ./benchmarks."""
    # Behind the @ of a labelled set stands its hash.
    corpus = options.corpus.partition("@")[0]
    return options.out or Path(options.environ.get("RECALLBENCH_RESULTS") or "benchmarks") / corpus / "results"


def result_folder(options: Options, store: str, today: date) -> Path:
    """A folder that does not exist yet and can be made: the one that was named, else a free default name."""
    if options.folder is not None:
        folder = explicit_folder(options.folder)
    else:
        folder = free_folder(results_parent(options), _name(options, store, today, options.label))
    check_writable(folder)
    return folder


def leave_blocked(options: Options, blocked: Blocked, today: date, progress: Progress) -> None:
    """Write the BLOCKED folder. A failure to do so is noted, and never hides what blocked the run."""
    labels = "_".join(word for word in (options.label, "BLOCKED") if word)
    if options.folder is not None:
        folder = free_folder(options.folder.parent, f"{options.folder.name}_BLOCKED")
    else:
        folder = free_folder(
            results_parent(options), _name(options, recorded_name(options.store or REFERENCE_STORE), today, labels)
        )
    try:
        write_blocked(folder, options.corpus, blocked.problem, blocked.found, blocked.remedy)
    except RecallBenchError as error:
        progress.note(str(error))
    else:
        progress.note(f"BLOCKED: {folder / 'BLOCKED.md'} says what is missing")


def measured_folder(folder: Path, options: Options, store: str, version: str, today: date) -> Path:
    """The same folder, unless the extension states another version than was asked for: then one named after both."""
    requested = (options.version or version).removeprefix("v")
    if options.folder is not None or store != SYSTEM_UNDER_TEST or requested == version.removeprefix("v"):
        return folder
    name = _name(replace(options, version=version), store, today, options.label)
    return free_folder(folder.parent, f"{name}_asked-for-{folder_word(requested)}")


def _name(options: Options, store: str, today: date, label: str | None) -> str:
    version = options.version or store
    if options.version and store != SYSTEM_UNDER_TEST:
        # The tag alone would claim that the extension of that version was measured.
        version = f"{options.version}_{store}"
    pipeline = options.pipeline
    if pipeline is not None and not pipeline.searches_alone:
        # What a folder's name begins with is held to the version that was measured.
        own = f"pipeline-{pipeline.own_name}" if leading_version(pipeline.own_name) else pipeline.own_name
        version = f"{version}_{own}" if options.version or pipeline.searches_store else own
    return folder_name(version, today, label)
