"""What a paired comparison over the questions of a canary can detect."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from recallbench.corpora.labelled_sets.canary_record import CanaryPower
from recallbench.corpora.labelled_sets.labelled import FEWEST_SCOPES
from recallbench.scoring.judgement import Floats
from recallbench.scoring.planning.detectable import (
    design_effect,
    detectable_drop,
    differing_by_chance,
    differing_seen,
    half_width,
)
from recallbench.studies.logs.canary.candidates import Candidate, SetResult

MEASURE = "recall_any@10"
LEVEL = 0.9
"""The recall from which a drop is counted where no result tells one."""
DIGITS = 4


def power(questions: Sequence[Candidate], results: Sequence[SetResult]) -> CanaryPower:
    """Return what n questions can show: by the pairs of two results, by the level of one, or by assumption alone."""
    findable = [question for question in questions if question.findable]
    scopes = [question.scope for question in findable]
    clusters = (
        list(Counter(scopes).values()) if len({question.scope for question in questions}) >= FEWEST_SCOPES else None
    )
    if clusters is not None and len(clusters) == len(scopes):
        clusters = None
    counted = [i for i, question in enumerate(findable) if all(question.id in result.values for result in results)]
    values: list[Floats] = [
        np.array([result.values[findable[i].id] for i in counted], dtype=np.float64) for result in results
    ]
    level, effect = LEVEL, 1.0
    assumption = f"a recall of {LEVEL:g}"
    if values and counted:
        level = float(values[0].mean())
        assumption = f"the recall of {results[0].result.folder.name} on these questions"
        told = values[1] - values[0] if len(values) > 1 else values[0]
        if clusters is not None:
            effect = design_effect(told, [scopes[i] for i in counted])
    if len(values) > 1 and counted:
        differing = differing_seen(values[0], values[1])
        assumption += f", and as many questions that differ as between it and {results[1].result.folder.name}"
    else:
        differing = differing_by_chance(level)
        assumption += ", and two systems that find and miss independently of each other (versions of one differ less)"
    if clusters is not None:
        assumption += f"; questions of {len(clusters)} scopes depend on each other, design effect {effect:.2g}"
        assumption += "" if values else " (no result tells it)"
    drop = detectable_drop(len(findable), level, differing, clusters, effect)
    return CanaryPower(
        measure=MEASURE,
        n=len(findable),
        clusters=len(findable) if clusters is None else len(clusters),
        level=round(level, DIGITS),
        differing=round(differing, DIGITS),
        assumption=assumption,
        drop=None if math.isnan(drop) else round(drop, DIGITS),
        half_width=round(half_width(len(findable), level, effect), DIGITS) if findable else None,
    )
