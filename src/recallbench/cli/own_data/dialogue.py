"""The dialogue of `recallbench label`: what is shown, the key that answers it, and what follows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from recallbench.escaping.terminal import visible, visible_lines
from recallbench.interruption import postpone_signals

if TYPE_CHECKING:
    from recallbench.cli.own_data.keyboard import Keyboard
    from recallbench.corpora.labelled_sets.begun_labels import BegunLabels
    from recallbench.corpora.labelled_sets.label_book import LabelBook
    from recallbench.studies.logs.labelling import Labelling
    from recallbench.studies.logs.shelf import Shelf

SHOWN = 400
"""Characters of a document that are shown at first."""
FOUND = 5
"""Documents that a search by words shows."""
HELP = "y n 0-9 a + u m s q: `recallbench label --help` says what each does"
Outcome = Literal["judged", "skipped", "undone", "stopped"]
"""How the judging of one query ends."""


@dataclass(slots=True)
class Dialogue:
    """Queries that wait for their labels, one after the other; a key may lead back."""

    book: LabelBook
    begun: BegunLabels
    shelf: Shelf
    labellings: list[Labelling]
    done: int
    """How many others of those that were named have their label already."""
    keyboard: Keyboard
    stream: Any
    today: date

    def hold(self) -> None:
        """Ask until all queries were shown or the user stops; each label is saved at once, in the book once its
        query is judged."""
        at = 0
        while self.labellings:
            if at == len(self.labellings):
                if self.keyboard.key("\nThat was the last query: u undoes the last label, any other key ends. ") != "u":
                    return
                at = self._back(at)
                continue
            labelling = self.labellings[at]
            shown = visible_lines(labelling.query.text)
            self._say(f"\n[{self.done + at + 1} of {self.done + len(self.labellings)}] {shown}")
            if judged := labelling.place:
                self._say(f"  {judged} of its documents {'is' if judged == 1 else 'are'} judged already; u goes back")
            outcome = self._judge(labelling)
            if outcome == "stopped":
                return
            if outcome == "undone":
                at = self._back(at)
                continue
            if outcome == "judged":
                self._save(labelling)
            at += 1

    def _back(self, at: int) -> int:
        """Return the place of the query whose label was taken back; the same place where there is none."""
        for before in reversed(range(at)):
            labelling = self.labellings[before]
            was_saved = labelling.saved
            with postpone_signals():
                undone = labelling.undo()
                self._keep(labelling)
                if was_saved:
                    self.book.take_back(labelling.query)
                    labelling.saved = ""
            if undone or was_saved:
                self._say("  the last label was taken back")
                return before
        self._say("  nothing to undo")
        return at

    def _judge(self, labelling: Labelling) -> Outcome:
        """Ask for the grade of each document."""
        while True:
            if (proposal := labelling.current) is None:
                if not labelling.grades:
                    self._say("  Nothing was found to put forward.")
                    outcome = self._nothing(labelling)
                elif not labelling.relevant:
                    self._say("  Nothing of this is relevant.")
                    outcome = self._nothing(labelling)
                else:
                    return "judged"
                if outcome is not None:
                    return outcome
                continue
            place = f"{labelling.place + 1} of {len(labelling.proposals)}"
            self._say(f"\n  {place}. {visible(proposal.id)}: {visible(_shortened(proposal.text))}")
            key = self.keyboard.key("  relevant? ")
            while key == "m":
                self._say(visible_lines(proposal.text))
                key = self.keyboard.key("  relevant? ")
            if key in ("q", None):
                return "stopped"
            if key == "s":
                return "skipped"
            if key == "u":
                if not labelling.undo():
                    return "undone"
                self._keep(labelling)
            elif key == "+":
                self._add(labelling)
            elif key == "a":
                labelling.none_of_the_rest()
                self._keep(labelling)
            elif key and key in "yn0123456789":
                labelling.grade(float(key) if key.isdigit() else float(key == "y"))
                self._keep(labelling)
            else:
                self._say(f"  {HELP}")

    def _nothing(self, labelling: Labelling) -> Outcome | None:
        """Ask what a query without anything relevant is; None where it is to be judged further."""
        prompt = "  Should the query find nothing at all? (y; + adds a document, u undoes, any other key: for later) "
        key = self.keyboard.key(prompt)
        if key == "+":
            self._add(labelling)
            return None
        if key == "u":
            undone = labelling.undo()
            self._keep(labelling)
            return None if undone else "undone"
        return "judged" if key == "y" else "stopped" if key in ("q", None) else "skipped"

    def _add(self, labelling: Labelling) -> None:
        """Put a document forward that the user names by its id, or finds by its words."""
        words = self.keyboard.line("  id of the document, or words to search for: ")
        found = self.shelf.find(labelling.query, words, FOUND) if words else []
        if not found:
            self._say("  no document of this scope has that id or these words")
            return
        chosen = found[0]
        if len(found) > 1 or found[0].id != words:
            for number, proposal in enumerate(found, 1):
                self._say(f"    {number}. {visible(proposal.id)}: {visible(_shortened(proposal.text, 120))}")
            key = self.keyboard.key("  which one? (any other key: none) ") or ""
            if key not in map(str, range(1, len(found) + 1)):
                return
            chosen = found[int(key) - 1]
        if not labelling.put_first(chosen):
            self._say(f"  {visible(chosen.id)} is judged already; u goes back")

    def _keep(self, labelling: Labelling) -> None:
        with postpone_signals():
            self.begun.keep(labelling.query, labelling.grades)

    def _save(self, labelling: Labelling) -> None:
        with postpone_signals():  # what is told of an interruption counts it, or it is not there
            labelling.saved = self.book.append(labelling.query, labelling.grades, self.today)
            self.begun.keep(labelling.query, {})
        self._say(f"  saved: {labelling.relevant} relevant of {labelling.place} judged")

    def _say(self, text: str) -> None:
        print(text, file=self.stream)


def _shortened(text: str, most: int = SHOWN) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}… (m shows all)"
