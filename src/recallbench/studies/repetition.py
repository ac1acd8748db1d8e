"""The same run several times, on a cold and on a warm index, and how far its figures lie apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from recallbench import __version__
from recallbench.errors import UsageError
from recallbench.progress import Progress
from recallbench.reading import document, parsed
from recallbench.reports.repetition.document import JSON, MARKDOWN, Repetition
from recallbench.reports.repetition.words import markdown
from recallbench.results.folder import check_writable, folder_name, free_folder
from recallbench.results.result import open_unchanged
from recallbench.runs.on_nodes import run_on_nodes
from recallbench.runs.options import Options
from recallbench.runs.placement import results_parent
from recallbench.runs.plan import Plan, plan_run
from recallbench.runs.run import Outcome, run
from recallbench.scoring.measures.registry import ALL
from recallbench.scratch import sweep
from recallbench.stores.registry import REFERENCE_STORE
from recallbench.studies.passes import cold_pass, warm_passes, write_part
from recallbench.studies.spread import summarise
from recallbench.whole_file import write_errors

PLAN = "plan.json"
"""The file that says what is repeated; it lies in the folder until all is done."""
NOT_WARM = "none: the store holds one haystack at a time and forgets it, so nothing stays to be asked again"
REPLAYED = "none: each question is asked while the store fills, so nothing stays to be asked again as it was"
ELSEWHERE = frozenset({"dsn", "download", "out", "folder", "label", "cache_dir", "environ", "engine"})
"""Options that are places and do not change what is measured."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """A finished repeat: its summary, and the folder with every run."""

    summary: Repetition
    folder: Path
    kept: int = 0
    """Runs that an unfinished repeat had made already."""


def repeat(options: Options, times: int, progress: Progress, today: date, unfinished: Path | None = None) -> Repeated:
    """Run `times` times, each into a folder of its own, then ask one filled store as often, and compare the passes.

    Every run's folder is whole or absent, and the summary is written last. The runs in an `unfinished` repeat count;
    raises UsageError for any other folder, and for a repeat of something else.
    """
    plan = plan_run(options)
    cold, warm = _conditions(plan)
    repeated = _repeated_options(plan)
    if unfinished is None:
        folder = _new_folder(plan, today)
        write_part(folder / PLAN, json.dumps(repeated, indent=1) + "\n")
    else:
        folder = unfinished
        _refuse_another_plan(folder, repeated)
    kept = sum((folder / f"run_{i}").exists() for i in range(1, times + 1))
    try:
        if options.engine.on_nodes:
            missing = [place for i in range(1, times + 1) if not (place := folder / f"run_{i}").exists()]
            failed = run_on_nodes({place: replace(options, label=None) for place in missing}, progress, today)
            for error in failed.values():
                raise error
        outcomes = [
            _run_unless_finished(options, folder / f"run_{i}", i, times, progress, today) for i in range(1, times + 1)
        ]
        measures = [measure for measure in ALL if measure.k <= options.depth]
        passes = [cold_pass(outcome, measures) for outcome in outcomes]
        if warm:
            passes += warm_passes(plan, times, measures, folder, progress)
        summary = summarise(
            outcomes, passes, measures, plan.corpus, (cold, warm or (REPLAYED if plan.replayed else NOT_WARM))
        )
        write_part(folder / MARKDOWN, markdown(summary))
        write_part(folder / JSON, summary.model_dump_json(indent=1) + "\n")
        (folder / PLAN).unlink(missing_ok=True)
    except KeyboardInterrupt:
        if any(folder.glob("run_*")):
            progress.note(
                f"the runs so far are in {folder}; the same command with --resume {folder} goes on from there"
            )
        raise
    finally:
        if not any(path.name != PLAN for path in folder.iterdir()):
            (folder / PLAN).unlink(missing_ok=True)
            folder.rmdir()
    return Repeated(summary, folder, kept)


def _repeated_options(plan: Plan) -> dict[str, str]:
    """Return the options that decide what is measured, as text: no connection and no path."""

    def text(value: object) -> str:
        return ", ".join(sorted(value)) if isinstance(value, frozenset) else "" if value is None else str(value)

    options = plan.options
    recorded = {name: text(value) for name, value in options.recorded().items() if name not in ELSEWHERE}
    if options.corpus_file is not None:
        recorded["corpus_file"] = str(options.corpus_file.resolve())
    # What was chosen hangs on what is here: an encoder's weights, a server.
    return {"recallbench": __version__, **recorded, "store": plan.store, "embedder": plan.embedder or ""}


def _refuse_another_plan(folder: Path, repeated: Mapping[str, str]) -> None:
    path = folder / PLAN
    if not path.is_file():
        raise UsageError(
            f"{folder} is no unfinished repeat",
            expected=f"a folder that an interrupted `recallbench repeat` left, with its {PLAN}",
            found=f"a finished one, with its {JSON}" if (folder / JSON).exists() else f"no {PLAN}",
            remedy="leave --resume out to begin a new one",
        )
    before = parsed(document(path), path)
    differing = [name for name in {**before, **repeated} if before.get(name) != repeated.get(name)]
    if differing:
        raise UsageError(
            f"{folder} repeats something else: another {', '.join(differing)}",
            expected="; ".join(f"{name} {before.get(name) or 'not given'}" for name in differing),
            found="; ".join(f"{name} {repeated.get(name) or 'not given'}" for name in differing),
            remedy="give the options of that repeat again, or leave --resume out to begin a new one",
        )


def _run_unless_finished(options: Options, place: Path, i: int, times: int, progress: Progress, today: date) -> Outcome:
    """Return a run of this repeat, made now or before; raises InputError for an earlier one that was changed."""
    if not place.exists():
        progress.note(f"run {i} of {times}")
        return run(replace(options, folder=place, label=None), progress, today)
    return Outcome(place, open_unchanged(place).metrics)


def _conditions(plan: Plan) -> tuple[str, str]:
    """Return the meaning of cold and of warm for this store; warm is empty where nothing stays to be asked again."""
    with closing(plan.open_system(None)) as store:
        if store.one_scope_at_a_time:
            return "the store runs inside this process, and builds each haystack's index anew in every run", ""
    again = "one more filled store, asked once, then that often again in the same server without a change to it"
    if plan.replayed:
        again = ""
    if plan.store == REFERENCE_STORE and not plan.servers:
        cold = "each run starts a server of its own and fills it; the machine's cache of files is not emptied"
        return cold, again
    return (
        "each run fills the store anew, in sessions of its own; the server is not ours, so it is not restarted, and "
        "what it caches across runs stays",
        again,
    )


def _new_folder(plan: Plan, today: date) -> Path:
    options = plan.options
    name = folder_name(f"repeat_{options.version or plan.store}", today, options.label)
    # Those that were killed are resumed or not; what they had not finished is in nobody's way any more.
    for started in results_parent(options).glob("repeat_*"):
        if sweep(started):
            with suppress(OSError):
                started.rmdir()  # one that had not even its plan
    folder = free_folder(results_parent(options), name)
    check_writable(folder)
    with write_errors(
        f"the folder {folder} can't be made", expected="a writable place", remedy="name another place with --out DIR"
    ):
        folder.parent.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                folder.mkdir()
            except FileExistsError:
                folder = free_folder(folder.parent, name)
            else:
                return folder
