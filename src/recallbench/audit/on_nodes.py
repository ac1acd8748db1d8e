"""Audits as the job of workers: of folders that they see as they are here, with the same datasets at hand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recallbench.audit.audit import Audit, audit
from recallbench.audit.folder_state import folder_state
from recallbench.audit.kept_audits import KeptAudits, at_hand, state_here, with_git_asked_here
from recallbench.cluster.crew import open_crew
from recallbench.cluster.engine import Engine
from recallbench.cluster.job import Failed, Share
from recallbench.errors import RecallBenchError
from recallbench.progress import Progress, Silent
from recallbench.results.environment import packages
from recallbench.results.result import open_result


@dataclass(frozen=True, slots=True)
class AuditJob:
    """Audits of folders that every worker sees at the same place."""

    folders: tuple[Path, ...]
    corpus_files: tuple[Path, ...]
    rerun_control: bool | None
    cache_dir: Path

    @property
    def share(self) -> Share:
        return "core"

    def open(self, cores: int, *, gpu: bool) -> OpenedAudits:
        return OpenedAudits(self)


class OpenedAudits:
    """Audits on a worker."""

    def __init__(self, job: AuditJob) -> None:
        self._job = job

    def facts(self) -> Mapping[str, str]:
        return {**packages(), **_facts(self._job)}

    def do(self, item: Path) -> Audit:
        job = self._job
        return audit(
            item,
            corpus_files=job.corpus_files,
            environ=dict(os.environ),
            rerun_control=job.rerun_control,
            progress=Silent(),
            cache_dir=job.cache_dir,
        )


def audit_on_nodes(job: AuditJob, engine: Engine, progress: Progress) -> dict[Path, Audit | RecallBenchError]:
    """Audit the folders on the nodes of a cluster, and keep what comes of them; returns an error where one failed.

    Folders that can't be read here are left out. Raises Blocked where no node sees the folders as they are here.
    """
    environ, kept = dict(os.environ), KeptAudits(job.cache_dir)
    before = {each: state_here(each, kept, job.corpus_files, environ, job.cache_dir) for each in job.folders}
    expected = {**packages(), **_facts(job)}
    folders = [folder for folder in job.folders if _of_folder(folder) in expected]
    came: dict[Path, Audit | RecallBenchError] = {}
    with (
        open_crew(engine, job, expected, "the audits", progress) as crew,
        progress.stage("audits on nodes", len(folders), "folders") as advance,
    ):
        for place, of_folder, _ in crew.work(folders, str):
            folder = folders[place]
            if isinstance(of_folder, Failed):
                came[folder] = of_folder.error
            else:
                examined = came[folder] = with_git_asked_here(of_folder.value, folder)
                found = before[folder]
                whole = job.rerun_control is None and found[0]
                if whole and state_here(folder, kept, job.corpus_files, environ, job.cache_dir) == found:
                    kept.keep(kept.address(folder, *found), examined, found[0])
            advance(1)
    return came


def _of_folder(folder: Path) -> str:
    return f"the folder {folder}"


def _facts(job: AuditJob) -> dict[str, str]:
    """Return what decides the audits of these folders, for those that can be read."""
    facts, environ = {}, dict(os.environ)
    for folder in job.folders:
        try:
            metrics = open_result(folder).metrics
            state, dataset = folder_state(folder)[:16], at_hand(metrics, job.corpus_files, environ, job.cache_dir)
        except (RecallBenchError, OSError):
            continue
        facts[_of_folder(folder)] = state
        facts[f"the dataset of {folder}"] = dataset or "not here"
    return facts
