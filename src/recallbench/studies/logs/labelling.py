"""The labels of one query while they are given: what is shown, what was said of it, and the way back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from recallbench.corpora.labelled_sets.label_book import UnlabelledQuery
from recallbench.studies.logs.shelf import Proposal


@dataclass(slots=True)
class Labelling:
    """A query, the documents that are put forward for it, and the grade of each that was judged."""

    query: UnlabelledQuery
    proposals: list[Proposal]
    grades: dict[str, float] = field(default_factory=dict)
    """By document, in the order in which they were given."""
    saved: str = ""
    """Its id in the book; empty while its line is not there."""
    _steps: list[Sequence[str]] = field(default_factory=list)
    """The documents that each key judged."""

    @property
    def current(self) -> Proposal | None:
        """The first document that waits for its grade; None when all are judged."""
        return next((proposal for proposal in self.proposals if proposal.id not in self.grades), None)

    @property
    def place(self) -> int:
        """How many documents were judged."""
        return len(self.grades)

    @property
    def relevant(self) -> int:
        """How many documents are relevant."""
        return sum(grade > 0 for grade in self.grades.values())

    def resume(self, judged: Iterable[tuple[Proposal, float]]) -> None:
        """Take the grades that documents were given before; each can be taken back alone."""
        for proposal, value in judged:
            self.put_first(proposal)
            self.grade(value)

    def grade(self, value: float) -> None:
        """Judge the current document."""
        if (current := self.current) is not None:
            self._steps.append([current.id])
            self.grades[current.id] = value

    def none_of_the_rest(self) -> None:
        """Judge all that are left as not relevant."""
        rest = [proposal.id for proposal in self.proposals if proposal.id not in self.grades]
        if rest:
            self._steps.append(rest)
            self.grades |= dict.fromkeys(rest, 0.0)

    def undo(self) -> bool:
        """Take the last step back; whether there was one."""
        if not self._steps:
            return False
        for id in self._steps.pop():
            del self.grades[id]
        return True

    def put_first(self, proposal: Proposal) -> bool:
        """Put a document forward, before all that wait; whether it was not judged already."""
        if proposal.id in self.grades:
            return False
        others = [other for other in self.proposals if other.id != proposal.id]
        judged = [other for other in others if other.id in self.grades]
        waiting = [other for other in others if other.id not in self.grades]
        self.proposals = [*judged, proposal, *waiting]
        return True
