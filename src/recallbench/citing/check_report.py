"""How the check of texts is shown: a line for each claim that is not right, all of them as rows, and the last line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.citing.citation_check import STATES, CheckedFigure
from recallbench.citing.declaration import FORM
from recallbench.escaping.terminal import shortened
from recallbench.reports.page import Page
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.printed import Printed
from recallbench.reports.table import Table

LONGEST = 120
"""Characters of a fault that the last line has; all of it stands above."""
COLUMNS = ("file", "line", "state", "claim", "faults", "compared with")
TITLE = "Figures of texts beside what they name"


@dataclass(frozen=True, slots=True)
class CheckedTexts:
    """Every figure of some texts, with its state."""

    by_file: Mapping[Path, Sequence[CheckedFigure]]
    strict: bool = False
    """Whether all but what is right fails."""

    @property
    def figures(self) -> list[tuple[Path, CheckedFigure]]:
        """Return the figures with their files, in order."""
        return [(file, figure) for file, figures in self.by_file.items() for figure in figures]

    @property
    def failing(self) -> list[tuple[Path, CheckedFigure]]:
        """Return the figures that the texts may not give as they do."""
        return [(file, one) for file, one in self.figures if self.fails(one)]

    def fails(self, figure: CheckedFigure) -> bool:
        """Return whether a text may not give this figure as it does."""
        return figure.fails or (self.strict and figure.state != "right")

    @property
    def counts(self) -> dict[str, int]:
        """Return how many figures are in each state."""
        states = Counter(figure.state for _, figure in self.figures)
        return {state: states[state] for state in STATES}


def printed(texts: CheckedTexts) -> Printed:
    """Return the report; text lists what is not right, every other format all figures."""
    rows = [
        (str(file), str(one.figure.line), one.state, one.title, "; ".join(one.problems), one.source)
        for file, one in texts.figures
    ]
    table = Table(COLUMNS, rows)
    return Printed(
        TITLE,
        _lines(texts.figures),
        document(texts),
        conclusion(texts),
        own_markdown="\n".join(table.markdown()),
        own_page=Page(TITLE, table.html()).html(),
        own_sheet=table,
    )


def document(texts: CheckedTexts) -> dict[str, Any]:
    """Return the figures for a program."""
    files = [str(file) for file in texts.by_file]
    return {
        "file": files[0] if len(files) == 1 else None,
        "files": files,
        "figures": [
            {
                "file": str(file),
                "line": one.figure.line,
                "claim": one.title,
                "names": [name.text for name in one.figure.names],
                "bound": one.figure.bound or None,
                "value": one.figure.value,
                "role": one.figure.role,
                "folders": [folder.text for folder in one.figure.folders],
                "status": one.state,
                "problems": list(one.problems),
                "compared_with": one.source or None,
                "fails": texts.fails(one),
            }
            for file, one in texts.figures
        ],
        "counts": texts.counts,
        "strict": texts.strict,
        "holds": not texts.failing,
    }


def conclusion(texts: CheckedTexts) -> Conclusion:
    """Return how the check ends: how many figures are in which state, whether the texts may say so, what to do next."""
    files = [str(file) for file in texts.by_file]
    where = files[0] if len(files) == 1 else f"{len(files)} files"
    if not texts.figures:
        return Conclusion(f"{where}: no figure of a measure", "so nothing was checked", tone="open")
    counts = [f"{count} {state}" for state, count in texts.counts.items() if count]
    happened = f"{where}: {_number_of(len(texts.figures), 'figure')}: {', '.join(counts)}"
    if texts.failing:
        number = len(texts.failing)
        belief = "1 may not stand as it does" if number == 1 else f"{number} may not stand as they do"
        return Conclusion(happened, belief, _next(texts.failing), tone="bad")
    if rest := len(texts.figures) - texts.counts["right"]:
        by_word = [one for _, one in texts.figures if one.by_word]
        in_files = sum(bool(one.source) for one in by_word)
        told = [f"{in_files} as data files have it, which no audit covers"] if in_files else []
        if stated := len(by_word) - in_files:
            told.append(f"{stated} by the text's own word that commands or others made {_them(stated)}")
        if rest > len(by_word):
            others = "the others that are not right were" if told else "what is not right was"
            told.append(f"{others} not compared with anything")
        return Conclusion(
            happened,
            "; ".join(["nothing contradicts the text", *told]),
            "commit the result folders and name them, and check with --strict",
            tone="open",
        )
    return Conclusion(happened, "each as its folder has it, which was audited just now")


def _next(failing: Sequence[tuple[Path, CheckedFigure]]) -> str:
    """Return what helps against the gravest."""
    file, first = min(failing, key=lambda entry: _GRAVITY.index(entry[1].state))
    place = f"{file}:{first.figure.line}"
    fault = shortened(first.problems[0], LONGEST) if first.problems else ""
    if first.state == "not checkable":
        remedies = dict.fromkeys(one.remedy for _, one in failing if one.state == first.state and one.remedy)
        return "; ".join(remedies) or f"{place}: {fault}"
    if first.state == "no folder named":
        return f"name the result folder at {place}, or say where its figures are from: {FORM}"
    return f"{'mend' if first.state == 'wrong' else 'say what is missing at'} {place} first: {fault}"


_GRAVITY = ("wrong", "right but undisclosed", "no folder named", "not checkable", "right")


def _lines(figures: Iterable[tuple[Path, CheckedFigure]]) -> list[str]:
    """Return a line for each place and its faults; what a comment declares is one line for each comment.

    What is lacking of a folder, and not of a value, stands below, once for all places where it is cited so.
    """
    alike: dict[tuple[object, ...], list[CheckedFigure]] = {}
    folders: dict[tuple[Path, str, tuple[str, ...], str], list[int]] = {}
    for file, one in figures:
        if one.state != "right":
            declared = one.figure.declared.line if one.figure.declared and one.by_word else 0
            place = (declared, one.own) if declared else (0, one.figure.line, one.own)
            alike.setdefault((file, one.state, *place), []).append(one)
        if one.of_folder:
            folders.setdefault((file, one.source, one.of_folder, one.adding), []).append(one.figure.line)
    lines = [_line(str(key[0]), entries) for key, entries in alike.items()]
    for (file, folder, lacking, adding), places in folders.items():
        numbers = list(map(str, dict.fromkeys(places)))
        lines.append(f"{file}: {folder}, in line{'' if len(numbers) == 1 else 's'} {', '.join(numbers)}:")
        lines += [f"  {problem}" for problem in lacking]
        lines += [f"  what to add: {adding} prints the words"] if adding else []
    return lines


def _line(file: str, entries: Sequence[CheckedFigure]) -> str:
    first, last = entries[0], entries[-1].figure.line
    line, claim = str(first.figure.line), ", ".join(one.title for one in entries)
    if first.by_word:
        line, claim = f"{line}-{last}" if last > first.figure.line else line, _number_of(len(entries), "figure")
    return ": ".join(filter(None, (f"{file}:{line}", first.state, claim, "; ".join(first.own))))


def _number_of(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"
