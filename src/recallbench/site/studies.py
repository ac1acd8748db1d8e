"""Sweeps and latency studies on a site: a page each, drawn again from what their folders hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recallbench.errors import RecallBenchError
from recallbench.reports.load import conclusion as latency_conclusion
from recallbench.reports.load import page as latency_page
from recallbench.reports.load import words as latency_words
from recallbench.reports.plot import Plot
from recallbench.reports.sweep import conclusion as sweep_conclusion
from recallbench.reports.sweep import page as sweep_page
from recallbench.reports.sweep import words as sweep_words
from recallbench.reports.sweep.picture import draw
from recallbench.reports.table import Table
from recallbench.results.load.levels import LatencyDocument
from recallbench.results.load.reading import read_latency
from recallbench.results.sweep.document import SweepDocument
from recallbench.results.sweep.reading import read_sweep
from recallbench.site.board import Apart
from recallbench.site.links import Links, linked
from recallbench.site.local_words import command_line, publishable, without_places
from recallbench.site.places import Place


@dataclass(frozen=True, slots=True)
class Study:
    """A sweep or a latency study."""

    place: Place
    title: str
    said: str
    """What follows from it."""
    command: str
    page: str
    plot: Plot | None = None
    """None where there is nothing to draw."""


def read_studies(places: Iterable[Place]) -> tuple[list[Study], list[Apart]]:
    """Return the studies whose folders are as they were written, and the others with the reason."""
    studies: list[Study] = []
    apart: list[Apart] = []
    for place in places:
        try:
            if place.kind == "sweep":
                studies.append(_sweep(place))
            elif place.kind == "latency":
                studies.append(_latency(place))
        except RecallBenchError as error:
            apart.append(Apart(place, publishable(error.brief)))
    return studies, apart


def study_table(studies: Iterable[tuple[str, Study]], links: Links, caption: str) -> Table:
    """Return a row for each study, whose name links to its page."""
    rows = [
        [
            linked(study.title, page),
            linked(study.place.name, links.folder(study.place.path)),
            study.command or "not stated",
            study.said,
        ]
        for page, study in studies
    ]
    return Table(["study", "folder", "command that made it", "what follows"], rows, caption=caption)


def _sweep(place: Place) -> Study:
    document = SweepDocument.model_validate(without_places(read_sweep(place.path).model_dump()))
    return Study(
        place,
        sweep_words.title(document),
        publishable(str(sweep_conclusion.conclusion(document))),
        command_line(document.environment),
        sweep_page.web_page(document),
        draw(document),
    )


def _latency(place: Place) -> Study:
    document = LatencyDocument.model_validate(without_places(read_latency(place.path).model_dump()))
    return Study(
        place,
        latency_words.title(document),
        publishable(str(latency_conclusion.conclusion(document))),
        command_line(document.environment),
        latency_page.web_page(document),
    )
