"""Holds every figure of a text to the result folder that is named for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from recallbench.audit.audit import Audit
from recallbench.citing.citation_text import Figure, claims_improvement, figures
from recallbench.citing.citation_words import Folder
from recallbench.compare.movement import movements
from recallbench.errors import InputError, RecallBenchError
from recallbench.protocol.frozen import load, read_data
from recallbench.reading import document, parsed
from recallbench.results.manifest import NAME as MANIFEST
from recallbench.results.metrics import OVERALL, EstimatePart
from recallbench.results.stated import Stated, repository, stated

Status = Literal["agrees", "altered", "unsupported", "baseline"]
Examine = Callable[[Path], Audit]

FEWEST = 2
"""Decimals that a figure needs: with fewer, 0.95 and 1 are one."""
AUTHORITY = "recall benchmark protocol"
_VERSION = r"\bpgmnemo \(?v?(\d+(?:\.\d+)+)"
_DISCLOSED = re.compile(
    r"deviat|not canonical|none (?:of them )?is canonical|never canonical|unverified", re.IGNORECASE
)

_NO_DEVIATION = re.compile(
    r"\b(?:no|not|never|none|without|zero|0)(?:\s+(?:a|an|any|one|single|known|does|do|did|it)){0,3}\s+deviat\w*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Checked:
    """One figure, and what is wrong with it."""

    figure: Figure
    status: Status
    problems: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """The figure as the text has it."""
        name = " = ".join(one.text for one in self.figure.names) or "a figure"
        role = "" if self.figure.role == "value" else f" ({self.figure.role})"
        return f"{name}{role} {self.figure.value}"


@dataclass(slots=True)
class _Known:
    """Folders that were looked at: each is read and audited once."""

    examine: Examine
    results: dict[Path, tuple[Stated, Audit] | str] = field(default_factory=dict)

    def of(self, folder: Path) -> tuple[Stated, Audit] | str:
        """The result and its audit, or why there is none."""
        if folder not in self.results:
            try:
                self.results[folder] = (stated(folder), self.examine(folder))
            except RecallBenchError as error:
                self.results[folder] = f"{error.problem}: {error.found}" if error.found else error.problem
        return self.results[folder]


def check(file: Path, examine: Examine) -> tuple[Checked, ...]:
    """Every figure of the file, held to its folder; raises InputError where the file can't be read."""
    try:
        text = document(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file} can't be read", expected="UTF-8", found=str(error), remedy="name a text or Markdown file"
        ) from None
    roots = [file.resolve().parent]
    if (roots[0] / MANIFEST).is_file():
        raise InputError(
            f"{file} is part of a result",
            expected="a text about results, such as a release note",
            remedy=f"recallbench audit {file.parent} holds its tables to its rankings",
        )
    known = _Known(examine)
    roots += [repository(roots[0]) or Path.cwd()]
    return tuple(_checked(one, known, text) for one in figures(text, lambda word: _locate(word, roots)))


def _locate(word: str, roots: list[Path]) -> Path | None:
    """The result folder that a word names: from the text's own folder, else from the root of its repository."""
    word = unquote(word)
    tails = [word]
    if "://" in word:
        # A link to where the repository is published: what stands behind the branch is the path in it.
        steps = word.split("://", 1)[1].split("/")
        tails = ["/".join(steps[i:]) for i in range(1, len(steps))]
    for tail in tails:
        for root in roots:
            try:
                place = (root / tail).resolve()
                for folder in (place, place.parent):
                    if (folder / MANIFEST).is_file() or (folder / "metrics.json").is_file():
                        return folder
                if (place / "BLOCKED.md").is_file():
                    return place
            except (OSError, ValueError, RuntimeError):
                continue
    return None


def _checked(figure: Figure, known: _Known, text: str) -> Checked:
    if not figure.folders:
        if _is_baseline(figure):
            return Checked(figure, "baseline")
        place = f"row `{figure.row}`: " if figure.row else ""
        return Checked(figure, "unsupported", (f"{place}no result folder is named for it",))
    missing = [one.text for one in figure.folders if one.found is None]
    if missing:
        return Checked(figure, "unsupported", (f"there is no result folder {missing[0]}",))
    sides = []
    for one in figure.folders:
        found = known.of(_path(one))
        if isinstance(found, str):
            return Checked(figure, "unsupported", (found,))
        sides.append(found)
    wrong = [problem for result, audit in sides for problem in _standing(figure, result, audit, text)]
    status: Status = "unsupported" if wrong else "agrees"
    altered = list(_difference(figure, sides) if figure.role == "difference" else _value(figure, sides[0][0]))
    altered += _surroundings(figure, [result for result, _ in sides])
    altered += _improvement(figure, known)
    return Checked(figure, "altered" if altered else status, (*altered, *wrong))


def _path(folder: Folder) -> Path:
    assert isinstance(folder.found, Path)
    return folder.found


def _standing(figure: Figure, result: Stated, audit: Audit, text: str) -> Iterator[str]:
    """Whether this result may be cited at all, and in these words."""
    name = result.folder.name
    if audit.verdict.label != "VERIFIED":
        failing = [check for check in audit.checks if check.status != "pass" and check.needed]
        first = f"{failing[0].code} {failing[0].name}: {failing[0].observed}" if failing else "no check failed"
        more = f"; {len(failing) - 1} more" if len(failing) > 1 else ""
        yield f"{name} is {audit.verdict.text}, and only what is VERIFIED is cited ({first.strip()}{more})"
    elif not audit.verdict.canonical:
        if AUTHORITY in figure.group.lower():
            yield f"{name} is not CANONICAL ({'; '.join(audit.deviations)}), but is cited under the protocol's name"
        if not _DISCLOSED.search(_NO_DEVIATION.sub("", figure.section)):
            yield f"{name} is not CANONICAL, and the text does not tell its deviations: {'; '.join(audit.deviations)}"
    elif (version := result.metrics.protocol.version) not in text:
        yield f"the text names no version of the protocol; {name} is under {version}"
    known = read_data().frozen["substitution"]
    stands_in = result.metrics.corpus.name == known["corpus"] and result.embedder in known["stands_in"]
    if stands_in and known["paper_embedder"].split("/")[-1] not in text:
        yield f"the text does not tell that {known['stands_in']} stands in for {known['paper_embedder']}"


def _value(figure: Figure, result: Stated) -> Iterator[str]:
    measures = [one.measure for one in figure.names]
    if not measures:
        yield f"no measure is named for {figure.value}"
        return
    unknown = [one.text for one in figure.names if not one.measure]
    if unknown:
        yield f"{unknown[0]} is no measure of a result"
        return
    if len(set(measures)) > 1:
        yield f"{figure.names[0].text} stands for {measures[0]}, not for {measures[-1]}"
        return
    stated_as = _estimates(result, figure)
    if not stated_as:
        yield f"{result.folder.name} states no {measures[0]}"
        return
    value, digits = _number(figure.value)
    if digits < FEWEST:
        yield f"{figure.value} has too few digits to be checked"
        return
    fits = [one for one in stated_as if _fits(_part(one, figure.role), value, digits, figure.bound)]
    if not fits:
        right = _part(stated_as[0], figure.role)
        told = "no figure" if right is None else f"{right:.{max(digits, 4)}f}"
        also = [
            one.measure
            for one in result.metrics.estimates.get(OVERALL, [])
            if one.measure != measures[0] and _same(one.value, value, digits)
        ]
        hint = f"; it is its {also[0]}" if also and figure.role == "value" else ""
        yield f"{result.folder.name} has {told}{hint}"
        return
    if figure.role == "value":
        yield from _beside(figure, fits[0])


def _beside(figure: Figure, right: EstimatePart) -> Iterator[str]:
    """The interval and the count that stand beside a value."""
    if figure.interval:
        (low, least), (high, most) = (_number(one) for one in figure.interval)
        if not (_same(right.low, low, least) and _same(right.high, high, most)):
            told = "no interval" if right.low is None else f"{right.low:.4f} to {right.high:.4f}"
            yield f"the interval {figure.interval[0]} to {figure.interval[1]}: the folder has {told}"
    if figure.half:
        half, digits = _number(figure.half)
        width = None if right.low is None or right.high is None else (right.high - right.low) / 2
        if not _same(width, half, digits):
            yield f"± {figure.half}: the folder has {'no interval' if width is None else f'± {width:.4f}'}"
    if figure.count and (count := re.sub(r"\D", "", figure.count)) and int(count) != right.n:
        yield f"n = {figure.count.strip()}: the folder has {right.n}"


def _difference(figure: Figure, sides: list[tuple[Stated, Audit]]) -> Iterator[str]:
    if len(sides) < 2:
        yield "a difference needs the folders of both results"
        return
    measures = {one.measure for one in figure.names}
    try:
        moved = [one for one in movements(sides[0][0], sides[1][0]) if {one.measure} == measures]
    except RecallBenchError as error:
        yield error.problem
        return
    if not moved or moved[0].found is None:
        yield f"these results can't be compared: {moved[0].reason if moved else 'no such metric of the protocol'}"
        return
    found = moved[0].found
    value, digits = _number(figure.value)
    if not _same(found.difference, value, digits):
        yield f"the folders differ by {found.difference:+.4f}"
    if figure.interval:
        (low, least), (high, most) = (_number(one) for one in figure.interval)
        if not (_same(found.low, low, least) and _same(found.high, high, most)):
            told = "no interval" if found.low is None else f"{found.low:+.4f} to {found.high:+.4f}"
            yield f"the interval {figure.interval[0]} to {figure.interval[1]}: the folders give {told}"


def _improvement(figure: Figure, known: _Known) -> Iterator[str]:
    """An improvement is one of two results, with the whole paired interval above zero."""
    if not (figure.improved or (figure.role == "difference" and claims_improvement(figure.context))):
        return
    sides = [known.of(_path(one)) for one in figure.beside or figure.folders if one.found is not None]
    results = [one[0] for one in sides if not isinstance(one, str)]
    if len(results) != 2:
        yield "an improvement needs the folders of both results"
        return
    measures = {one.measure for one in figure.names}
    try:
        words = [one.word for one in movements(*results) if {one.measure} == measures]
    except RecallBenchError as error:
        words = [error.problem]
    if words != ["improvement"]:
        yield f"an improvement has its whole interval above zero; here is {words[0] if words else 'no such metric'}"


def _surroundings(figure: Figure, results: list[Stated]) -> Iterator[str]:
    """Hashes, corpus, embedder and version that the text names beside the figure."""
    for told in figure.hashes:
        if not any(sha256.startswith(told) for result in results for sha256 in _hashes(result)):
            yield f"{told[:12]}… is no hash of {results[0].folder.name}; its manifest's is {results[0].manifest_sha256}"
    words, group = _words(figure, figure.context), _words(figure, figure.group)
    for what, known, own in _identity(results, group):
        every = {one: rf"(?<![\w/.-]){re.escape(one)}(?![\w/-]|\.\d)" for one in known}
        named = {one for one, pattern in every.items() if re.search(pattern, words)}
        # Above the figures a text says what they are of: `corpus locomo, embedder minilm`.
        said = {one for one, pattern in every.items() if re.search(rf"\b{what}:?\s+{pattern}", group)}
        wrong = sorted(said - own) or (sorted(named) if named and not named & own else [])
        if wrong:
            yield f"the text says {what} {wrong[0]}, the folder {', '.join(sorted(own)) or 'none'}"


def _words(figure: Figure, text: str) -> str:
    """The text without the folders that the figure names, whose paths hold words too."""
    words = text.lower()
    for one in (*figure.folders, *figure.beside):
        words = words.replace(one.text.lower(), " ")
    return words


def _identity(results: list[Stated], text: str) -> Iterator[tuple[str, set[str], set[str]]]:
    rules = load()
    yield "corpus", set(rules.corpora), {one.metrics.corpus.name for one in results}
    known = {*rules.embedders, "minilm"}
    yield "embedder", known, {one.embedder for one in results}
    versions = {match for one in results for match in re.findall(r"\d+(?:\.\d+)+", one.version)}
    if all(one.metrics.store.name == "pgmnemo" for one in results):
        yield "pgmnemo", set(re.findall(_VERSION, text.lower())), versions


def _hashes(result: Stated) -> Iterator[str]:
    yield result.manifest_sha256
    metrics = result.metrics
    yield from (metrics.dataset_sha256, metrics.protocol.sha256, metrics.protocol.clarifications_sha256)
    found = parsed(document(result.folder / MANIFEST), result.folder / MANIFEST)
    yield str(found.get("content_sha256", ""))
    files = found.get("files")
    if isinstance(files, dict):
        yield from map(str, files.values())


def _estimates(result: Stated, figure: Figure) -> list[EstimatePart]:
    """What the folder states of the measure: over all questions, and of the kinds and abilities that the text names."""
    metrics = result.metrics
    source = metrics.control_bm25 if figure.role == "bm25" else {**(metrics.abilities or {}), **metrics.estimates}
    words = _words(figure, figure.context)
    kinds = [kind for kind in source if kind != OVERALL]
    near = figure.near.lower()
    # Right beside the figure a kind is what it is of; further off it may be.
    beside = [kind for kind in kinds if re.search(rf"(?<![\w-]){re.escape(kind.lower())}(?![\w-])", near)]
    overall = re.search(r"\b(?:overall|all|pooled|mean|average)\b", near)
    if bool(beside) != bool(overall):
        slices = beside or [OVERALL]
    else:
        slices = [OVERALL, *(kind for kind in kinds if kind.lower() in words)]
    measure = figure.names[0].measure
    return [one for name in slices for one in source.get(name, []) if one.measure == measure]


def _part(one: EstimatePart, role: str) -> float | None:
    return {"chance": one.chance, "ceiling": one.ceiling}.get(role, one.value)


def _is_baseline(figure: Figure) -> bool:
    """The protocol itself registers the published baselines: they name a release, and no folder of this repository."""
    if figure.role != "value" or "baseline" not in f"{figure.context} {figure.row}".lower():
        return False
    value, digits = _number(figure.value)
    metric = {"recall_any@10": "recall@10", "recall_frac@10": "recall@10", "mrr@50": "MRR"}
    names = {metric.get(one.measure) for one in figure.names}
    return any(
        _same(corpus.baselines.get(name or ""), value, digits) for corpus in load().corpora.values() for name in names
    )


def _number(text: str) -> tuple[float, int]:
    """A printed figure and its decimals, percent as a share."""
    if fraction := re.fullmatch(r"(\d+)\s?(?:/|out of)\s?(\d+)", text):
        return int(fraction[1]) / int(fraction[2]), len(fraction[2])
    if re.fullmatch(r"[\d.]+[eE]-\d", text):
        return float(text), len(re.sub(r"^\d\.?|[eE].*", "", text)) + int(text[-1])
    percent = bool(re.search(r"%|p", text))
    plain = re.sub(r"[^\d.,+-]", "", text.replace("−", "-")).replace(",", ".")
    decimals = len(plain.partition(".")[2])
    value = float(plain)
    percent = percent or abs(value) > 1
    return (value / 100, decimals + 2) if percent else (value, decimals)


def _fits(right: float | None, printed: float, digits: int, bound: str) -> bool:
    if right is not None and bound:
        return right >= printed - 1e-9 if bound == ">" else right <= printed + 1e-9
    return _same(right, printed, digits)


def _same(right: float | None, printed: float, digits: int) -> bool:
    return right is not None and abs(right - printed) <= 0.5 * 10.0**-digits + 1e-9
