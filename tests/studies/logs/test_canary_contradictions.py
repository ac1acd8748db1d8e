"""What the record of a canary says against itself: nothing where it is honest, whatever the mix; any edit is told."""

from __future__ import annotations

from typing import Any

import pytest

from recallbench.corpora.labelled_sets.canary_record import CanaryRecord, CanaryStratum
from recallbench.scoring.planning.proportion import NEAR, stated_proportion
from recallbench.studies.logs.canary.candidates import Candidate
from recallbench.studies.logs.canary.contradictions import contradictions
from recallbench.studies.logs.canary.drawing import Draw, draw
from recallbench.studies.logs.canary.power import power

SIZES = {("a", "t1"): (300, 6), ("b", "t1"): (40, 12), ("a", "t2"): (5, 2), ("b", "t2"): (150, 15), ("c", "t3"): (3, 3)}
SHARES = {("a", "t1"): 0.31, ("b", "t1"): 0.27, ("a", "t2"): 0.1, ("b", "t2"): 0.31999, ("c", "t3"): 0.00001}
SET = [
    Candidate(f"{kind}{tenant}{i}", kind, tenant, tenant, True, "missed" if i < hard else "")
    for (kind, tenant), (count, hard) in SIZES.items()
    for i in range(count)
]


def recorded(drawn: Draw) -> CanaryRecord:
    hard = {question.id: question.hard for question in drawn.questions if question.hard}
    facts: dict[str, Any] = {
        "schema_version": "1",
        "drawn": "2026-01-01",
        "seed": 42,
        "by": ["kind", "tenant"],
        "asked": 150,
        "questions": len(drawn.questions),
        "source": {"name": "team", "folder": None, "sha256": "0" * 64, "split": None, "questions": len(SET)},
        "log": [],
        "mix": [],
        "uncovered": 0.0,
        "strata": list(drawn.strata),
        "bias": drawn.bias,
        "proportional": drawn.proportional,
        "hard": {
            "rule": "",
            "rank": 3,
            "results": [],
            "asked": None,
            "production": drawn.hard_in_production,
            "drawn": drawn.hard_share,
            "questions": hard,
        },
        "detects": power(drawn.questions, []),
        "stale_after": None,
        "refreshed": None,
        "notes": [],
    }
    return CanaryRecord.model_validate(facts)


@pytest.mark.parametrize("hard", [None, 0.15, 0.3, 0.9])
@pytest.mark.parametrize("n", [5, 101, 150, 300])
def test_an_honest_record_says_nothing_against_itself(n: int, hard: float | None) -> None:
    for seed in range(10):
        drawn = draw(SET, SHARES, n, seed, hard)
        assert list(contradictions(recorded(drawn), drawn.questions)) == []
        assert stated_proportion(drawn.strata).bias == pytest.approx(drawn.bias, abs=NEAR)
        assert stated_proportion(drawn.strata).proportional == drawn.proportional


def test_each_edit_is_told() -> None:
    drawn = draw(SET, SHARES, 150, 42, 0.3)
    honest = recorded(drawn)

    def told(**changed: Any) -> str:
        return "; ".join(contradictions(honest.model_copy(update=changed), drawn.questions))

    def told_of(**changed: Any) -> str:
        first, *rest = honest.strata
        edited: CanaryStratum = first.model_copy(update=changed)
        return told(strata=[edited, *rest])

    assert told(bias=0.0).startswith("bias 0, and its strata tell 0.")
    assert told(proportional=True).startswith("proportional true, and its strata are ")
    assert "hard.production 0.5, and" in told(hard=honest.hard.model_copy(update={"production": 0.5}))
    assert told(questions=149) == "149 questions, and the folder holds 150"
    none = honest.hard.model_copy(update={"questions": {}})
    assert "hard questions of a of t1, and the folder holds" in told(hard=none).replace("other", "hard")
    strange = honest.hard.model_copy(update={"questions": {**honest.hard.questions, "zz": "hard"}})
    assert told(hard=strange) == "a hard question zz, and the folder has none"
    assert "detects.n 151, and 150" in told(detects=honest.detects.model_copy(update={"n": 151}))
    first = honest.strata[0]
    assert (first.kind, first.tenant, first.hard) == ("a", "t1", False)
    assert "of production, and not all of it" in told_of(share=0.5)
    assert "quota 1 of a of t1, and" in told_of(quota=1.0)
    assert "weights of a of t1 that stand for" in told_of(weight=(first.weight or 0) * 2)
    assert "no weight of a of t1, which is drawn" in told_of(weight=None)
    assert f"{first.drawn} of 1 questions of a of t1" in told_of(available=1)
    assert f"{first.drawn + 1} other questions of a of t1, and the folder holds {first.drawn}" in told_of(
        drawn=first.drawn + 1
    )
    assert "one stratum twice" in told(strata=[*honest.strata, first.model_copy(update={"drawn": 0})])
