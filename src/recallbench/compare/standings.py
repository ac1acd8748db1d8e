"""Many systems on the same questions, best first, with letters for those that a paired test can't tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from recallbench import __version__
from recallbench.compare.control import control_rankings
from recallbench.compare.entrant import Entrant
from recallbench.compare.frame import comparable_groups, why_apart
from recallbench.compare.many import alike, every_pair, letters_of, paired_systems
from recallbench.compare.pairs import same_questions
from recallbench.compare.units import compare_units
from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.errors import InputError, UsageError
from recallbench.escaping.terminal import visible
from recallbench.reports.cells import system
from recallbench.reports.conclusions.labels import may_be_labelled
from recallbench.reports.latency import folder_impossible_times
from recallbench.reports.own_encoder import encoder_words
from recallbench.reports.returned import returned_sentences
from recallbench.reports.standings import ApartPart, ControlPart, StandingPart, Standings
from recallbench.results.latency import build_seconds, other_hardware, query_times
from recallbench.results.metrics import OVERALL, EstimatePart
from recallbench.results.result import Result
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.quantiles import quantile
from recallbench.scoring.returned import returned_rows
from recallbench.stores.outside.own_code import NO_VERSION

CONTROLS = ("ceiling", "BM25", "static", "chance")


def standings(
    entrants: Sequence[Entrant], measures: Sequence[Measure], unplaced: Sequence[tuple[str, str]] = ()
) -> Standings:
    """Return the largest set of systems that were asked the same, by the first measure, and the others apart.

    `unplaced` names what could not even be read as rankings, each with the reason. Raises UsageError for a measure that
    none of the rankings reaches.
    """
    reaching = [entrant for entrant in entrants if not _too_shallow(entrant, measures)]
    if not reaching:
        raise UsageError(
            f"the measures can't be taken from {entrants[0].name}",
            expected=f"a depth of {_depth(entrants[0])} or less",
            found=", ".join(map(str, measures)),
            remedy="choose --measures within the depth of the rankings",
        )
    chosen = max(comparable_groups(reaching, why_not_beside), key=len)
    parts = {entrant.name: entrant.rankings.estimates(measures) if entrant in reaching else [] for entrant in entrants}
    ranked = sorted(chosen, key=lambda entrant: -(parts[entrant.name][0].value or 0.0))
    rankings = [entrant.rankings for entrant in ranked]
    compared = paired_systems(rankings, measures[0], every_pair(len(ranked)))
    letters = letters_of([parts[entrant.name][0].value or 0.0 for entrant in ranked], compared)
    settings = _differing_settings(ranked)
    return Standings(
        schema_version="1",
        recallbench_version=__version__,
        asked=asked_of(chosen[0]),
        measures=list(map(str, measures)),
        standings=[
            _standing(entrant, parts[entrant.name], letter, settings)
            for entrant, letter in zip(ranked, letters, strict=True)
        ],
        controls=_controls(ranked, parts, measures),
        tests=comb(len(set(alike(rankings, measures[0]))), 2),
        apart=[
            *(
                ApartPart(
                    name=entrant.name,
                    reason=_too_shallow(entrant, measures) or why_not_beside(chosen[0], entrant),
                    estimates=parts[entrant.name],
                )
                for entrant in entrants
                if entrant not in chosen
            ),
            *(ApartPart(name=name, reason=reason, estimates=[]) for name, reason in unplaced),
        ],
        notes=_notes(ranked),
        units=compare_units(reaching, measures),
    )


def why_not_beside(first: Entrant, other: Entrant) -> str:
    """Return why two systems can't share a table; empty where they can."""
    if first.result is not None and other.result is not None:
        reason = why_apart(first.result.metrics, other.result.metrics)
        if reason:
            return reason
    for name, value in first.basis.items():
        if (there := other.basis.get(name)) != value:
            return f"{name}: {value} against {there}"
    try:
        same_questions(first.rankings, other.rankings)
    except InputError as error:
        return f"other questions: {error.expected}; {error.found}"
    return ""


def _depth(entrant: Entrant) -> int:
    return entrant.rankings.calls[-1].depth


def _too_shallow(entrant: Entrant, measures: Sequence[Measure]) -> str:
    """Return which measure needs deeper rankings; empty where none does."""
    depth = _depth(entrant)
    beyond = next((measure for measure in measures if measure.k > depth), None)
    return f"depth: {depth}, which {beyond} is beyond" if beyond else ""


def _standing(entrant: Entrant, estimates: list[EstimatePart], letters: str, settings: Sequence[str]) -> StandingPart:
    result = entrant.result
    return StandingPart(
        name=entrant.name,
        system="" if result is None else visible(system(result.metrics)),
        version="" if result is None else stated_version(result),
        embedder="" if result is None else visible(encoder_words(result.metrics)),
        verdict="" if result is None else visible(result.metrics.verdict.text),
        labelled=result is None or may_be_labelled(result.metrics.corpus.name, result.metrics.store.name),
        letters=letters,
        estimates=estimates,
        p95_ms=entrant.p95_ms if result is None else quantile(query_times(result.folder, "warm"), 0.95),
        build_s=None if result is None else build_seconds(result.environment, result.metrics),
        settings={visible(name): visible(entrant.stated.get(name, "–")) for name in settings},
        note=entrant.note,
    )


def stated_version(result: Result) -> str:
    """Return the version of a system; of a user's own what it says itself, since its name stands beside it."""
    name, _, rest = result.metrics.store.version.partition(" (")
    own = rest.removesuffix(")")
    if not own or name not in result.metrics.store.name:
        return result.version
    return "" if own == NO_VERSION else visible(own)


def _differing_settings(entrants: Sequence[Entrant]) -> list[str]:
    """Return the settings that several state and that differ between them; not what a store's name says already."""
    values: dict[str, list[str]] = {}
    for entrant in entrants:
        store = "" if entrant.result is None else entrant.result.metrics.store.name
        for name, value in entrant.stated.items():
            if value not in store:
                values.setdefault(name, []).append(value)
    return [name for name, several in values.items() if len(set(several)) > 1]


def _controls(
    entrants: Sequence[Entrant], parts: dict[str, list[EstimatePart]], measures: Sequence[Measure]
) -> list[ControlPart]:
    """Return the controls, which the questions decide: those of the first system that has them."""
    estimates = parts[entrants[0].name]
    values = {
        "ceiling": [estimate.ceiling for estimate in estimates],
        "BM25": _bm25(next((entrant for entrant in entrants if entrant.result is not None), None), measures),
        "static": _static(entrants, measures),
        "chance": [estimate.chance for estimate in estimates],
    }
    return [
        ControlPart(name=name, values=values[name])  # type: ignore[arg-type] # one of these
        for name in CONTROLS
        if any(value is not None for value in values[name])
    ]


def _static(entrants: Sequence[Entrant], measures: Sequence[Measure]) -> list[float | None]:
    """Return the values of the static control, as far as the first folder that has it states them."""
    tables = [entrant.result.metrics.control_static for entrant in entrants if entrant.result is not None]
    first = next((table[OVERALL] for table in tables if table is not None), [])
    stated = {estimate.measure: estimate.value for estimate in first}
    return [stated.get(str(measure)) for measure in measures]


def _bm25(entrant: Entrant | None, measures: Sequence[Measure]) -> list[float | None]:
    """Return the values of the lexical control: as its folder states them, else from the ranking that it keeps."""
    if entrant is None or entrant.result is None:
        return [None] * len(measures)
    stated = {e.measure: e.value for e in entrant.result.metrics.control_bm25[OVERALL]}
    if all(str(measure) in stated for measure in measures):
        return [stated[str(measure)] for measure in measures]
    ranked = control_rankings(entrant.result)
    if ranked is None:
        return [stated.get(str(measure)) for measure in measures]
    return [estimate.value for estimate in ranked.estimates(measures)]


def asked_of(entrant: Entrant) -> str:
    """Return what a system was asked: the corpus, and how many questions."""
    questions = int(entrant.rankings.answerable.sum())
    if entrant.result is None:
        return f"{questions} questions"
    corpus = plain_names(entrant.result.metrics.corpus.name)
    return visible(f"{corpus}, {questions} questions")


def _notes(entrants: Sequence[Entrant]) -> list[str]:
    notes = [f"{entrant.name}: {entrant.note}" for entrant in entrants if entrant.note]
    for entrant in entrants:
        if entrant.result is not None and entrant.result.metrics.retrieval.missing_hits:
            calls = returned_rows(entrant.rankings.calls, entrant.rankings.kinds)
            notes += [f"{entrant.name}: {sentence}" for sentence in returned_sentences(calls)]
    timed = [entrant for entrant in entrants if entrant.result is not None]
    for entrant in timed[1:]:
        assert timed[0].result is not None
        assert entrant.result is not None
        if reason := other_hardware(timed[0].result.folder, entrant.result.folder):
            notes.append(f"{entrant.name}: its times are not comparable with those of {timed[0].name}: {reason}")
    for entrant in timed:
        if entrant.result is not None and (impossible := folder_impossible_times(entrant.result.folder)):
            notes.append(f"{entrant.name}: {impossible}")
    return notes
