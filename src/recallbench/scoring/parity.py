"""The measures against two other implementations, on random rankings full of corner cases.

Ties are resolved before scoring: each ranking is put into this project's order (score descending, then the earlier
segment), and the oracles get strictly decreasing rank scores in that order, small whole numbers that survive the
float32 in which pytrec_eval compares. So the measures are compared, not the rules for ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.errors import UsageError
from recallbench.extras import require
from recallbench.scoring.judgement import Floats, Judged, judge
from recallbench.scoring.matching import order
from recallbench.scoring.measures.registry import MEASURES, parse

TOLERANCE = 1e-9
DEPTH = 50
_DEPTHS: Mapping[str, tuple[int, ...]] = {
    "recall_any": (1, 5, 10, 25, 50),
    "recall_frac": (1, 5, 10, 25, 50),
    "precision": (5, 10),
    "ndcg": (5, 10, 50),
    "mrr": (10, DEPTH),
}


def _their_name(measure: str, k: int, source: str) -> str:
    """Return a program's name of a measure at a depth; one without a depth is for the whole ranking."""
    form = next(alias.form for alias in MEASURES[measure].elsewhere if alias.source == source)
    return form.format(k=k) if "{k}" in form or k == DEPTH else ""


SHARED: Mapping[str, tuple[str, str]] = {
    f"{measure}@{k}": (_their_name(measure, k, "trec_eval"), _their_name(measure, k, "ir_measures"))
    for measure, depths in _DEPTHS.items()
    for k in depths
}
"""By this project's name: pytrec_eval's and ir_measures' name for the same count; empty where one has none."""

_Scores = Mapping[str, Mapping[str, float]]
_Grades = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Random runs in the form of each implementation: question i is row i of `judged`."""

    runs: int
    names: tuple[str, ...]
    judged: Judged
    scores: _Scores
    """By question and document, the rank score; unanswered questions are left out."""
    grades: _Grades


@dataclass(frozen=True, slots=True)
class Tally:
    """A measure compared with an oracle's."""

    measure: str
    oracle: str
    their_name: str
    compared: int
    differing: int
    largest: float
    """The largest absolute difference."""


def parity(runs: int, seed: int) -> list[Tally]:
    """Compare every shared measure with both oracles, question by question; raises Blocked where one is missing."""
    oracles = _oracles()
    drawn = draw(runs, seed)
    tallies = []
    for oracle, (place, score) in oracles.items():
        shared = {ours: theirs[place] for ours, theirs in SHARED.items() if theirs[place]}
        their_values = score(drawn, sorted(set(shared.values())))
        for ours, theirs in shared.items():
            values = parse(ours).values(drawn.judged)
            # pytrec_eval drops a question without an answer; ir_measures scores it 0, as is done here.
            rows = [i for i, name in enumerate(drawn.names) if name in their_values[theirs]]
            expected = np.array([their_values[theirs][drawn.names[i]] for i in rows])
            apart: Floats = np.abs(values[rows] - expected)
            tallies.append(
                Tally(
                    ours, oracle, theirs, len(rows), int((~(apart <= TOLERANCE)).sum()), float(apart.max(initial=0.0))
                )
            )
    return tallies


def draw(runs: int, seed: int) -> Drawn:
    """Draw runs of one to five questions: few distinct scores, graded or not, short, empty or left out."""
    if runs < 1:
        raise UsageError("parity needs runs to compare", expected="1 or more", found=str(runs))
    rng = np.random.default_rng(seed)
    names, rankings, gold, sizes, grades = [], [], [], [], []
    left_out = set()
    for run in range(runs):
        graded = bool(rng.random() < 0.5)
        for question in range(int(rng.integers(1, 6))):
            size = int(rng.integers(1, 120))
            relevant = rng.choice(size, int(rng.integers(1, min(size, 12) + 1)), replace=False).tolist()
            grade = {position: int(rng.integers(1, 5)) if graded else 1 for position in relevant}
            # Judgements of grade 0, which the oracles must not count as gold either.
            grade |= {int(p): 0 for p in rng.integers(0, size, int(rng.integers(0, 4))) if int(p) not in grade}
            returned = rng.permutation(size)[: _length(rng)].tolist()
            scores = rng.integers(0, int(rng.integers(1, 9)), len(returned))
            name = f"{run}.{question}"
            ranking = order([(int(p), float(s)) for p, s in zip(returned, scores, strict=True)])
            names.append(name)
            rankings.append(ranking)
            gold.append(frozenset(relevant))
            sizes.append(size)
            grades.append(grade)
            if not ranking:
                left_out.add(name)
    judged = judge(rankings, gold, sizes, DEPTH, [{p: float(g) for p, g in grade.items()} for grade in grades])
    return Drawn(
        runs=runs,
        names=tuple(names),
        judged=judged,
        scores={
            name: {f"d{p}": float(DEPTH - place) for place, p in enumerate(ranking)}
            for name, ranking in zip(names, rankings, strict=True)
            if name not in left_out
        },
        grades={name: {f"d{p}": g for p, g in grade.items()} for name, grade in zip(names, grades, strict=True)},
    )


def _length(rng: np.random.Generator) -> int:
    """Draw the length of a ranking: one in eight is empty, one in eight full."""
    return (0, DEPTH, *map(int, rng.integers(1, DEPTH + 1, 6)))[int(rng.integers(0, 8))]


def _oracles() -> dict[str, tuple[int, Callable[[Drawn, Sequence[str]], _Scores]]]:
    """Return each oracle by name and version: the index of its names in SHARED, and its function."""
    from importlib.metadata import version

    require("parity", "parity")
    names = [f"{package} {version(package)}" for package in ("pytrec_eval-terrier", "ir_measures")]
    return {names[0]: (0, _pytrec_eval), names[1]: (1, _ir_measures)}


def _pytrec_eval(drawn: Drawn, measures: Sequence[str]) -> _Scores:
    import pytrec_eval

    evaluated = pytrec_eval.RelevanceEvaluator(drawn.grades, set(measures)).evaluate(drawn.scores)
    return {measure: {name: values[measure] for name, values in evaluated.items()} for measure in measures}


def _ir_measures(drawn: Drawn, measures: Sequence[str]) -> _Scores:
    import ir_measures

    names = {ir_measures.parse_measure(measure): measure for measure in measures}
    values: dict[str, dict[str, float]] = {measure: {} for measure in measures}
    for metric in ir_measures.iter_calc(list(names), drawn.grades, drawn.scores):
        values[names[metric.measure]][metric.query_id] = metric.value
    return values


def unshared(names: Iterator[str] | Sequence[str]) -> list[str]:
    """Return those of these measures that neither oracle has."""
    return [name for name in names if name not in _DEPTHS]
