"""Whether a figure of a text is the one that a result states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from recallbench.citing.figure_grammar import CitedFigure, Role, names_in, without_names, words_not_read
from recallbench.citing.printed_number import count, holds, is_same, number
from recallbench.corpora.registry import CORPORA
from recallbench.embedding.encoders import ENCODERS
from recallbench.results.metrics import OVERALL, EstimatePart
from recallbench.results.result import Result
from recallbench.stores.registry import STORES

_SUBJECT = re.compile(
    rf"\b(?P<name>{'|'.join(map(re.escape, (*STORES, *ENCODERS)))}|chance|random order|oracle)"
    r"(?:'s| control| level)?(?: v?\d[\w.]*)?:?(?: (?:has|had|gets|got|with|reache[sd]|an?))*\s*$",
    re.IGNORECASE,
)
"""Another system right before a measure."""


def doubts(figure: CitedFigure, result: Result) -> Iterator[str]:
    """Yield why a figure may be another than the result states; nothing where the words leave no doubt."""
    metrics, kinds = result.metrics, _kinds(result)
    for name in names_in(figure.sentence, [name for name in CORPORA if name != metrics.corpus.name]):
        yield f"the sentence names {name}, the folder is of {metrics.corpus.name}"
    own = (metrics.corpus.name, metrics.store.name, metrics.embedder_name, result.version, *kinds)
    if words := words_not_read(figure, own):
        yield f"what '{words}' makes of it is not known"
    if subject := _SUBJECT.search(without_names(figure.before, own)):
        yield f"it may be of {subject['name']}"
    named = names_in(f"{figure.row} {figure.clause}", kinds)
    if len(named) > 1 or (named and not figure.is_alone):
        yield f"it may be of {' or '.join(named)}"
    if figure.bound == "up to" and not named:
        same = [part for part, value in _stated(figure, result).items() if is_same(value, figure.value)]
        if same and OVERALL not in same:
            yield f"it may be of {' or '.join(same)}"


def differences(figure: CitedFigure, result: Result) -> Iterator[str]:
    """Yield how value, interval and n differ from the folder's, for the kind that is named or all questions."""
    measure, source = figure.names[0].measure, _slices(figure, result)
    kind = next(iter(names_in(f"{figure.row} {figure.clause}", _kinds(result))), OVERALL)
    part = next((part for part in source.get(kind, []) if part.measure == measure), None)
    if part is None or (value := _value_of(part, figure.role)) is None:
        yield f"{result.folder.name} states no {measure}"
        return
    if not holds(value, figure.bound, figure.value):
        others = [other.measure for other in source[kind] if is_same(other.value, figure.value)]
        hint = f"; it is its {others[0]}" if others and figure.role == "value" else ""
        if figure.bound:
            hint = f", which is not {figure.bound} {figure.value}"
        if figure.bound == "about":
            hint += ": more than a point off"
        if figure.bound == "up to":
            stated = _stated(figure, result)
            highest = max(stated, key=lambda part: stated[part])
            hint += f"; its highest is {stated[highest]:.4f}, of {highest}" if stated[highest] > value else ""
        yield f"{result.folder.name} has {value:.{max(4, number(figure.value)[1])}f}{hint}"
    if figure.interval and not all(map(is_same, (part.low, part.high), figure.interval)):
        right = "no interval" if part.low is None else f"{part.low:.4f} to {part.high:.4f}"
        yield f"the interval {' to '.join(figure.interval)}: the folder has {right}"
    if figure.count and count(figure.count) != part.n:
        yield f"n = {figure.count}: the folder has {part.n}"


def _slices(figure: CitedFigure, result: Result) -> Mapping[str, Sequence[EstimatePart]]:
    """Return the estimates that a figure may be one of, by all questions, kind, ability and tenant."""
    metrics = result.metrics
    if figure.role == "bm25":
        return metrics.control_bm25
    return {**(metrics.tenants or {}), **(metrics.abilities or {}), **metrics.estimates}


def _stated(figure: CitedFigure, result: Result) -> dict[str, float]:
    """Return every value that a result states of the figure's measure, by its slice."""
    return {
        name: value
        for name, parts in _slices(figure, result).items()
        for part in parts
        if part.measure == figure.names[0].measure and (value := _value_of(part, figure.role)) is not None
    }


def _value_of(part: EstimatePart, role: Role) -> float | None:
    return part.chance if role == "chance" else part.ceiling if role == "ceiling" else part.value


def _kinds(result: Result) -> list[str]:
    """Return the kinds of questions that a result has figures of."""
    return [kind for kind in {**(result.metrics.abilities or {}), **result.metrics.estimates} if kind != OVERALL]
