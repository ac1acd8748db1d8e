"""The check of a text: every figure against the result folder that is named for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from recallbench.audit.audit import Audit
from recallbench.citing.citation import AuditedResult
from recallbench.citing.cited_figures import FigureReader
from recallbench.citing.figure_grammar import CitedFigure, Role, has_depth_apart, without_names, words_not_read
from recallbench.citing.publication import read_text
from recallbench.corpora.registry import CORPORA
from recallbench.embedding.encoders import ENCODERS
from recallbench.errors import InputError, RecallBenchError
from recallbench.protocol.frozen import read_data
from recallbench.results.folder import is_result
from recallbench.results.metrics import OVERALL, EstimatePart
from recallbench.results.result import Result, open_result, repository
from recallbench.stores.registry import STORES

Status = Literal["agrees", "altered", "unsupported", "not checkable"]

FEWEST = 2
"""Decimals that a figure needs: with fewer, 0.95 and 1 are the same."""
AUTHORITY = "recall benchmark protocol"
_DISCLOSED = re.compile(
    r"deviat|not canonical|none (?:of them )?is canonical|never canonical|unverified", re.IGNORECASE
)
_NO_DEVIATION = re.compile(
    r"\b(?:no|not|never|none|without|zero|0)(?:\s+(?:a|an|any|one|single|known|does|do|did|it)){0,3}\s+deviat\w*",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    rf"\b(?P<name>{'|'.join(map(re.escape, (*STORES, *ENCODERS)))}|chance|random order|oracle)"
    r"(?:'s| control| level)?(?: v?\d[\w.]*)?:?(?: (?:has|had|gets|got|with|reache[sd]|an?))*\s*$",
    re.IGNORECASE,
)
"""Another system right before a measure."""


@dataclass(frozen=True, slots=True)
class CheckedFigure:
    """A figure of the text, and what is wrong with it or hinders its check."""

    figure: CitedFigure
    status: Status
    problems: tuple[str, ...] = ()

    @property
    def wrong(self) -> bool:
        """Return whether the text may not say this."""
        return self.status in ("altered", "unsupported")

    @property
    def title(self) -> str:
        """Return the figure as the text has it."""
        name = " = ".join(name.text for name in self.figure.names) or "a figure"
        role = "" if self.figure.role == "value" else f" ({self.figure.role})"
        return f"{name}{role} {self.figure.value}"


def check(file: Path, examine: Callable[[Path], Audit]) -> tuple[CheckedFigure, ...]:
    """Check every figure of the file against its folder; raises InputError where the file can't be read."""
    text, folder = read_text(file), file.resolve().parent
    if is_result(folder):
        raise InputError(
            f"{file} is part of a result",
            expected="a text about results, such as a release note",
            remedy=f"recallbench audit {file.parent} holds its tables to its rankings",
        )
    roots = [folder, repository(folder) or Path.cwd()]

    @cache
    def locate(word: str) -> Path | None:
        return _result_named(word, roots)

    @cache
    def audited(path: Path) -> AuditedResult:
        return AuditedResult(open_result(path), examine(path))

    return tuple(_checked(figure, audited, text) for figure in FigureReader(locate).read(text))


def _result_named(word: str, roots: list[Path]) -> Path | None:
    """Return the result folder that a word names: from the text's own folder, else from the root of its repository."""
    steps = unquote(word).split("/")
    # In a link to where the repository is published, the path in it stands behind the branch.
    for tail in ["/".join(steps[i:]) for i in range(len(steps) if "://" in word else 1)]:
        for place in (root / tail for root in roots):
            try:
                for folder in (place.resolve(), place.resolve().parent):
                    if is_result(folder):
                        return folder
            except (OSError, ValueError, RuntimeError):
                continue
    return None


def _checked(figure: CitedFigure, audited: Callable[[Path], AuditedResult], text: str) -> CheckedFigure:
    if hindrance := _hindrance(figure):
        return CheckedFigure(figure, "not checkable", (hindrance,))
    if not figure.folders:
        row = f"row `{figure.row}`: " if figure.row else ""
        return CheckedFigure(figure, "unsupported", (f"{row}no result folder is named for it",))
    if (folder := figure.folders[0]).path is None:
        return CheckedFigure(figure, "unsupported", (f"there is no result folder {folder.text}",))
    try:
        side = audited(folder.path)
    except RecallBenchError as error:
        return CheckedFigure(figure, "unsupported", (": ".join(filter(None, (error.problem, error.found))),))
    if doubt := _doubt(figure, side.result):
        return CheckedFigure(figure, "not checkable", (doubt,))
    altered, wrong = tuple(_differences(figure, side.result)), tuple(_standing(figure, side, text))
    if altered or wrong:
        return CheckedFigure(figure, "altered" if altered else "unsupported", (*altered, *wrong))
    if _number(figure.value)[1] < FEWEST:
        return CheckedFigure(figure, "not checkable", (f"{figure.value} has too few digits",))
    return CheckedFigure(figure, "agrees")


def _hindrance(figure: CitedFigure) -> str:
    """Return why the text does not place a figure; empty where it does."""
    measures = {name.measure for name in figure.names}
    if not figure.is_value:
        return f"{figure.value} is not read as the value of a measure"
    if len(measures) != 1:
        return f"{'several measures are' if measures else 'no measure is'} named for it"
    if "" in measures:
        return f"{figure.names[0].text} is no measure of a result"
    if has_depth_apart(figure):
        return f"the depth of {figure.names[0].text} is not read"
    if not figure.is_single:
        return f"several figures are given for {figure.names[0].text}"
    if len(figure.folders) > 1:
        return "several folders are named for it"
    of_others = not figure.folders and "baseline" in figure.sentence.lower()
    return "a baseline of others has no result folder" if of_others else ""


def _doubt(figure: CitedFigure, result: Result) -> str:
    """Return why a figure may be another than its folder states; empty where the words leave no doubt."""
    metrics, kinds = result.metrics, _kinds(result)
    corpora = [name for name in CORPORA if name != metrics.corpus.name and _named(figure.sentence, [name])]
    if corpora:
        return f"the sentence names {corpora[0]}, the folder is of {metrics.corpus.name}"
    own = (metrics.corpus.name, metrics.store.name, metrics.embedder_name, result.version, *kinds)
    if words := words_not_read(figure, own):
        return f"what '{words}' makes of it is not known"
    if subject := _SUBJECT.search(without_names(figure.before, own)):
        return f"it may be of {subject['name']}"
    named = _named(f"{figure.row} {figure.clause}", kinds)
    return f"it may be of {' or '.join(named)}" if len(named) > 1 or (named and not figure.is_alone) else ""


def _standing(figure: CitedFigure, side: AuditedResult, text: str) -> Iterator[str]:
    """Return what forbids citing this result, or citing it in these words."""
    result, audit, name = side.result, side.audit, side.result.folder.name
    if audit.verdict.label != "VERIFIED":
        failing = [check for check in audit.checks if check.status != "pass" and check.needed]
        first = f"{failing[0].code} {failing[0].name}: {failing[0].observed}" if failing else "no check failed"
        more = f"; {len(failing) - 1} more" if len(failing) > 1 else ""
        yield f"{name} is {audit.verdict.text}, and only what is VERIFIED is cited ({first.strip()}{more})"
    elif not audit.verdict.canonical:
        if AUTHORITY in figure.section.lower():
            yield f"{name} is not CANONICAL ({'; '.join(audit.deviations)}), but is cited under the protocol's name"
        if not _DISCLOSED.search(_NO_DEVIATION.sub("", figure.section)):
            yield f"{name} is not CANONICAL, and the text does not tell its deviations: {'; '.join(audit.deviations)}"
    elif (version := result.metrics.protocol.version) not in text:
        yield f"the text names no version of the protocol; {name} is under {version}"
    known = read_data().frozen["substitution"]
    stands_in = result.metrics.corpus.name == known["corpus"] and result.metrics.embedder_name in known["stands_in"]
    if stands_in and known["paper_embedder"].split("/")[-1] not in text:
        yield f"the text does not tell that {known['stands_in']} stands in for {known['paper_embedder']}"


def _differences(figure: CitedFigure, result: Result) -> Iterator[str]:
    """Return how value, interval and n differ from the folder's, for the kind that is named or all questions."""
    metrics, measure = result.metrics, figure.names[0].measure
    source = metrics.control_bm25 if figure.role == "bm25" else {**(metrics.abilities or {}), **metrics.estimates}
    kind = next(iter(_named(f"{figure.row} {figure.clause}", _kinds(result))), OVERALL)
    part = next((part for part in source.get(kind, []) if part.measure == measure), None)
    if part is None or (value := _value_of(part, figure.role)) is None:
        yield f"{result.folder.name} states no {measure}"
        return
    if not _is_same(value, figure.value):
        others = [other.measure for other in source[kind] if _is_same(other.value, figure.value)]
        hint = f"; it is its {others[0]}" if others and figure.role == "value" else ""
        yield f"{result.folder.name} has {value:.{max(4, _number(figure.value)[1])}f}{hint}"
    if figure.interval and not all(map(_is_same, (part.low, part.high), figure.interval)):
        right = "no interval" if part.low is None else f"{part.low:.4f} to {part.high:.4f}"
        yield f"the interval {' to '.join(figure.interval)}: the folder has {right}"
    if figure.count and int(re.sub(r"\D", "", figure.count)) != part.n:
        yield f"n = {figure.count}: the folder has {part.n}"


def _value_of(part: EstimatePart, role: Role) -> float | None:
    return part.chance if role == "chance" else part.ceiling if role == "ceiling" else part.value


def _kinds(result: Result) -> list[str]:
    """Return the kinds of questions that a result has figures of."""
    return [kind for kind in {**(result.metrics.abilities or {}), **result.metrics.estimates} if kind != OVERALL]


def _named(text: str, names: Iterable[str]) -> list[str]:
    """Return those of the names that a text has."""
    return [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", text, re.IGNORECASE)]


def _number(text: str) -> tuple[float, int]:
    """Return a printed figure as a share, and its decimals."""
    digits = re.sub(r"[^\d.,]", "", text).replace(",", ".")
    value, decimals = float(digits), len(digits.partition(".")[2])
    return (value / 100, decimals + 2) if re.search(r"%|p", text, re.IGNORECASE) else (value, decimals)


def _is_same(stated: float | None, printed: str) -> bool:
    value, digits = _number(printed)
    return stated is not None and abs(stated - value) <= 0.5 * 10.0**-digits + 1e-9
