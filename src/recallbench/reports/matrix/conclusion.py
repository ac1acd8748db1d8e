"""How a matrix ends: which system leads where, what can't be told apart from it, and what to do next."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.escaping import shell
from recallbench.reports.cells import figure
from recallbench.reports.matrix.document import BM25, CellPart, MatrixDocument
from recallbench.reports.matrix.words import is_out_of_reach, led_pairs
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.deciding import disagreement
from recallbench.reports.printing.typed_command import TypedCommand

NAMED = 3
"""Systems that are told to lead."""
EACH = 2
"""Corpora up to which each has its leader told by itself."""
AGAINST = "against "
"""How it begins that interval and p disagree on a system, which says then whether it is told apart."""


@dataclass(frozen=True, slots=True)
class _Lead:
    """The system that leads, and those that can't be told apart from it."""

    system: str
    value: float
    alike: Sequence[str]
    others: Sequence[str]

    @property
    def words(self) -> str:
        """Return who is told apart from it, and who is not."""
        if not self.others:
            return ""
        if not self.alike:
            return f", told apart from {'all ' if len(self.others) > 1 else ''}{_counted(self.others)}"
        return f", not told apart from {_counted(self.alike)}"


def conclusion(matrix: MatrixDocument, folder: Path | None = None, command: TypedCommand | None = None) -> Conclusion:
    """Return which system leads where, whether one can believe it, and what to do next; `folder` holds the matrix.

    It is left out where the results of the cells are not beside it; `command` measured the cells.
    """
    same = "the same command again" if command is None else command.again()
    failed = f"{len(matrix.failed)} of {len(matrix.cells)} cells failed" if matrix.failed else ""
    return Conclusion(
        _led(matrix),
        failed or _believed(matrix),
        f"try those that failed: {same}" if failed else _next(matrix, folder),
        tone="bad" if failed else "good",
    )


def _led(matrix: MatrixDocument) -> str:
    """Return who leads on each corpus; of many corpora who leads over all together, and then by itself on which."""
    leads = {corpus.name: lead for corpus in matrix.corpora if (lead := _lead(matrix, corpus.name)) is not None}
    measure = matrix.measures[0]
    if not leads:
        return "No cell has figures"
    if len(leads) == 1:
        (name, lead), *_ = leads.items()
        words = "" if _believed(matrix).startswith(AGAINST) else lead.words
        return f"On {plain_names(name)} {lead.system} leads, {measure} {figure(lead.value)}{words}"
    if len(leads) <= EACH:
        (first, leader), *others = leads.items()
        if all(lead.system == leader.system for lead in leads.values()):
            places = " and ".join(f"{plain_names(name)} ({figure(lead.value)})" for name, lead in leads.items())
            return f"By {measure} {leader.system} leads on {places}"
        told = [f"{leader.system} leads on {plain_names(first)} ({figure(leader.value)})"]
        told += [f"{lead.system} on {plain_names(name)} ({figure(lead.value)})" for name, lead in others]
        return f"By {measure} {', '.join(told)}"
    by_leader = Counter(lead.system for lead in leads.values())
    (most, count), *rest = by_leader.most_common(NAMED)
    where = ", ".join([f"{most} leads on {count} of {len(leads)} corpora", *(f"{name} on {n}" for name, n in rest)])
    over = _lead_together(matrix)
    if over is None:
        return f"By {measure} {where}"
    together = f"Over {len(leads) - len(matrix.apart)} corpora {over.system} leads, {measure} {figure(over.value)}"
    return f"{together}{over.words}; by itself {where}"


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


def _believed(matrix: MatrixDocument) -> str:
    """Return the first reason to doubt who leads, or by which tests systems are told apart."""
    if matrix.limit is not None:
        return f"only the first {matrix.limit} questions were asked"
    corpora = [corpus.name for corpus in matrix.corpora if led_pairs(matrix, corpus.name)]
    if mute := [plain_names(name) for name in corpora if is_out_of_reach(led_pairs(matrix, name))]:
        where = "" if len(corpora) == 1 else f"on {mute[0]} " if len(mute) == 1 else f"on {len(mute)} corpora "
        return f"{where}the tests could tell nothing apart"
    if len(corpora) > 1:
        leads = [lead for name in corpora if (lead := _lead(matrix, name)) is not None]
        apart = sum(not lead.alike for lead in leads)
        return f"told apart from all others on {apart} of {len(leads)}"
    return _disagreement(matrix, corpora[0]) or "p is corrected for every pair" if corpora else ""


def _disagreement(matrix: MatrixDocument, corpus: str) -> str:
    """Return which of interval and p decides the first pair of the leader where they disagree."""
    lead, pairs = _lead(matrix, corpus), led_pairs(matrix, corpus)
    for pair in pairs:
        systems = [pair.first_system, pair.second_system]
        if lead is not None and lead.system in systems and (said := disagreement(pair, len(pairs))):
            systems.remove(lead.system)
            return f"{AGAINST}{systems[0]} {said}"
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
    return shell.command("compare", *places)


def _value(cell: CellPart, measure: str) -> float:
    estimate = cell.estimate(measure)
    return 0.0 if estimate is None or estimate.value is None else estimate.value


def _counted(systems: Sequence[str]) -> str:
    """Return the one system by its name, of several how many they are."""
    return systems[0] if len(systems) == 1 else f"{len(systems)} others"
