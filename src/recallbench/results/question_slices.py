"""The slices of the questions that figures are also given for: kinds, tenants and abilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallbench.corpora.records import Question, Survey
from recallbench.corpora.registry import abilities
from recallbench.results.metrics import OVERALL
from recallbench.scoring.judgement import Bools


def kind_slices(questions: Sequence[Question], survey: Survey) -> dict[str, Bools]:
    """Return masks over the questions: of all of them, and of each kind."""
    kinds = np.array([question.kind for question in questions])
    present = set(kinds.tolist())
    slices: dict[str, Bools] = {OVERALL: np.ones(len(kinds), dtype=bool)}
    return slices | {kind: kinds == kind for kind in survey.kinds if kind in present}


def tenant_slices(questions: Sequence[Question]) -> dict[str, Bools]:
    """Return a mask for each tenant; none where there is only one."""
    tenants = np.array([question.tenant for question in questions])
    names = sorted(set(tenants.tolist()) - {""})
    return {name: tenants == name for name in names} if len(names) > 1 else {}


def ability_slices(questions: Sequence[Question], corpus: str) -> dict[str, Bools]:
    """Return a mask for each ability, in the order of the corpus; none where it has no such thing."""
    names, assigned = abilities(
        corpus, [question.kind for question in questions], [question.abstention for question in questions]
    )
    return {name: np.array([ability == name for ability in assigned]) for name in names}
