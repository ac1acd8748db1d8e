"""Which differences of a matrix are real: paired tests over the same questions, and the letters that follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recallbench.compare.control import control_rankings
from recallbench.compare.many import (
    Places,
    SystemPair,
    every_pair,
    letters_of,
    paired_over_corpora,
    paired_systems,
)
from recallbench.corpora.registry import find_entry
from recallbench.progress import Progress
from recallbench.reports.comparison import difference_fields
from recallbench.reports.matrix.document import BM25, EncoderPart, Family, MatrixPairPart, TogetherPart
from recallbench.results.rankings import Rankings
from recallbench.scoring.measures.measure import Measure
from recallbench.studies.matrix.cell import MeasuredCell
from recallbench.studies.matrix.windows import neighbouring_windows

Letters = Mapping[str, Mapping[str, str]]
"""By system, by measure."""


@dataclass(frozen=True, slots=True)
class ComparedCorpus:
    """The systems of one corpus, or of all together, against each other."""

    letters: Letters
    pairs: list[MatrixPairPart]


def rankings_of(cells: Sequence[MeasuredCell]) -> dict[str, Rankings]:
    """Return the rankings of the cells of one corpus by their encoders, and those of the lexical control beside."""
    found = {cell.encoder.name: cell.result.rankings for cell in cells if cell.result is not None}
    for cell in cells:
        if cell.result is not None:
            if (control := control_rankings(cell.result)) is not None:
                found[BM25] = control
            break
    return found


def compare_corpus(
    corpus: str, rankings: Mapping[str, Rankings], encoders: Sequence[EncoderPart], measures: Sequence[Measure]
) -> ComparedCorpus:
    """Return the letters and the pairs of one corpus."""
    systems, every = list(rankings), list(rankings.values())
    letters: dict[str, dict[str, str]] = {system: {} for system in systems}
    pairs: list[MatrixPairPart] = []
    for measure in measures:
        families = {
            family: paired_systems(every, measure, places) for family, places in _families(systems, encoders).items()
        }
        counted = [float(each.values(measure)[each.counted(measure)].mean()) for each in every]
        for system, letter in zip(systems, letters_of(counted, families["all"]), strict=True):
            letters[system][str(measure)] = letter
        pairs += _parts(corpus, systems, measure, families)
    return ComparedCorpus(letters, pairs)


def asking_again(corpora: Sequence[str]) -> list[str]:
    """Return the corpora with the questions of one before them, such as the turns of a corpus beside its sessions."""
    asked: set[str] = set()
    again = []
    for corpus in corpora:
        questions = find_entry(corpus).questions_of or corpus
        if questions in asked:
            again.append(corpus)
        asked.add(questions)
    return again


def compare_together(
    corpora: Sequence[Mapping[str, Rankings]],
    datasets: Sequence[str],
    encoders: Sequence[EncoderPart],
    measures: Sequence[Measure],
    progress: Progress,
) -> tuple[list[TogetherPart], list[MatrixPairPart]]:
    """Return the systems that were measured on every corpus, best first, with their pairs over all questions.

    Two corpora of one dataset, such as two splits of a labelled set, have the same clusters.
    """
    systems = [system for system in corpora[0] if all(system in rankings for rankings in corpora)] if corpora else []
    if len(corpora) < 2 or len(systems) < 2:
        return [], []
    every = [[rankings[system] for system in systems] for rankings in corpora]
    values: dict[str, dict[str, float]] = {system: {} for system in systems}
    letters: dict[str, dict[str, str]] = {system: {} for system in systems}
    pairs: list[MatrixPairPart] = []
    progress.note("comparing over all corpora together")
    for measure in measures:
        families = {
            family: paired_over_corpora(every, datasets, measure, places)
            for family, places in _families(systems, encoders).items()
        }
        means = _means(len(systems), families["all"])
        for system, mean, letter in zip(systems, means, letters_of(means, families["all"]), strict=True):
            values[system][str(measure)], letters[system][str(measure)] = round(mean, 10), letter
        pairs += _parts("", systems, measure, families)
    leading = str(measures[0])
    ranked = sorted(systems, key=lambda system: -values[system][leading])
    return [TogetherPart(system=each, values=values[each], letters=letters[each]) for each in ranked], pairs


def _means(size: int, pairs: Sequence[SystemPair]) -> list[float]:
    means = [0.0] * size
    for (first, second), paired, _ in pairs:
        means[first], means[second] = paired.first, paired.second
    return means


def _families(systems: Sequence[str], encoders: Sequence[EncoderPart]) -> dict[Family, list[Places]]:
    """Return the pairs of each family; one without pairs is left out, but for every pair."""
    named = {encoder.name: encoder for encoder in encoders}
    windows = [(named[each].encoder, named[each].max_tokens) if each in named else (each, None) for each in systems]
    families: dict[Family, list[Places]] = {"all": every_pair(len(systems))}
    if encoders[0].name in systems:
        reference = systems.index(encoders[0].name)
        families["reference"] = [(reference, place) for place in range(len(systems)) if place != reference]
    if neighbours := neighbouring_windows(windows):
        families["windows"] = neighbours
    return families


def _parts(
    corpus: str, systems: Sequence[str], measure: Measure, families: Mapping[Family, Sequence[SystemPair]]
) -> Iterator[MatrixPairPart]:
    for family, compared in families.items():
        for (first, second), paired, adjusted in compared:
            yield MatrixPairPart.model_validate(
                {
                    "corpus": corpus,
                    "family": family,
                    "first_system": systems[first],
                    "second_system": systems[second],
                    **difference_fields(str(measure), paired, adjusted),
                }
            )
