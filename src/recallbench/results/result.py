"""The one reader of result folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError
from recallbench.reading import document, parsed, regular
from recallbench.results import manifest
from recallbench.results.folder import BLOCKED, damaged_result, not_a_result
from recallbench.results.load.levels import NAME as LATENCY
from recallbench.results.metrics import OVERALL, EstimatePart, HeadlinePart, Metrics
from recallbench.results.rankings import Rankings, judge_rows
from recallbench.results.rows import Row, read_rows
from recallbench.results.study_folder import MATRIX
from recallbench.results.sweep.document import NAME as SWEEP

METRICS = "metrics.json"
ENVIRONMENT = "environment.json"
STUDIES = {LATENCY: "a latency study", SWEEP: "a sweep", MATRIX: "a matrix"}
"""What lies in folders of other kinds, by the file that says so."""
READ_ITS_REPORT = "its report says what follows from it, and its manifest.json holds the sha256 of each of its files"


class Result:
    """The figures of a folder, and its other parts, each read when it is first needed.

    Only the form of metrics.json is checked at once. Another part that is missing or malformed raises InputError when
    it is read, so that an audit can report it beside everything else.
    """

    def __init__(self, folder: Path, metrics: Metrics) -> None:
        self.folder = folder
        self.metrics = metrics

    def rows(self) -> list[Row]:
        """Return the rows of raw_retrievals.jsonl; not cached, since rows with texts are large."""
        return read_rows(self.folder)

    @cached_property
    def rankings(self) -> Rankings:
        """The rankings, judged against their stated gold; raises InputError where they do not give the figures."""
        return self.judge(self.rows())

    def judge(self, rows: Sequence[Row]) -> Rankings:
        """Return the `rankings` of its rows, which somebody has read already: they are not read again for them."""
        try:
            self.rankings = judge_rows(rows, self.metrics, self.folder)
            return self.rankings
        except (MemoryError, OverflowError) as error:
            raise not_a_result(self.folder, f"figures that no result has: {error}") from None

    @cached_property
    def environment(self) -> dict[str, Any]:
        """The fields of environment.json."""
        path = self.folder / ENVIRONMENT
        return parsed(document(path), path)

    @cached_property
    def manifest_sha256(self) -> str:
        """The hash of the manifest, which stands for all files."""
        return sha256_of(regular(self.folder / manifest.NAME, self.folder))

    @cached_property
    def content_sha256(self) -> str:
        """The hash over the files that do not vary, taken from the files themselves."""
        files = [path for path in sorted(self.folder.iterdir()) if path.is_file() and path.name != manifest.NAME]
        return manifest.content_sha256({path.name: sha256_of(path) for path in files})

    @property
    def headline(self) -> tuple[HeadlinePart, ...]:
        """The protocol's metrics, recall first."""
        return tuple(self.metrics.headline)

    def estimate(self, measure: str) -> EstimatePart | None:
        """Return the estimate of a measure over all questions."""
        return next(
            (estimate for estimate in self.metrics.estimates.get(OVERALL, []) if estimate.measure == measure), None
        )

    @property
    def version(self) -> str:
        """The store's version in one printable line, without the part in brackets."""
        return "".join(
            character if character.isprintable() else " " for character in self.metrics.store.version.split(" (")[0]
        )


def open_result(folder: Path) -> Result:
    """Return the result in a folder; raises InputError where there is none."""
    path = folder / METRICS
    if not folder.is_dir():
        raise not_a_result(folder, "a file" if folder.exists() else "no such folder")
    if (folder / BLOCKED).exists():
        raise not_a_result(folder, f"{BLOCKED}: the run could not be made")
    if not path.exists():
        for name, study in STUDIES.items():
            if (folder / name).exists():
                raise not_a_result(folder, f"{study}, as its {name} says", READ_ITS_REPORT)
        raise not_a_result(folder, f"{METRICS} is missing")
    try:
        return Result(folder, Metrics.model_validate(parsed(document(path), path), strict=True))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(step) for step in first["loc"]) or "the file"
        raise not_a_result(folder, f"{METRICS}: {field}: {first['msg']}") from None
    except InputError as error:
        raise damaged_result(folder, METRICS, error.found) from error


def open_with_manifest(folder: Path) -> Result:
    """Return the result in a folder; raises InputError where there is none, or no manifest of it."""
    result = open_result(folder)
    if not (folder / manifest.NAME).exists():
        raise not_a_result(folder, f"{manifest.NAME} is missing")
    return result


def open_unchanged(folder: Path) -> Result:
    """Return the result in a folder; raises InputError where there is none, or a file is not as its manifest says."""
    result = open_result(folder)
    if wrong := manifest.differences(folder):
        raise InputError(
            f"{folder} is not as its manifest says",
            expected="a result as it was written",
            found="; ".join(wrong),
            remedy="get it again from where it was made, or make it again; `recallbench audit` tells more",
        )
    return result


def repository_path(folder: Path) -> str:
    """Return the path of a folder from the root of its repository, else from the working directory."""
    real = folder.resolve()
    root = repository(real) or Path.cwd().resolve()
    return Path(os.path.relpath(real, root)).as_posix()


def repository(path: Path) -> Path | None:
    """Return the root of the git repository that a path lies in."""
    return next((folder for folder in (path, *path.parents) if (folder / ".git").exists()), None)
