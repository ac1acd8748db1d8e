"""The history of a measure: one system's results over its versions, with the protocol's band around each value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from recallbench import __version__
from recallbench.compare.drift import why_another_series
from recallbench.compare.frame import comparable_groups
from recallbench.compare.pairs import pair
from recallbench.corpora.registry import facts
from recallbench.protocol.bands import check_band
from recallbench.protocol.frozen import load
from recallbench.protocol.rules import CorpusRules
from recallbench.reports.comparison import difference_fields
from recallbench.reports.versions import PairPart, PrimaryPart, VersionPart, Versions
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import PRIMARY
from recallbench.scoring.paired import holm
from recallbench.site.board import Group
from recallbench.site.entry import Entry
from recallbench.site.local_words import publishable


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Results of one system that differ in version and settings alone, earliest first."""

    entries: tuple[Entry, ...]
    document: Versions
    repeats: tuple[str, ...]
    """Whether repeats of one version stayed inside the band, a sentence each."""

    @property
    def labels(self) -> Mapping[str, Entry]:
        """The entries by their names in the document."""
        return dict(zip((part.version for part in self.document.versions), self.entries, strict=True))


def series_of(group: Group, measures: Sequence[Measure]) -> list[Series]:
    """Return the series of a group with two results or more."""
    dated = [entry for entry in group.entries if entry.metrics is not None]
    ordered = sorted(dated, key=lambda entry: (entry.started or datetime.min.replace(tzinfo=UTC), entry.name))
    return [_series(each, measures) for each in comparable_groups(ordered, _why_another) if len(each) > 1]


def _why_another(first: Entry, other: Entry) -> str:
    assert first.metrics is not None
    assert other.metrics is not None
    return why_another_series(first.metrics, other.metrics, (first.name, other.name))


def _series(entries: Sequence[Entry], measures: Sequence[Measure]) -> Series:
    labels = _labels(entries)
    parts = [_version(label, entry) for label, entry in zip(labels, entries, strict=True)]
    first = entries[-1].metrics
    assert first is not None
    primary = [measure for measure in PRIMARY if measure in measures and measure.k <= first.retrieval.depth]
    document = Versions(
        schema_version="1",
        recallbench_version=__version__,
        protocol=first.protocol.version,
        corpus=first.corpus.name,
        dataset_sha256=first.dataset_sha256,
        embedder=entries[-1].embedder,
        vectors_sha256=first.embedder.vectors_sha256 if first.embedder else "",
        store=entries[-1].store if first.pipeline is None else f"{entries[-1].store}: {entries[-1].pipeline}",
        server=publishable(first.store.evidence.get("server", "").split(",")[0]),
        pgvector=publishable(first.store.evidence.get("pgvector", "")),
        n=int(entries[0].rankings.answerable.sum()),
        clustered=any(entries[0].rankings.clusters),
        bm25={each.measure: each.value for each in first.control_bm25[OVERALL] if each.measure in map(str, primary)},
        deviations=[publishable(f"{each.kind}: {each.detail}") for each in first.deviations],
        versions=parts,
        pairs=_pairs(entries, labels, primary),
    )
    return Series(tuple(entries), document, tuple(_repeats(entries, first)))


def _labels(entries: Sequence[Entry]) -> list[str]:
    """Return a name for each entry: its version, with the day and its own name as far as it takes."""
    for told in (
        [entry.version for entry in entries],
        [f"{entry.version} {entry.day}" for entry in entries],
    ):
        if len(set(told)) == len(told):
            return told
    return [f"{entry.version} {entry.name}" for entry in entries]


def _version(label: str, entry: Entry) -> VersionPart:
    metrics = entry.metrics
    assert metrics is not None
    headline = {part.estimate.measure: part for part in metrics.headline}
    figures = []
    for estimate in filter(None, entry.estimates):
        part = headline.get(estimate.measure)
        name, band = (part.protocol_name, part.band) if part else (estimate.measure, None)
        figures.append(PrimaryPart(estimate=estimate, protocol_name=name, band=band))
    return VersionPart(
        version=label,
        status="measured",
        reason="",
        stated=entry.version,
        content_sha256=entry.content_sha256,
        figures=figures,
        short_questions=metrics.retrieval.short_questions,
        verdict=entry.verdict,
        canonical=entry.verdict.endswith(", CANONICAL"),
    )


def _pairs(entries: Sequence[Entry], labels: Sequence[str], measures: Sequence[Measure]) -> list[PairPart]:
    neighbours = list(pairwise(zip(labels, entries, strict=True)))
    if not measures:
        return []
    found = [
        (before, after, measure, paired)
        for (before, first), (after, second) in neighbours
        for measure, paired in zip(measures, pair(first.rankings, second.rankings, measures), strict=True)
    ]
    adjusted = holm([paired.test.p for *_, paired in found])
    return [
        PairPart.model_validate({"before": before, "after": after, **difference_fields(str(measure), paired, p)})
        for (before, after, measure, paired), p in zip(found, adjusted, strict=True)
    ]


def _repeats(entries: Sequence[Entry], metrics: Metrics) -> Iterator[str]:
    """Yield what the protocol's bands say of several results of one version with the same settings."""
    alike: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        assert entry.metrics is not None
        alike.setdefault((entry.version, str(sorted(entry.metrics.guc_state.items()))), []).append(entry)
    corpus = _corpus(metrics)
    for (version, _), repeats in alike.items():
        if len(repeats) < 2:
            continue
        for part in metrics.headline:
            values = [value for entry in repeats if (value := _value(entry, part.estimate.measure)) is not None]
            check = check_band(corpus, part.protocol_name, values)
            yield f"{len(repeats)} results of {version}, {part.protocol_name}: {check.description}."


def _value(entry: Entry, measure: str) -> float | None:
    assert entry.metrics is not None
    return next((each.value for each in entry.metrics.estimates[OVERALL] if each.measure == measure), None)


def _corpus(metrics: Metrics) -> CorpusRules:
    return facts(metrics.corpus.name, load())
