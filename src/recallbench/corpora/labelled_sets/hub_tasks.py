"""The tasks of datasets of the hub that hold several: their files, and their counts as they were published."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any

from recallbench.corpora.labelled_sets.candidate_files import CANDIDATES, QRELS, ROOT
from recallbench.corpora.labelled_sets.labelled_records import DOCUMENTS, QUERIES, SubsetCounts
from recallbench.corpora.records import CountCheck
from recallbench.errors import UsageError
from recallbench.nearest_name import nearest_name

REGISTRY = {"KaLM-Embedding/LMEB": "lmeb.toml"}
"""The file with the tasks of each dataset."""


@dataclass(frozen=True, slots=True)
class HubTask:
    """One task of a dataset, or one subset of it."""

    name: str
    """As it is asked for: `LoCoMo`, or `LoCoMo/multi_hop`."""
    folder: str
    """Its folder in the dataset."""
    places: Mapping[str, tuple[str, ...]]
    """The folders, below that one, of the files of each subset."""
    counts: Mapping[str, SubsetCounts]
    """What was published of each subset."""

    @property
    def files(self) -> tuple[str, ...]:
        """Return the names of its files, below its folder."""
        return tuple(dict.fromkeys(file for places in self.places.values() for file in places))

    def published(self, folder: str) -> tuple[str, SubsetCounts]:
        """Return the subset whose queries lie in a folder below its own, and what was published of it."""
        subset = next(iter(self.counts)) if folder == ROOT else folder
        return subset, self.counts[subset]


@cache
def tasks_of(repo: str) -> Mapping[str, HubTask]:
    """Return the tasks of a dataset by name; none for one that is not known to hold any."""
    if repo not in REGISTRY:
        return {}
    package = files("recallbench.corpora.labelled_sets")
    table = tomllib.loads(package.joinpath(REGISTRY[repo]).read_text(encoding="utf-8"))
    return {name: _task(name, entry) for name, entry in table.items()}


def find_task(repo: str, name: str) -> HubTask:
    """Return a task, or one subset of it, by name; raises UsageError that says which there are."""
    tasks = tasks_of(repo)
    if not tasks:
        raise UsageError(
            f"{repo} is not known to hold tasks",
            expected=f"a dataset of several: {', '.join(REGISTRY)}",
            found=f"{repo}#{name}",
            remedy=f"leave #{name} out: the dataset is one set",
        )
    whole, _, subset = name.partition("/")
    task = tasks.get(whole)
    if task is None:
        near = nearest_name(whole, tasks)
        raise UsageError(
            f"{repo} has no task {whole}" if name else f"{repo} holds {len(tasks)} tasks, and none is named",
            expected=f"one of {', '.join(tasks)}",
            found=name or "none",
            remedy=f"you may mean #{near}" if near else f"name it behind #, as in #{next(iter(tasks))}",
        )
    if not subset:
        return task
    if subset not in task.places:
        near = nearest_name(subset, task.places)
        raise UsageError(
            f"the task {whole} has no subset {subset}",
            expected=f"one of {', '.join(task.places)}",
            found=subset,
            remedy=f"you may mean {near}" if near else f"leave /{subset} out: then all of them are asked",
        )
    return replace(task, name=name, places={subset: task.places[subset]}, counts={subset: task.counts[subset]})


def published_counts(repo: str, task: str, subsets: Mapping[str, SubsetCounts]) -> tuple[CountCheck, ...]:
    """Return the counts that were published of a task, beside those of its files; none where it is not known."""
    if not task or task.partition("/")[0] not in tasks_of(repo):
        return ()
    known = find_task(repo, task)
    return tuple(
        CountCheck(f"{field} of {subset}", f"{expected}", f"{actual}")
        for folder, found in subsets.items()
        for subset, published in [known.published(folder)]
        for field, expected, actual in zip(SubsetCounts._fields, published, found, strict=True)
    )


def _task(name: str, entry: Mapping[str, Any]) -> HubTask:
    places: dict[str, tuple[str, ...]] = {}
    for subset in entry["subsets"]:
        folders = {"task": PurePosixPath(), "parent": PurePosixPath(subset).parent, "subset": PurePosixPath(subset)}
        own = folders[entry.get("queries", "subset")]
        where = {DOCUMENTS: folders[entry["corpus"]], QUERIES: own, QRELS: own}
        if "candidates" in entry:
            where[CANDIDATES] = folders[entry["candidates"]]
        places[subset] = tuple((folder / file).as_posix() for file, folder in where.items())
    counts = {subset: SubsetCounts(*numbers) for subset, numbers in entry["subsets"].items()}
    return HubTask(name, entry["folder"], places, counts)
