"""What a result folder states of itself; whether that is so, is for an audit to say."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError
from recallbench.reading import document, regular
from recallbench.results import manifest
from recallbench.results.metrics import OVERALL, EstimatePart, HeadlinePart, Metrics


@dataclass(frozen=True, slots=True)
class Stated:
    """One folder's figures, and the hash that stands for all of its files."""

    folder: Path
    metrics: Metrics
    manifest_sha256: str

    @property
    def headline(self) -> tuple[HeadlinePart, ...]:
        """The protocol's metrics, recall first."""
        return tuple(self.metrics.headline)

    def estimate(self, measure: str) -> EstimatePart | None:
        """The estimate of that measure over all questions."""
        return next((one for one in self.metrics.estimates.get(OVERALL, []) if one.measure == measure), None)

    @property
    def embedder(self) -> str:
        return self.metrics.embedder.name if self.metrics.embedder else "no embedder"

    @property
    def version(self) -> str:
        """Of the system under test, without what it runs on; on one line, whatever it holds."""
        return "".join(one if one.isprintable() else " " for one in self.metrics.store.version.split(" (")[0])


def stated(folder: Path) -> Stated:
    """Read metrics.json and hash the manifest; raises InputError where either can't be had."""
    path = folder / "metrics.json"
    try:
        metrics = Metrics.model_validate_json(document(regular(path, folder)))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"]) or "the file"
        raise InputError(
            f"{folder} is not a result folder",
            expected="a folder that `recallbench run` wrote",
            found=f"metrics.json: {place}: {first['msg']}",
            remedy="name a folder under benchmarks/<corpus>/results/",
        ) from None
    return Stated(folder, metrics, sha256_of(regular(folder / manifest.NAME, folder)))


def told_place(folder: Path, start: Path | None = None) -> str:
    """The folder as a text can name it: from the root of its repository, else from `start` or the working directory."""
    real = folder.resolve()
    root = repository(real) or (start or Path.cwd()).resolve()
    return Path(os.path.relpath(real, root)).as_posix()


def repository(place: Path) -> Path | None:
    """The root of the git repository that a path lies in."""
    return next((one for one in (place, *place.parents) if (one / ".git").exists()), None)
