"""The check of a text: every figure against the result folder, or the data file, that is named for it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import unquote

from recallbench.audit.audit import Audit
from recallbench.audit.conclusion import conclude_audit
from recallbench.citing.agreement import differences, doubts
from recallbench.citing.citation import AuditedResult
from recallbench.citing.cited_figures import FigureReader
from recallbench.citing.data_file import DataFile
from recallbench.citing.declaration import Declaration
from recallbench.citing.figure_grammar import MEASURE, CitedFigure, NamedFolder, has_depth_apart
from recallbench.citing.named_corpora import unmeasured
from recallbench.citing.printed_number import FEWEST, number
from recallbench.citing.publication import read_text
from recallbench.citing.standing import Objection, objections
from recallbench.errors import InputError, RecallBenchError
from recallbench.results.folder import is_result
from recallbench.results.result import open_result, repository

State = Literal["right", "right but undisclosed", "wrong", "not checkable", "no folder named"]
SURE = 3
"""Decimals from which a figure that equals that of a folder near it is no coincidence."""
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True)
class CheckedFigure:
    """A figure of the text, what it is held for, and all that is wrong with it or hinders its check."""

    figure: CitedFigure
    state: State
    problems: tuple[str, ...] = ()
    source: str = ""
    """The folder or data file that it was compared with."""
    fails: bool = False
    """Whether the text may not say this as it does."""
    of_folder: tuple[str, ...] = ()
    """Those of the problems, the last ones, that are no fault of the value, but of how its folder is cited."""
    adding: str = ""
    """The command that prints what the text lacks; empty where it lacks nothing, or nothing would help."""
    remedy: str = ""
    """What makes a folder one that can be audited here, where that is all that hinders."""
    by_word: bool = False
    """Whether it has no folder, and is only as the text says of where it is from."""

    @property
    def own(self) -> tuple[str, ...]:
        """Return the problems of the figure itself."""
        return self.problems[: len(self.problems) - len(self.of_folder)]

    @property
    def title(self) -> str:
        """Return the figure as the text has it."""
        name = " = ".join(name.text for name in self.figure.names) or "a figure"
        role = "" if self.figure.role == "value" else f" ({self.figure.role})"
        return " ".join(filter(None, (f"{name}{role}", self.figure.bound, self.figure.value)))


def check(file: Path, examine: Callable[[Path], Audit]) -> tuple[CheckedFigure, ...]:
    """Check every figure of the file; raises InputError where the file, or what it declares, can't be read."""
    text, folder = read_text(file), file.resolve().parent
    if is_result(folder):
        raise InputError(
            f"{file} is part of a result",
            expected="a text about results, such as a release note",
            remedy=f"recallbench audit {file.parent} holds its tables to its rankings",
        )
    page = _Page(text, [folder, repository(folder) or Path.cwd()], examine)
    try:
        return tuple(map(page.checked, FigureReader(page.locate).read(text)))
    except InputError as error:
        if not error.problem.startswith("line "):
            raise
        raise InputError(
            f"{file}, {error.problem}", expected=error.expected, found=error.found, remedy=error.remedy
        ) from None


class _Page:
    """A text, and where what it names is looked for."""

    def __init__(self, text: str, roots: Sequence[Path], examine: Callable[[Path], Audit]) -> None:
        self._text, self._roots = text, roots
        self.locate = cache(self._result_named)
        self._data = cache(self._data_named)
        self._audited = cache(lambda folder: AuditedResult(open_result(folder), examine(_as_typed(folder))))

    def checked(self, figure: CitedFigure) -> CheckedFigure:
        """Return the figure with its state."""
        absent = [folder.text for folder in figure.folders if folder.path is None]
        if figure.declared and figure.declared.origin != "samples" and (absent or not figure.folders):
            return self._as_declared(figure, figure.declared)
        if hindrances := tuple(_hindrances(figure)):
            return CheckedFigure(figure, "not checkable", hindrances)
        if not figure.folders:
            return self._without_folder(figure)
        missing = tuple(f"there is no result folder {name}" for name in absent)
        if missing and len(figure.folders) == 1:
            return CheckedFigure(figure, "wrong", missing, fails=True)
        each = [] if missing else [self._against(figure, folder) for folder in figure.folders]
        if len(each) == 1 or (each and all(one.state == "right" for one in each)):
            return each[0]
        return CheckedFigure(figure, "not checkable", ("several folders are named for it", *missing))

    def _against(self, figure: CitedFigure, folder: NamedFolder) -> CheckedFigure:
        """Return the figure as compared with a folder that is there."""
        assert folder.path is not None
        try:
            side = self._audited(folder.path)
        except RecallBenchError as error:
            problem = ": ".join(filter(None, (error.problem, error.found)))
            return CheckedFigure(figure, "wrong", (problem,), folder.text, fails=True)
        doubtful = tuple(doubts(figure, side.result))
        altered = () if doubtful else tuple(differences(figure, side.result))
        against = tuple(objections(figure, side, self._text))
        of_digits = figure.bound in ("", "about", "up to") and number(figure.value)[1] < FEWEST
        coarse = (f"{figure.value} has too few digits",) if of_digits else ()
        of_folder = tuple(objection.text for objection in against)
        problems = (*doubtful, *altered, *coarse, *of_folder)
        state = _state(bool(doubtful), bool(altered), bool(coarse), against)
        # A folder that can't be audited here supports nothing, though nothing is wrong with the text.
        fails = not doubtful and (bool(altered) or bool(against))
        lacks = side.audit.verdict.label == "VERIFIED" and any(each.weight == "undisclosed" for each in against)
        words = " --as-deviation" if side.audit.deviations else ""
        adding = f"recallbench cite {shlex.quote(str(side.audit.folder))}{words}" if lacks else ""
        unaudited = any(each.weight == "not known" for each in against)
        remedy = conclude_audit(side.audit).next if unaudited and not doubtful else ""
        return CheckedFigure(figure, state, problems, folder.text, fails, of_folder, adding, remedy)

    def _without_folder(self, figure: CitedFigure) -> CheckedFigure:
        """Return the figure as right where the one folder near it has just this, else as without any."""
        row = f"row `{figure.row}`: " if figure.row else ""
        problem = f"{row}no result folder is named for it"
        if len({folder.path for folder in figure.nearby}) == 1 and number(figure.value)[1] >= SURE and not figure.bound:
            # By its label, a row may be of another thing.
            between = f"{MEASURE.sub(' ', figure.row)} {figure.between}"
            near = self._against(replace(figure, between=between), figure.nearby[0])
            if near.state == "right":
                return replace(near, figure=figure)
            problem += f", and {near.source} near it does not have it so"
        return CheckedFigure(figure, "no folder named", (problem,), fails=True)

    def _as_declared(self, figure: CitedFigure, declared: Declaration) -> CheckedFigure:
        """Return the figure by what the text says of where figures here are from."""
        if declared.origin == "files":
            return self._in_files(figure, declared)
        if declared.origin == "others":
            return CheckedFigure(figure, "not checkable", (f"of others, as line {declared.line} says",), by_word=True)
        lacking = " and ".join(unmeasured(figure, declared.commands))
        if declared.commands and not lacking:
            reason = f"commands there make it, as line {declared.line} says: they were not run"
            return CheckedFigure(figure, "not checkable", (reason,), by_word=True)
        none = f"none there measures {lacking}" if declared.commands else "none stands there"
        reason = f"line {declared.line} says that commands make it, and {none}"
        return CheckedFigure(figure, "no folder named", (reason,), fails=True)

    def _in_files(self, figure: CitedFigure, declared: Declaration) -> CheckedFigure:
        """Return the figure as compared with the data files that are declared."""
        if hindrances := tuple(_hindrances(figure)):
            return CheckedFigure(figure, "not checkable", hindrances)
        problems: list[str] = []
        for name in declared.files:
            data = self._data(name)
            if data is None:
                problem = f"there is no file {name}, which line {declared.line} names"
                return CheckedFigure(figure, "wrong", (problem,), name, fails=True)
            found = data.find(figure)
            if not found.known:
                problems += found.problems
                continue
            if found.problems:
                return CheckedFigure(figure, "wrong", found.problems, name, fails=True)
            folder = self._result_at(data.place / found.folder) if found.folder else None
            if folder is not None:
                return self._against(figure, NamedFolder(found.folder, folder))
            as_it_has = (f"as {name} has it, which no audit covers",)
            return CheckedFigure(figure, "no folder named", as_it_has, name, by_word=True)
        return CheckedFigure(figure, "not checkable", tuple(problems))

    def _data_named(self, name: str) -> DataFile | None:
        file = next((root / name for root in self._roots if (root / name).is_file()), None)
        return None if file is None else DataFile.read(file)

    def _result_named(self, word: str) -> Path | None:
        """Return the result folder that a word names: from the text's own folder, else from the repository's root."""
        steps = unquote(word).split("/")
        # In a link to where the repository is published, the path in it stands behind the branch.
        for tail in ["/".join(steps[i:]) for i in range(len(steps) if "://" in word else 1)]:
            for place in (root / tail for root in self._roots):
                if (folder := self._result_at(place)) is not None:
                    return folder
        return None

    @staticmethod
    def _result_at(place: Path) -> Path | None:
        """Return the result folder that a path is, or is a file of."""
        try:
            return next(filter(is_result, (place.resolve(), place.resolve().parent)), None)
        except (OSError, ValueError, RuntimeError):
            return None


def _as_typed(folder: Path) -> Path:
    """Return a folder as a command here would name it."""
    here = Path.cwd().resolve()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _state(doubtful: bool, altered: bool, coarse: bool, against: Sequence[Objection]) -> State:
    """Return what a figure is held for by all that was found."""
    weights = {objection.weight for objection in against}
    if doubtful:
        return "not checkable"
    if altered or "forbidden" in weights:
        return "wrong"
    if "not known" in weights:
        return "not checkable"
    if weights:
        return "right but undisclosed"
    return "not checkable" if coarse else "right"


def _hindrances(figure: CitedFigure) -> Iterator[str]:
    """Yield why the text does not place a figure."""
    measures = {name.measure for name in figure.names}
    if figure.is_rule:
        yield "by its words a rule or a target, and no result"
    if not figure.is_value:
        yield f"{figure.value} is not read as the value of a measure"
    if len(measures) != 1:
        yield f"{'several measures are' if measures else 'no measure is'} named for it"
    elif "" in measures:
        yield f"{figure.names[0].text} is no measure of a result"
    elif has_depth_apart(figure):
        yield f"the depth of {figure.names[0].text} is not read"
    if figure.names and not figure.is_single:
        yield f"several figures are given for {figure.names[0].text}"
    if not figure.folders and "baseline" in figure.sentence.lower():
        yield "a baseline of others has no result folder"
