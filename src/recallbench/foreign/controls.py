"""BM25 and chance over the questions of a foreign folder, each asked of its own haystack in the dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recallbench.corpora.records import Corpus, Haystack
from recallbench.foreign.universes import Definition
from recallbench.progress import Silent
from recallbench.retrieval.loop import retrieve
from recallbench.retrieval.record import Calls
from recallbench.retrieval.timing import Timings
from recallbench.scoring.judgement import judge
from recallbench.scoring.measures.registry import MEASURES
from recallbench.stores.bm25 import BM25Store


@dataclass(frozen=True, slots=True)
class ControlFigure:
    """A definition's mean over the same questions, by the lexical control and by a random order."""

    definition: Definition
    bm25: float
    chance: float


@dataclass(frozen=True, slots=True)
class Controls:
    """The figures that need no memory, over those questions of a folder that the dataset has gold for."""

    questions: int
    figures: tuple[ControlFigure, ...]


def control_figures(corpus: Corpus, asked: Collection[str], definitions: Sequence[Definition]) -> Controls:
    """Return the controls over the asked questions, by the dataset's ids; variants that are no measures have none."""

    def haystacks() -> Iterator[Haystack]:
        for haystack in corpus.haystacks():
            questions = tuple(question for question in haystack.questions if question.gold and question.id in asked)
            if questions:
                yield replace(haystack, questions=questions)

    depth = max(definition.k for definition in definitions)
    found = retrieve(
        haystacks,
        BM25Store(),
        None,
        None,
        expected=len(asked),
        calls=Calls(depth=depth),
        timings=Timings(),
        progress=Silent(),
        traced=False,
    )
    rankings = [ranking.positions for ranking in found.rankings]
    judged = judge(rankings, [question.gold for question in found.questions], found.candidates, depth)
    measures = [
        (definition, MEASURES[definition.kind](definition.k)) for definition in definitions if not definition.variant
    ]
    return Controls(
        len(judged),
        tuple(
            ControlFigure(definition, float(np.mean(measure.values(judged))), float(np.mean(measure.chance(judged))))
            for definition, measure in measures
            if len(judged)
        ),
    )
