"""The same run several times, on a cold and on a warm index, and how far its figures lie apart."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from recallbench import __version__
from recallbench.corpora.registry import facts
from recallbench.errors import InputError, UsageError
from recallbench.progress import Progress
from recallbench.protocol.frozen import load
from recallbench.reading import document, parsed
from recallbench.reports import repetition as told
from recallbench.results.folder import check_writable, folder_name, free_folder
from recallbench.results.result import open_unchanged
from recallbench.runs.choices import Choice, choose, dsn_of
from recallbench.runs.opening import store_of
from recallbench.runs.options import Options
from recallbench.runs.placement import parent
from recallbench.runs.run import Outcome, run
from recallbench.scoring.measures.registry import ALL
from recallbench.scratch import sweep
from recallbench.stores.registry import REFERENCE_STORE
from recallbench.studies.passes import cold, put
from recallbench.studies.spread import summary
from recallbench.studies.warm_passes import warm_passes

PLAN = "plan.json"
"""What is being repeated; lies in the folder until all is done."""
ELSEWHERE = frozenset({"dsn", "download", "out", "folder", "label", "cache_dir", "environ"})
"""Options that say where from and where to, not what is measured."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """What was made."""

    summary: told.Repetition
    folder: Path


def repeat(options: Options, times: int, progress: Progress, today: date, unfinished: Path | None = None) -> Repeated:
    """Run `times` times, each into a folder of its own, then ask one filled store as often; tell how they differ.

    Every run's folder is whole or absent, and the summary is written last. The runs in an `unfinished` repeat count;
    raises UsageError where it is none, or is one of something else.
    """
    rules = load()
    registered = facts(options.corpus, rules)
    choice = choose(options, registered, rules)
    conditions = _conditions(options, choice)
    plan = _plan(options, choice)
    if unfinished is None:
        folder = _own_folder(options, choice, today)
        put(folder / PLAN, json.dumps(plan, indent=1) + "\n")
    else:
        folder = unfinished
        _same_plan(folder, plan)
    try:
        outcomes = []
        for i in range(1, times + 1):
            place = folder / f"run_{i}"
            if place.exists():
                outcomes.append(_kept(place))
                continue
            progress.note(f"run {i} of {times}")
            outcomes.append(run(replace(options, folder=place, label=None), progress, today))
        measures = [one for one in ALL if one.k <= options.depth]
        passes = [cold(outcome, measures) for outcome in outcomes]
        if not conditions[1].startswith("none"):
            passes += warm_passes(options, choice, rules, times, measures, folder, progress)
        found = summary(outcomes, passes, measures, registered, conditions)
        put(folder / told.MARKDOWN, told.markdown(found))
        put(folder / told.JSON, found.model_dump_json(indent=1) + "\n")
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
    return Repeated(found, folder)


def _plan(options: Options, choice: Choice) -> dict[str, str]:
    """What is measured, as text; no connection and no place is in it."""

    def told_as(value: object) -> str:
        return ", ".join(sorted(value)) if isinstance(value, frozenset) else "" if value is None else str(value)

    asked = {name: told_as(value) for name, value in options.recorded().items() if name not in ELSEWHERE}
    if options.corpus_file is not None:
        asked["corpus_file"] = str(options.corpus_file.resolve())
    # What was chosen hangs on what is here: an encoder's weights, a server.
    return {"recallbench": __version__, **asked, "store": choice.store, "embedder": choice.embedder or ""}


def _same_plan(folder: Path, plan: dict[str, str]) -> None:
    path = folder / PLAN
    if not path.is_file():
        raise UsageError(
            f"{folder} is no unfinished repeat",
            expected=f"a folder that an interrupted `recallbench repeat` left, with its {PLAN}",
            found=f"a finished one, with its {told.JSON}" if (folder / told.JSON).exists() else f"no {PLAN}",
            remedy="leave --resume out to begin a new one",
        )
    before = parsed(document(path), path)
    differing = [name for name in {**before, **plan} if before.get(name) != plan.get(name)]
    if differing:
        raise UsageError(
            f"{folder} repeats something else: another {', '.join(differing)}",
            expected="; ".join(f"{name} {before.get(name) or 'not given'}" for name in differing),
            found="; ".join(f"{name} {plan.get(name) or 'not given'}" for name in differing),
            remedy="give the options of that repeat again, or leave --resume out to begin a new one",
        )


def _kept(folder: Path) -> Outcome:
    """A run that was made before; raises InputError unless it is as it was written."""
    return Outcome(folder, open_unchanged(folder).metrics)


def _conditions(options: Options, choice: Choice) -> tuple[str, str]:
    """What cold and warm can honestly mean for this store."""
    store = store_of(options, choice)
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


def _own_folder(options: Options, choice: Choice, today: date) -> Path:
    name = folder_name(f"repeat_{options.version or choice.store}", today, options.label)
    # Those that were killed are resumed or not; what they had not finished is in nobody's way any more.
    for started in parent(options).glob("repeat_*"):
        if sweep(started):
            with suppress(OSError):
                started.rmdir()  # one that had not even its plan
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
