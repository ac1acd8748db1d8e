"""The settings file that holds later results to the thresholds that fit one, each line with what it means."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.compare.fitted.thresholds import Fitted, Floor
from recallbench.compare.frame import series_facts
from recallbench.corpora.labelled_sets.set_name import is_set_name, parse_set_name
from recallbench.errors import RecallBenchError
from recallbench.escaping.terminal import visible
from recallbench.escaping.toml import toml_string
from recallbench.reports.cells import figure
from recallbench.results.dated import latest_result, result_folders
from recallbench.results.folder import folder_word
from recallbench.results.result import Result, open_result

BASELINES = "baselines"
"""The folder beside the file in which baselines are kept."""
_DATED = re.compile(r"(?P<stem>.+)_\d{8}(?:_.*)?")
_REASON = 34
"""The column at which the reasons of a line begin."""


@dataclass(frozen=True, slots=True)
class FittedResult:
    """A result with the thresholds that fit it, and its place in the file."""

    name: str
    result: Result
    fitted: Fitted
    folder: str
    """The folder or pattern, from the file's folder."""

    @property
    def baseline(self) -> str | None:
        """Return where its copy is kept, from the file's folder; None where no drop could be found."""
        return None if self.fitted.detectable.threshold is None else f"{BASELINES}/{folder_word(self.name)}"

    @property
    def thresholds(self) -> int:
        """Return how many thresholds the file has of it."""
        return len(self.fitted.floors) + (self.baseline is not None)


def name_of(result: Result) -> str:
    """Return what a result is called in the file: as its set, else as its corpus."""
    corpus = result.metrics.corpus.name
    return folder_word(parse_set_name(corpus).folder if is_set_name(corpus) else corpus.rpartition("/")[2])


def place_of(result: Result, base: Path) -> str:
    """Return what finds this result and later ones of its series: its parent, a pattern, or the folder alone."""
    folder = Path(os.path.relpath(result.folder.resolve(), base.resolve()))
    dated = _DATED.fullmatch(folder.name)
    patterns = [f"{glob.escape(str(folder.parent))}/{glob.escape(dated['stem'])}_*"] if dated else []
    parents = [folder.parent.as_posix()] if folder.parent != Path() else []
    for place in (*parents, *patterns):
        if _finds(place, base, result):
            return place.removeprefix("./")
    return folder.as_posix()


def _finds(place: str, base: Path, result: Result) -> bool:
    """Return whether this result is the latest that a place means, and all of them are of its series."""
    try:
        latest = latest_result(place, base)
        facts = [series_facts(open_result(folder).metrics) for folder in result_folders(place, base)]
    except RecallBenchError:  # something else lies there
        return False
    return latest.resolve() == result.folder.resolve() and all(each == facts[0] for each in facts)


def file_text(results: Sequence[FittedResult]) -> str:
    """Return the whole file."""
    lines = [
        "# What `recallbench gate` holds results to. `recallbench gate --init` wrote it; it is yours to change.",
        "# Paths count from this file's folder. Raise a floor when the system has become better.",
    ]
    for each in results:
        lines += ["", *_table(each)]
    return "\n".join(lines) + "\n"


def _table(each: FittedResult) -> Iterator[str]:
    metrics, fitted = each.result.metrics, each.fitted
    table = f"result.{_key(each.name)}"
    fitted_to = f"{each.result.folder.name} ({metrics.store.name}, content {each.result.content_sha256[:12]})"
    yield f"# Fitted to {visible(fitted_to)}."
    yield f"[{table}]"
    alone = each.folder == each.result.folder.name or each.folder.endswith(f"/{each.result.folder.name}")
    found = (
        "this result; a folder of results, or a pattern, means the latest of them" if alone else "the latest of these"
    )
    yield _line(f"folder = {toml_string(each.folder)}", found)
    if each.baseline is not None:
        again = "a copy of the result; `recallbench gate --update --replace` takes a later one"
        yield _line(f"baseline = {toml_string(each.baseline)}", again)
        yield _line('allow = ["store"]', "its version and settings may change; another encoder or pipeline is refused")
    yield _line("strict = true", "what can't be told fails, too; without this it is only said")
    yield ""
    yield "# The lower end of the 95% interval of what was measured, rounded down."
    yield f"[{table}.at_least]"
    yield from (_floor(floor) for floor in fitted.floors if not floor.kind)
    detectable = fitted.detectable
    yield ""
    if detectable.threshold is None or detectable.drop is None:
        yield f"# Floors alone: {detectable.words}."
        yield "# What stays above them passes, however much was lost. With more questions --init adds a drop."
    else:
        yield "# A drop from the baseline of at least so much must not be proven; strict: it must be excluded."
        yield f"[{table}.drops]"
        seen = f"{detectable.n} questions find a drop of {figure(detectable.drop)} four times in five"
        yield _line(f'"{detectable.measure}" = {detectable.threshold:g}', seen)
    for floor in fitted.floors:
        if floor.kind:
            yield ""
            yield f"[{table}.kinds.{_key(floor.kind)}.at_least]"
            yield _floor(floor)
    if fitted.left_out:
        yield ""
        yield from (f"# left out: {visible(reason)}" for reason in fitted.left_out)


def _floor(floor: Floor) -> str:
    estimate = floor.estimate
    bounds = f"{figure(estimate.low)} to {figure(estimate.high)}"
    measured = f"measured {figure(estimate.value)} ({bounds}), {estimate.n} questions; chance {figure(estimate.chance)}"
    return _line(f'"{estimate.measure}" = {floor.at_least:g}', measured)


def _line(setting: str, reason: str) -> str:
    return f"{setting:<{_REASON}}# {visible(reason)}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_string(name)
