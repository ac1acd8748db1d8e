"""Systems that were measured over several units of the same questions: sessions and turns, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import numpy as np

from recallbench.compare.control import control_rankings
from recallbench.compare.entrant import Entrant
from recallbench.corpora.labelled_sets.set_name import is_set_name, parse_set_name
from recallbench.corpora.registry import CORPORA
from recallbench.escaping.terminal import visible
from recallbench.reports.cells import system
from recallbench.reports.own_encoder import encoder_words
from recallbench.reports.units.units_part import CorpusUnitPart, UnitRowPart, UnitsPart
from recallbench.results.metrics import Metrics
from recallbench.results.rankings import Rankings
from recallbench.results.retrievals import CONTROL_RUN, STATIC_RUN
from recallbench.scoring.judgement import Bools
from recallbench.scoring.measures.measure import Measure

ByUnit = dict[str, list[Entrant]]


def compare_units(entrants: Sequence[Entrant], measures: Sequence[Measure]) -> list[UnitsPart]:
    """Return the systems of each corpus that were measured over several of its units; none where none was."""
    by_corpus: dict[str, ByUnit] = {}
    sets: list[Entrant] = []
    for entrant in entrants:
        if entrant.result is None:
            continue
        name = entrant.result.metrics.corpus.name
        if is_set_name(name):
            sets.append(entrant)
        elif name in CORPORA and CORPORA[name].unit:
            corpus = CORPORA[name].questions_of or name
            by_corpus.setdefault(corpus, {}).setdefault(CORPORA[name].unit, []).append(entrant)
    for entrant in sets:
        for units in by_corpus.values():
            # A set of turns that someone made goes by the ids of the questions: all of them are the corpus's own.
            known = {id for several in units.values() for each in several for id in each.rankings.questions}
            if set(entrant.rankings.questions) <= known:
                units.setdefault(_unit_of_set(entrant), []).append(entrant)
                break
    return [
        part
        for corpus, units in by_corpus.items()
        if len(units) > 1 and (part := _side_by_side(corpus, units, measures)) is not None
    ]


def _side_by_side(corpus: str, units: ByUnit, measures: Sequence[Measure]) -> UnitsPart | None:
    systems: dict[tuple[str, str], dict[str, Entrant]] = {}
    for unit, entrants in units.items():
        for entrant in entrants:
            systems.setdefault(_system(entrant), {}).setdefault(unit, entrant)
    rows = {names: by_unit for names, by_unit in systems.items() if len(by_unit) == len(units)}
    if not rows:
        return None
    common = reduce(
        frozenset.intersection,
        (_answerable(entrant.rankings) for by_unit in rows.values() for entrant in by_unit.values()),
    )
    if not common:
        return None
    first = next(iter(rows.values()))
    parts = [
        UnitRowPart(
            name=", ".join(by_unit[unit].name for unit in units),
            system=names[0],
            embedder=names[1],
            estimates=[by_unit[unit].rankings.estimates(measures, _mask(by_unit[unit], common)) for unit in units],
        )
        for names, by_unit in rows.items()
    ]
    compared = {entrant.name for by_unit in rows.values() for entrant in by_unit.values()}
    return UnitsPart(
        corpus=corpus,
        n=len(common),
        measures=list(map(str, measures)),
        units=[
            CorpusUnitPart(
                unit=unit, corpus=_metrics(entrant).corpus.name, per_haystack=_mean_candidates(entrant, common)
            )
            for unit, entrant in first.items()
        ],
        rows=sorted(parts, key=lambda part: -(part.estimates[0][0].value or 0.0)),
        controls=dict(_controls(list(rows.values()), parts[0], common, measures)),
        alone=[each.name for several in units.values() for each in several if each.name not in compared],
    )


def _controls(
    rows: Sequence[Mapping[str, Entrant]], row: UnitRowPart, common: frozenset[str], measures: Sequence[Measure]
) -> Iterator[tuple[str, list[list[float | None]]]]:
    """Yield what the controls make of the common questions, by unit: the first results that have them tell it."""
    for name, kept in (("BM25", CONTROL_RUN), ("static", STATIC_RUN)):
        found = [
            next(
                (
                    [estimate.value for estimate in ranked.estimates(measures, _mask(entrant, common))]
                    for entrant in (by_unit[unit] for by_unit in rows)
                    if entrant.result is not None and (ranked := control_rankings(entrant.result, kept)) is not None
                ),
                None,
            )
            for unit in rows[0]
        ]
        if all(values is not None for values in found):
            yield name, [values for values in found if values is not None]
    yield "chance", [[estimate.chance for estimate in by_measure] for by_measure in row.estimates]


def _system(entrant: Entrant) -> tuple[str, str]:
    metrics = _metrics(entrant)
    return visible(system(metrics)), visible(encoder_words(metrics))


def _unit_of_set(entrant: Entrant) -> str:
    return visible(parse_set_name(_metrics(entrant).corpus.name).folder)


def _metrics(entrant: Entrant) -> Metrics:
    assert entrant.result is not None
    return entrant.result.metrics


def _answerable(rankings: Rankings) -> frozenset[str]:
    return frozenset(id for id, has_gold in zip(rankings.questions, rankings.answerable, strict=True) if has_gold)


def _mask(entrant: Entrant, common: frozenset[str]) -> Bools:
    return np.array([id in common for id in entrant.rankings.questions], dtype=np.bool_)


def _mean_candidates(entrant: Entrant, common: frozenset[str]) -> float:
    return float(entrant.rankings.calls[-1].candidates[_mask(entrant, common)].mean())
