"""Holds every figure of a text to the result folder that is named for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from recallbench.audit.audit import Audit
from recallbench.citing.cited_figures import CitedFigure, read_figures
from recallbench.compare.movement import movements
from recallbench.errors import InputError, RecallBenchError
from recallbench.protocol.frozen import load, read_data
from recallbench.reading import document, parsed
from recallbench.results.manifest import NAME as MANIFEST
from recallbench.results.metrics import OVERALL, EstimatePart
from recallbench.results.result import Result, open_result, repository

Status = Literal["agrees", "altered", "unsupported", "baseline", "not checkable"]
Audited = tuple[Result, Audit]

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
_IMPROVED = re.compile(r"\bimprov|\boutperform|\bbetter\b|\bbeats?\b", re.IGNORECASE)
_NOT_IMPROVED = re.compile(r"\b(?:no|not an?) (?:improvement|better)|\bnot improved?\b", re.IGNORECASE)
_BASELINES = {"recall_any@10": "recall@10", "recall_frac@10": "recall@10", "mrr@50": "MRR"}


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
    def audited(path: Path) -> Audited:
        return open_result(path), examine(path)

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


def _checked(figure: CitedFigure, audited: Callable[[Path], Audited], text: str) -> CheckedFigure:
    if figure.role == "value" and _is_baseline(figure):
        return CheckedFigure(figure, "baseline")
    unknown = [name.text for name in figure.names if not name.measure]
    hindrance = figure.unplaced or (f"{unknown[0]} is no measure of a result" if unknown else "")
    if hindrance:
        return CheckedFigure(figure, "not checkable", (hindrance,))
    if not figure.folders:
        row = f"row `{figure.row}`: " if figure.row else ""
        return CheckedFigure(figure, "unsupported", (f"{row}no result folder is named for it",))
    sides: list[Audited] = []
    for folder in figure.folders:
        if folder.path is None:
            return CheckedFigure(figure, "unsupported", (f"there is no result folder {folder.text}",))
        try:
            sides.append(audited(folder.path))
        except RecallBenchError as error:
            return CheckedFigure(figure, "unsupported", (": ".join(filter(None, (error.problem, error.found))),))
    altered = list(_difference(figure, sides) if figure.role == "difference" else _value(figure, sides[0][0]))
    altered += _improvement(figure, audited) if _IMPROVED.search(_NOT_IMPROVED.sub("", figure.sentence)) else ()
    altered += _surroundings(figure, [result for result, _ in sides])
    wrong = [problem for result, audit in sides for problem in _standing(figure, result, audit, text)]
    if altered:
        return CheckedFigure(figure, "altered", (*altered, *wrong))
    if wrong:
        return CheckedFigure(figure, "unsupported", tuple(wrong))
    if _number(figure.value)[1] < FEWEST:
        return CheckedFigure(figure, "not checkable", (f"{figure.value} has too few digits",))
    return CheckedFigure(figure, "agrees")


def _standing(figure: CitedFigure, result: Result, audit: Audit, text: str) -> Iterator[str]:
    """Whether this result may be cited at all, and in these words."""
    name = result.folder.name
    if audit.verdict.label != "VERIFIED":
        failing = [check for check in audit.checks if check.status != "pass" and check.needed]
        first = f"{failing[0].code} {failing[0].name}: {failing[0].observed}" if failing else "no check failed"
        more = f"; {len(failing) - 1} more" if len(failing) > 1 else ""
        yield f"{name} is {audit.verdict.text}, and only what is VERIFIED is cited ({first.strip()}{more})"
    elif not audit.verdict.canonical:
        if AUTHORITY in figure.surroundings.lower():
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
    measure = figure.names[0].measure
    if figure.names[-1].measure != measure:
        yield f"{figure.names[0].text} stands for {measure}, not for {figure.names[-1].measure}"
        return
    estimates = _estimates(result, figure)
    if not estimates:
        yield f"{result.folder.name} states no {measure}"
        return
    digits = max(4, _number(figure.value)[1])
    fitting = [estimate for estimate in estimates if _holds(figure, _part(estimate, figure.role))]
    if not fitting:
        right = _part(estimates[0], figure.role)
        overall = result.metrics.estimates.get(OVERALL, [])
        also = [one.measure for one in overall if one.measure != measure and _same(one.value, figure.value)]
        hint = f"; it is its {also[0]}" if also and figure.role == "value" else ""
        yield f"{result.folder.name} has {'no figure' if right is None else f'{right:.{digits}f}'}{hint}"
    elif figure.role == "value":
        yield from _beside(figure, fitting[0])


def _beside(figure: CitedFigure, right: EstimatePart) -> Iterator[str]:
    """The interval and the count that stand beside a value."""
    yield from _interval(figure, right.low, right.high, "the folder has")
    width = None if right.low is None or right.high is None else (right.high - right.low) / 2
    if figure.half and not _same(width, figure.half):
        yield f"± {figure.half}: the folder has {'no interval' if width is None else f'± {width:.4f}'}"
    if (count := re.sub(r"\D", "", figure.count)) and int(count) != right.n:
        yield f"n = {figure.count}: the folder has {right.n}"


def _interval(figure: CitedFigure, low: float | None, high: float | None, source: str) -> Iterator[str]:
    if figure.interval and not (_same(low, figure.interval[0]) and _same(high, figure.interval[1])):
        right = "no interval" if low is None else f"{low:.4f} to {high:.4f}"
        yield f"the interval {' to '.join(figure.interval)}: {source} {right}"


def _difference(figure: CitedFigure, sides: list[Audited]) -> Iterator[str]:
    if len(sides) < 2:
        yield "a difference needs the folders of both results"
        return
    try:
        moved = [metric for metric in movements(sides[0][0], sides[1][0]) if metric.measure == figure.names[0].measure]
    except RecallBenchError as error:
        yield error.problem
        return
    paired = moved[0].found if moved else None
    if paired is None:
        yield f"these results can't be compared: {moved[0].reason if moved else 'no such metric of the protocol'}"
        return
    if not _same(paired.difference, figure.value):
        yield f"the folders differ by {paired.difference:+.4f}"
    yield from _interval(figure, paired.low, paired.high, "the folders give")


def _improvement(figure: CitedFigure, audited: Callable[[Path], Audited]) -> Iterator[str]:
    """An improvement is one of two results, with the whole paired interval above zero."""
    paths = [folder.path for folder in figure.beside if folder.path]
    if len(paths) != 2:
        yield "an improvement needs the folders of both results"
        return
    try:
        moved = movements(audited(paths[0])[0], audited(paths[1])[0])
        words = [metric.word for metric in moved if metric.measure == figure.names[0].measure]
    except RecallBenchError as error:
        words = [error.problem]
    if words != ["improvement"]:
        yield f"an improvement has its whole interval above zero; here is {words[0] if words else 'no such metric'}"


def _surroundings(figure: CitedFigure, results: list[Result]) -> Iterator[str]:
    """Hashes, corpus and embedder that the text names beside the figure."""
    for sha256 in figure.hashes:
        if not any(own.startswith(sha256) for result in results for own in _hashes(result)):
            first = results[0]
            yield f"{sha256[:12]}… is no hash of {first.folder.name}; its manifest's is {first.manifest_sha256}"
    words = figure.sentence.lower()
    for folder in figure.beside:
        words = words.replace(folder.text.lower(), " ")
    for what, known, own in (
        ("corpus", set(load().corpora), {result.metrics.corpus.name for result in results}),
        ("embedder", {*load().embedders, "minilm"}, {result.metrics.embedder_name for result in results}),
    ):
        named = {name for name in known if re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-]|\.\d)", words)}
        if named and not named & own:
            yield f"the text says {what} {min(named)}, the folder {', '.join(sorted(own))}"


def _hashes(result: Result) -> Iterator[str]:
    metrics = result.metrics
    yield from (result.manifest_sha256, metrics.dataset_sha256)
    yield from (metrics.protocol.sha256, metrics.protocol.clarifications_sha256)
    manifest = parsed(document(result.folder / MANIFEST), result.folder / MANIFEST)
    yield str(manifest.get("content_sha256", ""))
    files = manifest.get("files")
    yield from map(str, files.values() if isinstance(files, dict) else ())


def _estimates(result: Result, figure: CitedFigure) -> list[EstimatePart]:
    """What the folder states of the measure: of the kinds named right beside the figure, else over all questions."""
    metrics = result.metrics
    source = metrics.control_bm25 if figure.role == "bm25" else {**(metrics.abilities or {}), **metrics.estimates}

    def named(text: str) -> list[str]:
        kinds = [kind for kind in source if kind != OVERALL]
        return [kind for kind in kinds if re.search(rf"(?<![\w-]){re.escape(kind.lower())}(?![\w-])", text.lower())]

    slices = named(figure.near)
    if not slices or re.search(r"\b(?:overall|all|pooled|mean|average)\b", figure.near, re.IGNORECASE):
        slices = [OVERALL, *named(figure.sentence)]
    return [part for name in slices for part in source.get(name, []) if part.measure == figure.names[0].measure]


def _part(estimate: EstimatePart, role: str) -> float | None:
    return {"chance": estimate.chance, "ceiling": estimate.ceiling}.get(role, estimate.value)


def _is_baseline(figure: CitedFigure) -> bool:
    """Whether it is a published baseline of the protocol, which names no folder of this repository."""
    if figure.folders or "baseline" not in f"{figure.sentence} {figure.row}".lower():
        return False
    metrics = {_BASELINES.get(name.measure, "") for name in figure.names}
    return any(
        _same(corpus.baselines.get(metric), figure.value) for corpus in load().corpora.values() for metric in metrics
    )


def _number(text: str) -> tuple[float, int]:
    """A printed figure and its decimals, percent as a share."""
    if fraction := re.fullmatch(r"(\d+)\s?/\s?(\d+)", text):
        return int(fraction[1]) / int(fraction[2]), len(fraction[2])
    plain = re.sub(r"[^\d.,+-]", "", text.replace("−", "-")).replace(",", ".")
    value, decimals = float(plain), len(plain.partition(".")[2])
    return (value / 100, decimals + 2) if re.search(r"%|p", text) or abs(value) > 1 else (value, decimals)


def _holds(figure: CitedFigure, right: float | None) -> bool:
    if right is None or not figure.bound:
        return _same(right, figure.value)
    value = _number(figure.value)[0]
    return right >= value - 1e-9 if figure.bound == "more" else right <= value + 1e-9


def _same(right: float | None, printed: str) -> bool:
    value, digits = _number(printed)
    return right is not None and abs(right - value) <= 0.5 * 10.0**-digits + 1e-9
