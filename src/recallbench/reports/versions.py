"""Several versions measured alike: `versions.json`, `versions.md` and the printed tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.escaping.markdown import headed, inline, opening
from recallbench.escaping.shell import command
from recallbench.reports.cells import figure, interval
from recallbench.reports.comparison import (
    DIFFERENCE_HEADER,
    LEVEL,
    DifferencePart,
    difference_cells,
    p_text,
)
from recallbench.reports.part import DocumentPart
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.deciding import disagreement
from recallbench.reports.table import Link, Table
from recallbench.results.metrics import EstimatePart

JSON, MARKDOWN, PAGE = "versions.json", "versions.md", "versions.html"
BANDS = (
    "A band bounds repeats of one version, embedder, store and settings; it decides nothing between versions, "
    "which is what the paired tests are for."
)


class PrimaryPart(DocumentPart):
    estimate: EstimatePart
    protocol_name: str
    band: float | None = Field(description="the protocol's run-to-run band; null where the corpus has none")


class VersionPart(DocumentPart):
    version: str = Field(description="as asked for")
    status: Literal["measured", "not installed", "blocked"]
    reason: str = Field(description="why there is no result; empty where there is one")
    stated: str = Field(description="the version as the store states it; empty where there is no result")
    content_sha256: str = Field(description="of the result's manifest; empty where there is no result")
    figures: list[PrimaryPart] = Field(description="the primary measures")
    short_questions: int = Field(description="questions answered with fewer hits than asked for and there were")
    verdict: str
    canonical: bool


class PairPart(DifferencePart):
    before: str
    after: str


class Versions(DocumentPart):
    """The same run over several versions of the system under test."""

    schema_version: Literal["1"]
    recallbench_version: str
    protocol: str
    corpus: str
    dataset_sha256: str
    embedder: str
    vectors_sha256: str
    store: str = Field(description="with what of its settings is not its default")
    server: str
    pgvector: str
    n: int = Field(description="questions counted")
    clustered: bool = Field(description="statistics cluster by conversation")
    bm25: dict[str, float | None] = Field(description="the lexical control on the same questions, by measure")
    deviations: list[str]
    versions: list[VersionPart] = Field(description="in the order asked for")
    pairs: list[PairPart] = Field(description="neighbours among those that were measured")


def title(versions: Versions) -> str:
    """Return corpus, store and embedder in a line."""
    return f"{short_names(versions.corpus)}: versions of {versions.store} with {versions.embedder}"


def version_table(versions: Versions, reports: Mapping[str, str] | None = None) -> Table:
    """Return a row for each version, in order, those that could not be measured included.

    `reports` has the report of each measured version, which its name links to.
    """
    measures = [part.estimate.measure for part in _primary(versions)]
    columns = ["version", *(cell for measure in measures for cell in (measure, "95% interval")), "note"]
    rows = []
    for version in versions.versions:
        cells = [cell for e in version.figures for cell in (figure(e.estimate.value), interval(e.estimate))]
        short = f"{version.short_questions} questions answered short" if version.short_questions else ""
        note = f"{version.status}: {version.reason}" if version.status != "measured" else short or "–"
        report = (reports or {}).get(version.version)
        name = version.version if report is None else Link(version.version, report)
        rows.append([name, *(cells or ["–"] * (2 * len(measures))), note])
    return Table(columns, rows, caption="Versions")


def pair_table(versions: Versions) -> Table:
    """Return a row for each pair of neighbours and measure."""
    rows = [[f"{pair.before} – {pair.after}", pair.measure, *difference_cells(pair)] for pair in versions.pairs]
    columns = ("from – to", "measure", *DIFFERENCE_HEADER)
    return Table(columns, rows, caption="Each version against the one before it")


def reading(versions: Versions) -> list[str]:
    """Return sentences on how to read the table of pairs."""
    if not versions.pairs:
        return ["Fewer than two versions were measured, so nothing is compared."]
    tests = len(versions.pairs)
    dependent = "by conversation" if versions.clustered else "by question"
    lines = [
        f"Neighbours are compared on the same questions, paired {dependent}; p is two-sided, "
        f"from {' or '.join(sorted({pair.test for pair in versions.pairs}))}.",
        f"Holm corrects for the {tests} tests of this table; * marks those at {LEVEL} or below.",
        "Smallest p is the least that these questions could have reached; "
        "detectable is the true difference that would be found four times in five, before the correction.",
    ]
    differing = [pair for pair in versions.pairs if pair.moved]
    unreachable = [pair for pair in differing if (pair.p_holm or 0.0) > LEVEL and pair.smallest_p * tests > LEVEL]
    if unreachable:
        lines.append(
            f"{len(unreachable)} of these tests might not have come below {LEVEL} after the correction, whatever they "
            "found: too few clusters differ for so many tests. Compare fewer versions at a time."
        )
    return lines


def identity(versions: Versions) -> list[str]:
    """Return corpus and server, the figures of chance and BM25, and the deviations from the protocol."""
    return [*about(versions), *standing(versions)]


def about(versions: Versions) -> list[str]:
    """Return corpus and server, and the figures of chance and BM25."""
    chances = [f"{part.estimate.measure} {figure(part.estimate.chance)}" for part in _primary(versions)]
    control = [f"{measure} {figure(value)}" for measure, value in versions.bm25.items()]
    where = [versions.server, f"pgvector {versions.pgvector}"] if versions.pgvector else [versions.server]
    return [
        f"protocol {versions.protocol}; {versions.n} questions of {short_names(versions.corpus)}"
        + (f"; {', '.join(filter(None, where))}" if any(where) else ""),
        f"chance: {', '.join(chances)}; BM25: {', '.join(control)}",
    ]


def standing(versions: Versions) -> list[str]:
    """Return how the versions stand to the protocol."""
    return [
        f"deviations: {'; '.join(versions.deviations) or 'none'}",
        "canonical: "
        + (", ".join(version.version for version in versions.versions if version.canonical) or "none of them"),
    ]


def bands(versions: Versions) -> str:
    """Return the protocol's bands for this corpus, and their purpose."""
    widths = [
        f"{part.protocol_name} ± {part.band:.3f}".rstrip("0") for part in _primary(versions) if part.band is not None
    ]
    if not widths:
        return f"The protocol has no band for {short_names(versions.corpus)}."
    return f"The protocol's bands for {versions.corpus}: {', '.join(widths)}. {BANDS}"


def conclusion(versions: Versions, results: Mapping[str, Path]) -> Conclusion:
    """Return which neighbours differ, whether one can believe it, and what to do next; `results` has their folders."""
    measured = [version.version for version in versions.versions if version.status == "measured"]
    failed = [f"{part.version} was not measured ({part.status})" for part in versions.versions if part.figures == []]
    lost = [f"{failed[0]}, nor {len(failed) - 1} more" if len(failed) > 1 else failed[0]] if failed else []
    if not versions.pairs:
        alone = f"Only {measured[0]} was measured, so nothing is compared"
        return Conclusion(alone, "".join(lost), "name another version that the server offers", tone="open")
    telling = [pair for pair in versions.pairs if pair.p_holm is not None and pair.p_holm <= LEVEL]
    chosen = telling[0] if telling else max(versions.pairs, key=lambda pair: abs(pair.difference))
    doubts = [*lost, *filter(None, (disagreement(chosen, len(versions.pairs)), _believed(versions, telling)))]
    return Conclusion(
        _differing(versions, chosen, telling),
        next(iter(doubts), ""),
        command("compare", results[chosen.before], results[chosen.after]),
        tone="open" if failed else "good",
    )


def _differing(versions: Versions, chosen: PairPart, telling: Sequence[PairPart]) -> str:
    """Return the first neighbours that differ, with their figures, and how many more do; or that none does."""
    questions = f"{versions.n} questions"
    if telling:
        more = f", and {len(telling) - 1} more in the table" if len(telling) > 1 else ""
        return f"{_figures(chosen)}, {questions}{more}"
    if not any(pair.moved for pair in versions.pairs):
        return f"No question scores otherwise in any of {len(versions.versions)} versions, {questions}"
    return f"No change is shown: {_figures(chosen)}, {questions}"


def _figures(pair: PairPart) -> str:
    return f"{pair.before} to {pair.after} {pair.measure} {pair.words}, p {p_text(pair.corrected_p)}"


def _believed(versions: Versions, telling: Sequence[PairPart]) -> str:
    tests = f"{len(versions.pairs)} test{'s' if len(versions.pairs) > 1 else ''}"
    if telling:
        return f"p is corrected for {tests}"
    differing = [pair for pair in versions.pairs if pair.moved]
    if differing and all(pair.smallest_p * len(versions.pairs) > LEVEL for pair in differing):
        few = "clusters" if versions.clustered else "questions"
        return f"too few {few} differ for {tests}"
    detectable = [pair.detectable for pair in differing if pair.detectable is not None]
    return f"one of {figure(max(detectable))} is found four times in five" if detectable else ""


def markdown(versions: Versions, reports: Mapping[str, str]) -> str:
    """Return `versions.md`; `reports` has the report of each version that was measured."""
    lines = [*(f"- {opening(line)}" for line in identity(versions)), ""]
    lines += [*version_table(versions, reports).markdown(), "", inline(bands(versions)), "", "## Neighbours", ""]
    lines += [*pair_table(versions).markdown(), ""] if versions.pairs else []
    return headed(title(versions), [*lines, *map(opening, reading(versions))]) + "\n"


def _primary(versions: Versions) -> list[PrimaryPart]:
    return next((version.figures for version in versions.versions if version.figures), [])
