"""How a matrix ends: which system leads where, what can't be told apart from it, and what to do next."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.escaping import shell
from recallbench.reports.cells import figure
from recallbench.reports.conclusions.names import joined
from recallbench.reports.matrix.document import BM25, CellPart, MatrixDocument
from recallbench.reports.matrix.words import is_out_of_reach, led_pairs
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.deciding import disagreement
from recallbench.reports.printing.typed_command import TypedCommand

EACH = 2
"""Corpora up to which each has its leader told by itself."""


@dataclass(frozen=True, slots=True)
class _Lead:
    """The system that leads, and those that can't be told apart from it."""

    system: str
    value: float
    alike: Sequence[str]
    others: Sequence[str]

    @property
    def words(self) -> str:
        if not self.others:
            return ""
        if not self.alike:
            return f", told apart from {self.others[0] if len(self.others) == 1 else f'all {len(self.others)} others'}"
        return f", not told apart from {joined(self.alike)}"


def conclusion(matrix: MatrixDocument, folder: Path | None = None, command: TypedCommand | None = None) -> Conclusion:
    """Return which system leads where, whether one can believe it, and what to do next; `folder` holds the matrix.

    It is left out where the results of the cells are not beside it; `command` measured the cells.
    """
    same = "the same command again" if command is None else command.again()
    failed = [f"{cell.encoder} on {plain_names(cell.corpus)}" for cell in matrix.failed]
    lost = [f"{len(failed)} of {len(matrix.cells)} cells failed: {joined(failed)}"] if failed else []
    return Conclusion(
        _led(matrix),
        "; ".join([*_believed(matrix), *lost]),
        f"try the cells that failed: {same}" if failed else _next(matrix, folder),
        tone="bad" if failed else "good",
    )


def _led(matrix: MatrixDocument) -> str:
    """Return who leads on each corpus; of many corpora who leads over all together, and then by itself on which."""
    leads = {corpus.name: lead for corpus in matrix.corpora if (lead := _lead(matrix, corpus.name)) is not None}
    measure = matrix.measures[0]
    if not leads:
        return "No cell has figures"
    if len(leads) <= EACH:
        told = [
            f"on {plain_names(name)} {lead.system} leads, {measure} {figure(lead.value)}{lead.words}"
            for name, lead in leads.items()
        ]
        return "; ".join(told)[0].upper() + "; ".join(told)[1:]
    by_leader: dict[str, list[str]] = {}
    for name, lead in leads.items():
        by_leader.setdefault(lead.system, []).append(plain_names(name))
    where = "; ".join(f"{system} leads on {joined(names)}" for system, names in by_leader.items())
    over = _lead_together(matrix)
    if over is None:
        return f"By {measure} {where}"
    together = f"Over {len(leads) - len(matrix.apart)} corpora {over.system} leads, {measure} {figure(over.value)}"
    return f"{together}{over.words}; by themselves {where}"


def _lead(matrix: MatrixDocument, corpus: str) -> _Lead | None:
    measure = matrix.measures[0]
    (part,) = [part for part in matrix.corpora if part.name == corpus]
    found = [(cell.encoder, cell.estimate(measure), cell.letters) for cell in matrix.of_corpus(corpus)]
    found.append((BM25, next((each for each in part.bm25 if each.measure == measure), None), part.bm25_letters))
    systems = {
        name: (estimate.value, letters.get(measure, ""))
        for name, estimate, letters in found
        if estimate is not None and estimate.value is not None
    }
    return _leading(systems) if len(systems) > 1 or BM25 not in systems else None


def _lead_together(matrix: MatrixDocument) -> _Lead | None:
    measure = matrix.measures[0]
    return _leading({part.system: (part.values[measure], part.letters[measure]) for part in matrix.together})


def _leading(systems: dict[str, tuple[float, str]]) -> _Lead | None:
    if not systems:
        return None
    first = max(systems, key=lambda name: systems[name][0])
    value, own = systems[first]
    ranked = sorted((name for name in systems if name != first), key=lambda name: -systems[name][0])
    return _Lead(first, value, [name for name in ranked if set(own) & set(systems[name][1])], ranked)


def _believed(matrix: MatrixDocument) -> list[str]:
    """Return by which tests systems are told apart, where these can tell nothing, and where an interval disagrees."""
    corpora = [corpus.name for corpus in matrix.corpora if led_pairs(matrix, corpus.name)]
    if not corpora:
        return []
    mute = [plain_names(name) for name in corpora if is_out_of_reach(led_pairs(matrix, name))]
    told = ["p is corrected for every pair of a corpus"]
    if mute:
        told.append(f"on {joined(mute)} the tests could tell nothing apart, whatever was found")
    for name in corpora:
        if name not in mute and (said := _disagreement(matrix, name)):
            told.append(said)
            break
    if matrix.limit is not None:
        told.append(f"only the first {matrix.limit} questions were asked")
    return told


def _disagreement(matrix: MatrixDocument, corpus: str) -> str:
    """Return which of interval and p decides the first pair of the leader where they disagree."""
    lead, pairs = _lead(matrix, corpus), led_pairs(matrix, corpus)
    for pair in pairs:
        systems = (pair.first_system, pair.second_system)
        if lead is not None and lead.system in systems and (said := disagreement(pair, len(pairs))):
            return f"{' and '.join(systems)} on {plain_names(corpus)}: {said}"
    return ""


def _next(matrix: MatrixDocument, folder: Path | None) -> str:
    """Return the command that shows in which questions the two best encoders of the first corpus differ."""
    measure = matrix.measures[0]
    cells = sorted(matrix.of_corpus(matrix.corpora[0].name), key=lambda cell: -_value(cell, measure))[:2]
    if folder is None:
        return "recallbench audit checks each cell"
    places = [os.path.normpath(folder / cell.folder) for cell in cells]
    if len(places) == 1:
        return shell.command("audit", *places)
    return f"which questions differ: {shell.command('compare', *places)}"


def _value(cell: CellPart, measure: str) -> float:
    estimate = cell.estimate(measure)
    return 0.0 if estimate is None or estimate.value is None else estimate.value
