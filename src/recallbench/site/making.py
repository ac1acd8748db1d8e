"""A site from folders to pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from recallbench.audit.folder_state import refuse_changed
from recallbench.progress import Progress
from recallbench.reports import versions_page
from recallbench.reports.page import with_way_back
from recallbench.reports.result_page import page_of
from recallbench.results.metrics import Metrics
from recallbench.results.result import open_with_manifest
from recallbench.site.board import Board, every_entry, make_board
from recallbench.site.board_table import board_sheet
from recallbench.site.choices import SiteChoices
from recallbench.site.curve import Standing, standing_of
from recallbench.site.history import Series, series_of
from recallbench.site.index_page import SHEET, Index, index_page
from recallbench.site.links import Links
from recallbench.site.local_words import folders_of, without_places
from recallbench.site.picture import draw
from recallbench.site.places import Place
from recallbench.site.studies import Study, read_studies

INDEX = "index.html"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Site:
    """The files of a site by name, and what they tell of."""

    files: Mapping[str, str]
    board: Board
    studies: Sequence[Study]
    histories: int
    unlinked: int
    """How many entries of the board no link leads to."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was admitted: no result, no rankings of others, no study."""
        return not self.board.groups and not self.studies


def make_site(places: Sequence[Place], out: Path, choices: SiteChoices, progress: Progress) -> Site:
    """Return the site of these places, which is going to lie in a folder; nothing is written."""
    with folders_of(places, out) as without_folders:
        made = _make(places, out, choices, progress)
        return replace(made, files={name: without_folders(content) for name, content in made.files.items()})


def _make(places: Sequence[Place], out: Path, choices: SiteChoices, progress: Progress) -> Site:
    audited = make_board(places, choices, progress)
    studies, changed = read_studies(places)
    board = Board(audited.groups, sorted([*audited.apart, *changed], key=lambda each: each.place.name))
    with progress.stage("the pages", None, "pages") as advance:
        standings = [standing_of(group, choices.measures[0], choices.prices.currency) for group in board.groups]
        copies = copies_of(board) if choices.copy else {}
        links = Links(out, {name: file for file, (name, _) in copies.items()})
        histories = _numbered("history", [s for group in board.groups for s in series_of(group, choices.measures)])
        files = {file: page for file, (_, page) in copies.items()}
        for name, series in histories.items():
            files[f"{name}.html"] = _history_page(series, links)
            files[f"{name}.svg"] = versions_page.plot(series.document).picture()
            advance(1)
        for name, study in (numbered := _numbered("study", studies)).items():
            files[f"{name}.html"] = study.page
            files |= {f"{name}.svg": study.plot.picture()} if study.plot is not None else {}
            advance(1)
        below = [name for name in files if name.endswith(".html")]
        files |= {name: with_way_back(files[name], INDEX, choices.title) for name in below}
        drawn = _pictures(board, standings, choices)
        files |= dict(drawn.values())
        index = Index(
            board,
            standings,
            choices,
            links,
            {f"{name}.html": series for name, series in histories.items()},
            {f"{name}.html": study for name, study in numbered.items()},
            {number: name for number, (name, _) in drawn.items()},
        )
        files |= {INDEX: index_page(index), SHEET: board_sheet(board, standings, choices, links)}
    unlinked = sum(
        links.folder(entry.place.path) is None and entry.name not in links.copies for entry in every_entry(board)
    )
    return Site(files, board, studies, len(histories), unlinked)


def _numbered(word: str, things: Sequence[T]) -> dict[str, T]:
    return {f"{word}-{number}": thing for number, thing in enumerate(things, 1)}


def copies_of(board: Board) -> dict[str, tuple[str, str]]:
    """Return the page of each result by the name of its file, made again without texts of the corpus."""
    entries = sorted((entry for group in board.groups for entry in group.entries), key=lambda entry: entry.name)
    copies = {}
    for number, entry in enumerate(entries, 1):
        result = open_with_manifest(entry.place.path)
        metrics = Metrics.model_validate(without_places(result.metrics.model_dump()))
        result.environment = without_places(result.environment)
        copies[f"result-{number}.html"] = (entry.name, page_of(result, metrics))
        refuse_changed(entry.place.path, entry.state, entry.name)
    return copies


def _history_page(series: Series, links: Links) -> str:
    pages = {label: links.page(entry.place.path, entry.name) for label, entry in series.labels.items()}
    reports = {label: page for label, page in pages.items() if page is not None}
    return versions_page.render(series.document, reports, series.repeats)


def _pictures(board: Board, standings: Sequence[Standing], choices: SiteChoices) -> dict[int, tuple[str, str]]:
    drawn = {}
    for number, (group, standing) in enumerate(zip(board.groups, standings, strict=True), 1):
        plot = draw(group, standing, choices.measures[0], choices.gates)
        if plot is not None:
            drawn[number] = (f"picture-{number}.svg", plot.picture())
    return drawn
