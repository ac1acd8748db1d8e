"""A dry run: the whole path on a miniature, then the prerequisites of the real run."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from recallbench.corpora.registry import write_miniature
from recallbench.escaping.terminal import shortened
from recallbench.progress import Silent
from recallbench.protocol.frozen import load
from recallbench.protocol.reproductions import find_reproduction
from recallbench.reports.conclusions.names import listed
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.table import Part, Table
from recallbench.results.manifest import differences
from recallbench.results.result import open_result
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.runs.forecast.forecast import Forecast
from recallbench.runs.forecast.foreseen import foresee
from recallbench.runs.forecast.words import forecast_document, forecast_words
from recallbench.runs.options import Options
from recallbench.runs.readiness import ReadinessRow, readiness
from recallbench.runs.run import run
from recallbench.scratch import scratch

OF_THE_PROTOCOL = ("extension", "history")
"""Rows that speak of the protocol alone."""
CHOSEN = ("corpus: ", "store: ", "embedder: ")
"""Deviations that only say what was chosen in place of what the protocol names."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """A run that was rehearsed on a miniature, and whether the real one could start."""

    options: Options
    asked: int
    files: Sequence[str]
    wrong: Sequence[str]
    """What is wrong with the artefacts of the miniature."""
    rows: Sequence[ReadinessRow]
    forecast: Forecast | None = None
    """What the real one takes on this machine; None where that can't be told."""

    @property
    def ready(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing and not self.wrong

    @property
    def missing(self) -> list[ReadinessRow]:
        """What is not ready."""
        return [row for row in self.rows if row.status == "NOT READY"]

    @property
    def told(self) -> tuple[ReadinessRow, ...]:
        """What it needs, and what it takes."""
        return (*self.rows, *forecast_rows(self.forecast))

    def parts(self, *, labels: bool) -> list[Part]:
        """Return what was rehearsed and the readiness table.

        What the protocol says is told of its own store on a corpus of its own, and where `labels` ask for it.
        """
        corpus = self.options.corpus
        departs = any(row.name == "deviation" and row.detail.startswith("store: ") for row in self.rows)
        labels = labels or (corpus in load().corpora and not departs)
        rehearsed = f"{self.asked} questions on a miniature, {len(self.files)} artefacts: {', '.join(self.files)}"
        return [
            f"dry run of {corpus}: {rehearsed}",
            *(f"  artefacts: {line}" for line in self.wrong),
            *readiness_lines(corpus, self.told, labels=labels),
        ]

    def document(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "corpus": self.options.corpus,
            "ready": self.ready,
            "questions": self.asked,
            "artefacts": list(self.files),
            "wrong": list(self.wrong),
            "readiness": [asdict(row) for row in self.rows],
            "forecast": None if self.forecast is None else forecast_document(self.forecast),
        }


def conclude_dry_runs(dry_runs: Sequence[DryRun], command: str) -> Conclusion:
    """Return how a dry run ends: ready, or what is missing first; `command` makes the real run."""
    if wrong := [f"{each.options.corpus}: {line}" for each in dry_runs for line in each.wrong]:
        return Conclusion(f"Not ready: the rehearsal left artefacts that are wrong: {listed(wrong)}", tone="bad")
    missing = [(each.options.corpus, row) for each in dry_runs for row in each.missing]
    runs = "the run" if len(dry_runs) == 1 else f"{len(dry_runs)} runs"
    if missing:
        several = len({each.options.corpus for each in dry_runs}) > 1
        named = [f"{row.name} for {corpus}" if several else row.name for corpus, row in dict.fromkeys(missing)]
        why = f": {shortened(missing[0][1].detail, 80)}" if len(named) == 1 else ""
        remedies = list(dict.fromkeys(row.remedy for _, row in missing if row.remedy))
        commands = all(remedy.startswith("recallbench ") for remedy in remedies)
        return Conclusion(
            f"Not ready: {listed(named)}{why}", "", " && ".join(remedies) if commands else remedies[0], "bad"
        )
    return Conclusion(f"Ready: nothing is missing for {runs}", "", command)


def dry_run(options: Options) -> DryRun:
    """Rehearse on a miniature in a temporary folder, and ask what the real run needs."""
    if options.reproduce is not None:
        find_reproduction(options.reproduce, options.corpus)
    with scratch(Path(tempfile.gettempdir())) as place:
        write_miniature(options.corpus, place / "miniature")
        pipeline = options.pipeline if options.pipeline is not None and _can_be_rehearsed(options.pipeline) else None
        rehearsal = replace(
            options,
            pipeline=pipeline,
            corpus_file=place / "miniature",
            allow_deviations=frozenset({"dataset"}),
            allow_random_matches=True,
            store="exact" if pipeline is None or pipeline.searches_store else None,
            embedder="hash",
            max_tokens=None,
            dsn=(),
            store_options={},
            out=None,
            folder=place / "result",
            limit=None,
            cache_dir=place / "cache",
            with_text=False,
        )
        outcome = run(rehearsal, Silent(), date.today())
        wrong = differences(outcome.folder)
        open_result(outcome.folder)
        files = sorted(path.name for path in outcome.folder.iterdir())
    return DryRun(
        options,
        outcome.metrics.retrieval.asked,
        files,
        wrong,
        readiness(options),
        foresee(options, tries_encoder=False),
    )


def _can_be_rehearsed(pipeline: Pipeline) -> bool:
    """Return whether its stages work on a miniature: none asks a server, and some leg takes vectors."""
    dense = any(leg.method in ("store", "dense") for leg in pipeline.legs)
    return dense and not any(spec.stage.asks_endpoint for spec in pipeline)


def readiness_lines(corpus: str, rows: Sequence[ReadinessRow], *, labels: bool) -> list[str]:
    """Return the readiness table; without `labels` what the protocol says of the run is left out."""
    shown = [row for row in rows if labels or row.status == "NOT READY" or not _of_the_protocol(row)]
    width = max(len(row.name) for row in shown)
    lines = [f"readiness of a real run on {corpus}"]
    for row in shown:
        lines.append(f"  {row.name.ljust(width)}  {row.status:<9}  {row.detail}")
        if row.remedy:
            lines.append(f"  {'':<{width}}  {'':<9}  what to do: {row.remedy}")
    return lines


def forecast_rows(told: Forecast | None) -> list[ReadinessRow]:
    """Return the row on what a real run takes; none where that can't be told."""
    return [] if told is None else [ReadinessRow("prediction", "note", forecast_words(told))]


def readiness_sheet(asked: Mapping[str, Sequence[ReadinessRow]]) -> Table:
    """Return the readiness of runs on these corpora as one table."""
    return Table(
        ("corpus", "what", "status", "detail", "what to do"),
        [(name, row.name, row.status, row.detail, row.remedy) for name, rows in asked.items() for row in rows],
        caption="What a real run needs",
    )


def _of_the_protocol(row: ReadinessRow) -> bool:
    return row.name in OF_THE_PROTOCOL or (row.name == "deviation" and row.detail.startswith(CHOSEN))
