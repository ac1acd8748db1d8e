"""A folder's rankings in every universe, and published numbers among them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.errors import InputError, UsageError
from recallbench.foreign.case import dataset_of, index_of
from recallbench.foreign.controls import Controls, control_figures
from recallbench.foreign.corpus_index import named_sessions
from recallbench.foreign.layouts import own
from recallbench.foreign.layouts.layout import Imported
from recallbench.foreign.layouts.registry import described_layouts, find_layout
from recallbench.foreign.names import meaning_of
from recallbench.foreign.rescoring import MEANINGS, STATED, RescoredRankings, Scoping, rescore
from recallbench.foreign.universes import DEPTHS, Cell, Definition, agrees, cells, definitions
from recallbench.protocol.frozen import load
from recallbench.scoring.measures.registry import MEASURES, family

_SCOPES: Mapping[Scoping, str] = {
    "named": "each id names the haystack it comes from",
    "consistent": "ids are bare; none contradicts its question's own scope",
    "contradicted": "ids are bare, and some cannot belong to their question's own scope: bare figures are upper bounds",
    "unknown": "ids are bare: whether they belong to their question's own scope can't be told",
}
_NUMBER = re.compile(r"[0-9]*\.?[0-9]+")


@dataclass(frozen=True, slots=True)
class FigureRange:
    """The range of the figures of one name over all universes."""

    family: str
    k: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PlacedNumber:
    """A published number among the universes."""

    text: str
    equals: tuple[Cell, ...]
    place: str


@dataclass(frozen=True, slots=True)
class Multiverse:
    """Every universe of a folder's rankings."""

    folder: Path
    layout: str
    questions: int
    depth: int
    scoping: Scoping
    own_view: str
    leaking: int
    """Questions whose rankings hold ids that cannot be of their own scope."""
    unstated: tuple[str, ...]
    cells: tuple[Cell, ...]
    ranges: tuple[FigureRange, ...]
    placed: tuple[PlacedNumber, ...]
    gold: str
    """The source of the gold, and the rows that differ."""
    warnings: tuple[str, ...] = ()
    """Signs that a folder of this tool is not as it was written."""
    controls: Controls | None = None
    """BM25 and chance over the same questions, where they were asked for."""

    @property
    def meanings(self) -> tuple[tuple[str, str], ...]:
        """The name of each scope, and its meaning."""
        return tuple((name, text) for name, text in MEANINGS.items() if any(cell.scope == name for cell in self.cells))

    @property
    def scope_summary(self) -> str:
        others = f"; {self.leaking} rankings hold ids of other haystacks" if self.leaking else ""
        return _SCOPES[self.scoping] + others

    @property
    def tables(self) -> tuple[tuple[str, str, int], ...]:
        """The scope, denominator and count of each table, in order."""
        return tuple(dict.fromkeys((cell.scope, cell.denominator, cell.n) for cell in self.cells))

    @property
    def distinct_tables(self) -> tuple[tuple[tuple[str, str, int], tuple[str, ...]], ...]:
        """The tables without repetitions, each with the scopes of those that repeat it."""
        universes: dict[object, tuple[tuple[str, str, int], list[str]]] = {}
        for table in self.tables:
            scope, denominator, n = table
            here = [cell for cell in self.cells if (cell.scope, cell.denominator) == (scope, denominator)]
            figures = tuple((cell.definition, f"{cell.low:.9f}", f"{cell.high:.9f}", cell.stated) for cell in here)
            universes.setdefault((denominator, n, figures), (table, []))[1].append(scope)
        return tuple((table, tuple(scopes[1:])) for table, scopes in universes.values())

    def matches(self, number: PlacedNumber) -> tuple[tuple[Cell, tuple[str, ...]], ...]:
        """Return the universes that give a number, one of those that are alike, each with the scopes of the others."""
        others = {(scope, denominator): scopes for (scope, denominator, _), scopes in self.distinct_tables}
        places = [(cell, (cell.scope, cell.denominator)) for cell in number.equals]
        return tuple((cell, others[place]) for cell, place in places if place in others)

    def protocol_cell(self, cell: Cell) -> Cell | None:
        """Return the cell if the protocol means it by a name, else None."""
        meant = {Definition("recall_any", cell.definition.k), Definition("mrr", 50)}
        return cell if cell.protocol and cell.scope == self.own_view and cell.definition in meant else None


def survey(
    folder: Path,
    corpus_file: Path | None,
    environ: Mapping[str, str],
    published: Sequence[str] = (),
    *,
    controls: bool = False,
) -> Multiverse:
    """Return every universe, with BM25 and chance over the same questions where `controls` says so.

    Raises InputError for a folder without rankings, or controls without the dataset, and UsageError for a number that
    is none.
    """
    numbers = [_number(text) for text in published]
    layout = own.LAYOUT if own.recognises(folder) else find_layout(folder)
    if layout is None and not folder.is_dir():
        raise InputError(
            f"there is no folder {folder}",
            expected="a folder with rankings, of this or another tool",
            found="a file" if folder.exists() else "nothing",
            remedy="name the folder that holds the rankings",
        )
    if layout is None:
        raise InputError(
            f"{folder} holds no rankings that can be read",
            expected=f"{own.LAYOUT.description}, or {described_layouts()}",
            found="none of these",
            remedy="name the folder that holds the rankings",
        )
    imported = layout.read(folder)
    if not imported.questions:
        raise InputError(
            f"{folder}: no ranking was kept",
            expected="a row for each question, with the ids that came back",
            found="; ".join(imported.unstated) or "no rows",
            remedy="ask whoever made it for the rows; without them no number can be scored again",
        )
    dataset, why = index_of(imported, corpus_file, load(), environ)
    if dataset is None and controls:
        raise InputError(
            f"{folder}: BM25 and chance can't be taken over its questions",
            expected="the dataset, whose texts they need",
            found=why,
            remedy="name the dataset with --corpus-file, or leave --controls out",
        )
    if dataset is None and (imported.by_time or not imported.gold_stated):
        raise InputError(
            f"{folder}: nothing tells which session is gold",
            expected="rows that name it, or the dataset",
            found=why,
            remedy="name the dataset with --corpus-file",
        )
    if dataset is not None:
        imported = named_sessions(imported, dataset)
    rescored = rescore(imported, dataset, derive=True)
    depths = {k for claim in imported.claims if (k := meaning_of(claim.name).k) and k <= 100}
    chosen = definitions((*DEPTHS, *depths))
    universes = tuple(cells(rescored.views, chosen, rescored.denominators))
    return Multiverse(
        folder,
        layout.name,
        len(imported.questions),
        imported.depth,
        rescored.scoping,
        rescored.own_view,
        len({leak.question for leak in rescored.leaks}),
        imported.unstated,
        universes,
        tuple(_ranges(universes)),
        tuple(
            _placed(text, value, decimals, universes)
            for text, (value, decimals) in zip(published, numbers, strict=True)
        ),
        _gold(imported, rescored, why),
        tuple(_altered(imported, rescored, universes)) if layout is own.LAYOUT else (),
        _controls(imported, rescored, corpus_file, environ, chosen) if controls else None,
    )


def _controls(
    imported: Imported,
    rescored: RescoredRankings,
    corpus_file: Path | None,
    environ: Mapping[str, str],
    chosen: Sequence[Definition],
) -> Controls | None:
    corpus, _ = dataset_of(imported, corpus_file, load(), environ)
    asked = {entry.id for entry in rescored.known if entry is not None}
    return None if corpus is None else control_figures(corpus, asked, chosen)


def _gold(imported: Imported, rescored: RescoredRankings, why: str) -> str:
    if not imported.gold_stated:
        return "as the dataset gives it: the rows state none"
    if why:
        return f"as the rows state it ({why})"
    differing = rescored.differing
    text = f"{len(differing)} rows state other gold, such as that of {', '.join(differing[:3])}" if differing else ""
    if not rescored.derived:
        return "as the rows state it, by turns, where the dataset gives sessions" + (
            f"; as sessions, {text}" if text else ""
        )
    strange = sum(entry is None for entry in rescored.known)
    beside = f"; {strange} questions are not in the dataset at hand, theirs is as stated" if strange else ""
    if not text:
        return f"as the dataset gives it, and as the rows state it{beside}"
    return f'derived from the dataset; {text}: scopes with "{STATED.strip(", ")}" take theirs{beside}'


def _altered(imported: Imported, rescored: RescoredRankings, universes: Sequence[Cell]) -> Iterator[str]:
    """Yield the contradictions between rows and metrics.json; figures that the rows only bound are left out."""
    if rescored.differing:
        yield f"{len(rescored.differing)} rows state other gold than the dataset gives"
    wrong = []
    own_cells = {
        cell.definition: cell for cell in universes if cell.protocol and cell.scope == rescored.own_view and cell.exact
    }
    for claim in imported.claims:
        meant = meaning_of(claim.name).protocol
        cell = own_cells.get(meant) if meant is not None and claim.name == str(meant) else None
        graded = imported.graded and meant is not None and meant.kind == "ndcg"
        if cell is not None and not graded and (not agrees(cell.low, claim.value, 6) or claim.n not in (None, cell.n)):
            wrong.append(f"{claim.name} {claim.value:.4f} over {claim.n}, the rows give {cell.low:.4f} over {cell.n}")
    if wrong:
        rest = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        yield f"the rows do not give the figures of its metrics.json: {'; '.join(wrong[:3])}{rest}"


def _number(text: str) -> tuple[float, int]:
    """Return the value and its decimals as a share of 1: 89.1% is .891, to three."""
    digits, percent = text.strip().removesuffix("%").rstrip(), text.strip().endswith("%")
    if not _NUMBER.fullmatch(digits):
        raise UsageError(
            f"--published {text} is no number",
            expected="a number as it was printed, such as 0.795 or 79.5%",
            found=text,
            remedy="give each number with an option of its own",
        )
    value, decimals = float(digits), len(digits.partition(".")[2])
    if percent:
        return value / 100, decimals + 2
    if value > 1:
        raise UsageError(
            f"--published {text} is more than 1, and every figure is a share of 1",
            expected="a number as it was printed, such as 0.795 or 79.5%",
            found=text,
            remedy=f"did you mean {value / 100:.{decimals + 2}f}, which is {digits}%?",
        )
    return value, decimals


def _ranges(universes: Sequence[Cell]) -> list[FigureRange]:
    groups: dict[tuple[str, int], list[Cell]] = {}
    for cell in universes:
        groups.setdefault((family(MEASURES[cell.definition.kind]), cell.definition.k), []).append(cell)
    return [
        FigureRange(name, k, min(cell.low for cell in group), max(cell.high for cell in group))
        for (name, k), group in groups.items()
    ]


def _placed(text: str, value: float, decimals: int, universes: Sequence[Cell]) -> PlacedNumber:
    equals = tuple(cell for cell in universes if cell.exact and agrees(cell.low, value, decimals))
    if equals:
        return PlacedNumber(text, equals, f"{len(equals)} of {len(universes)} universes give it")
    within = [cell for cell in universes if not cell.exact and cell.low <= value <= cell.high]
    nearest = min(universes, key=lambda cell: cell.distance(value))
    below = sum(cell.high < value for cell in universes)
    place = f"no universe gives it; {below} of {len(universes)} lie below"
    if within:
        place += (
            f", {len(within)} may hold it, such as {within[0].universe} ({within[0].low:.4f} to {within[0].high:.4f})"
        )
    else:
        place += f"; the nearest is {nearest.universe}: {nearest.low:.5f}"
    return PlacedNumber(text, (), place)
