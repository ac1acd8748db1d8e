"""Holds every figure of a text to the result folder that is named for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import unquote

from recallbench.audit.audit import Audit
from recallbench.citing.citation import AuditedResult
from recallbench.citing.cited_figures import read_figures
from recallbench.citing.figure_grammar import CitedFigure
from recallbench.compare.movement import movements
from recallbench.errors import InputError, RecallBenchError
from recallbench.protocol.frozen import read_data
from recallbench.reading import document
from recallbench.results.manifest import NAME as MANIFEST
from recallbench.results.metrics import OVERALL
from recallbench.results.result import Result, open_result, repository

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


class Expected(NamedTuple):
    """What the folders have where the text has a figure."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class CheckedFigure:
    """One figure, and what is wrong with it or hinders its check."""

    figure: CitedFigure
    status: Status
    problems: tuple[str, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether the text may not say this."""
        return self.status in ("altered", "unsupported")

    @property
    def title(self) -> str:
        """The figure as the text has it."""
        name = " = ".join(name.text for name in self.figure.names) or "a figure"
        role = "" if self.figure.role == "value" else f" ({self.figure.role})"
        return f"{name}{role} {self.figure.value}"


def check(file: Path, examine: Callable[[Path], Audit]) -> tuple[CheckedFigure, ...]:
    """Hold every figure of the file to its folder; raises InputError where the file can't be read."""
    try:
        text = document(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file} can't be read", expected="UTF-8", found=str(error), remedy="name a text or Markdown file"
        ) from None
    folder = file.resolve().parent
    if (folder / MANIFEST).is_file():
        raise InputError(
            f"{file} is part of a result",
            expected="a text about results, such as a release note",
            remedy=f"recallbench audit {file.parent} holds its tables to its rankings",
        )
    roots = [folder, repository(folder) or Path.cwd()]

    @cache
    def audited(path: Path) -> AuditedResult:
        return AuditedResult(open_result(path), examine(path))

    return tuple(_checked(figure, audited, text) for figure in read_figures(text, lambda word: _locate(word, roots)))


def _locate(word: str, roots: list[Path]) -> Path | None:
    """The result folder that a word names: from the text's own folder, else from the root of its repository."""
    word = unquote(word)
    tails = [word]
    if "://" in word:
        # A link to where the repository is published: what stands behind the branch is the path in it.
        steps = word.split("://", 1)[1].split("/")
        tails = ["/".join(steps[i:]) for i in range(1, len(steps))]
    for place in (root / tail for tail in tails for root in roots):
        try:
            for folder in (place.resolve(), place.resolve().parent):
                if any((folder / name).is_file() for name in (MANIFEST, "metrics.json", "BLOCKED.md")):
                    return folder
        except (OSError, ValueError, RuntimeError):
            continue
    return None


def _checked(figure: CitedFigure, audited: Callable[[Path], AuditedResult], text: str) -> CheckedFigure:
    hindrance = figure.unplaced or next(
        (f"{name.text} is no measure of a result" for name in figure.names if not name.measure), ""
    )
    if not hindrance and not figure.folders:
        if "baseline" not in figure.sentence.lower():
            row = f"row `{figure.row}`: " if figure.row else ""
            return CheckedFigure(figure, "unsupported", (f"{row}no result folder is named for it",))
        hindrance = "a baseline of others has no result folder"
    elif not hindrance and figure.role == "bound":
        hindrance = "a bound is not compared"
    if hindrance:
        return CheckedFigure(figure, "not checkable", (hindrance,))
    sides: list[AuditedResult] = []
    for folder in figure.folders:
        if folder.path is None:
            return CheckedFigure(figure, "unsupported", (f"there is no result folder {folder.text}",))
        try:
            sides.append(audited(folder.path))
        except RecallBenchError as error:
            return CheckedFigure(figure, "unsupported", (": ".join(filter(None, (error.problem, error.found))),))
    altered = tuple(_difference(figure, sides) if figure.role == "difference" else _value(figure, sides[0].result))
    wrong = tuple(problem for side in sides for problem in _standing(figure, side, text))
    if altered or wrong:
        return CheckedFigure(figure, "altered" if altered else "unsupported", (*altered, *wrong))
    if _number(figure.value)[1] < FEWEST:
        return CheckedFigure(figure, "not checkable", (f"{figure.value} has too few digits",))
    return CheckedFigure(figure, "agrees")


def _standing(figure: CitedFigure, side: AuditedResult, text: str) -> Iterator[str]:
    """Whether this result may be cited at all, and in these words."""
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


def _value(figure: CitedFigure, result: Result) -> Iterator[str]:
    """How a figure is not what its folder has."""
    measure = figure.names[0].measure
    if figure.names[-1].measure != measure:
        yield f"{figure.names[0].text} stands for {measure}, not for {figure.names[-1].measure}"
        return
    stated = _stated(figure, result)
    fitting = [expected for expected in stated if _same(expected.value, figure.value)]
    if fitting:
        yield from _beside(figure, fitting[0])
    elif not stated:
        yield f"{result.folder.name} states no {measure}"
    else:
        others = [part.measure for part in result.metrics.estimates[OVERALL] if _same(part.value, figure.value)]
        hint = f"; it is its {others[0]}" if others and figure.role == "value" else ""
        yield f"{result.folder.name} has {stated[0].value:.{max(4, _number(figure.value)[1])}f}{hint}"


def _stated(figure: CitedFigure, result: Result) -> list[Expected]:
    """What the folder states: of the kinds named before the figure, else over all questions, or of a kind behind it."""
    metrics = result.metrics
    source = metrics.control_bm25 if figure.role == "bm25" else {**(metrics.abilities or {}), **metrics.estimates}

    def named(text: str) -> list[str]:
        kinds = [kind for kind in source if kind != OVERALL]
        return [kind for kind in kinds if re.search(rf"(?<![\w-]){re.escape(kind)}(?![\w-])", text, re.IGNORECASE)]

    kinds = named(figure.near)
    if not kinds or re.search(r"\b(?:overall|all|pooled|mean|average)\b", figure.near, re.IGNORECASE):
        kinds = [OVERALL, *named(figure.sentence)]
    parts = [part for kind in kinds for part in source.get(kind, []) if part.measure == figure.names[0].measure]
    if figure.role in ("chance", "ceiling"):
        beside = [(part.chance if figure.role == "chance" else part.ceiling, part.n) for part in parts]
        return [Expected(value, None, None, n) for value, n in beside if value is not None]
    return [Expected(part.value, part.low, part.high, part.n) for part in parts if part.value is not None]


def _difference(figure: CitedFigure, sides: Sequence[AuditedResult]) -> Iterator[str]:
    """How a difference is not what the two folders give."""
    try:
        moved = [one for one in movements(sides[0].result, sides[1].result) if one.measure == figure.names[0].measure]
    except RecallBenchError as error:
        yield error.problem
        return
    paired = moved[0].paired if moved else None
    if paired is None:
        yield f"these results can't be compared: {moved[0].reason if moved else 'no such metric of the protocol'}"
        return
    if not _same(paired.difference, figure.value):
        yield f"the folders differ by {paired.difference:+.4f}"
    yield from _beside(figure, Expected(paired.difference, paired.low, paired.high, paired.n))


def _beside(figure: CitedFigure, expected: Expected) -> Iterator[str]:
    """How the interval and the count beside a figure are not the folder's."""
    low, high = expected.low, expected.high
    if figure.interval and not (_same(low, figure.interval[0]) and _same(high, figure.interval[1])):
        right = "no interval" if low is None else f"{low:.4f} to {high:.4f}"
        yield f"the interval {' to '.join(figure.interval)}: the folder has {right}"
    width = None if low is None or high is None else (high - low) / 2
    if figure.half and not _same(width, figure.half):
        yield f"± {figure.half}: the folder has {'no interval' if width is None else f'± {width:.4f}'}"
    if figure.count and int(re.sub(r"\D", "", figure.count)) != expected.n:
        yield f"n = {figure.count}: the folder has {expected.n}"


def _number(text: str) -> tuple[float, int]:
    """A printed figure and its decimals, percent as a share."""
    if fraction := re.fullmatch(r"(\d+)\s?/\s?(\d+)", text):
        return int(fraction[1]) / int(fraction[2]), len(fraction[2])
    plain = re.sub(r"[^\d.,+-]", "", text.replace("−", "-")).replace(",", ".")
    value, decimals = float(plain), len(plain.partition(".")[2])
    return (value / 100, decimals + 2) if re.search(r"%|p", text) or abs(value) > 1 else (value, decimals)


def _same(right: float | None, printed: str) -> bool:
    value, digits = _number(printed)
    return right is not None and abs(right - value) <= 0.5 * 10.0**-digits + 1e-9
