"""How repeated runs are concluded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recallbench.reports.repetition import BandPart, MovedPart, PassPart, Repetition, conclusion

FOLDER = Path("o/repeat of it")
COMPARE = "hold it against another system: recallbench compare 'o/repeat of it/run_1' OTHER"
FLIPPING = MovedPart(question_id="q1", found=[True, False], first_gold=[1, 12])


def passed(name: str, state: str) -> PassPart:
    return PassPart.model_validate(
        {"name": name, "state": state, "values": {}, "rankings_sha256": "", "content_sha256": ""}
    )


def banded(measure: str, apart: float | None, width: float | None, inside: bool | None) -> BandPart:
    told = "no band registered for it"
    return BandPart(protocol_name=measure, measure=measure, width=width, apart=apart, inside=inside, told=told)


def repeated(*bands: BandPart, warm: int = 2, **more: Any) -> Repetition:
    passes = [passed("run_1", "cold"), passed("run_2", "cold"), *(passed("warm", "warm") for _ in range(warm))]
    return Repetition.model_validate(
        {
            "schema_version": "1", "recallbench_version": "1", "protocol": "1.0.0", "corpus": "locomo",
            "dataset_sha256": "", "store": "bm25", "version": "1", "embedder": "", "n": 1982, "deviations": [],
            "cold": "", "warm": "", "limits": [], "unlike": [], "same_content": True, "same_rankings": False,
            "passes": passes, "spread": [], "bands": bands, "moved": [],
        } | more
    )  # fmt: skip


RECALL, MRR = banded("recall_any@10", 0.004, 0.01, True), banded("mrr@50", 0.0, 0.015, True)


@pytest.mark.parametrize(
    ("repetition", "kept", "text", "tone"),
    [
        (
            repeated(RECALL, MRR, same_rankings=True),
            0,
            "2 cold and 2 warm runs give the same rankings, to the last score; so no noise of the store is seen, and "
            f"one run will do (vectors were computed once); next: {COMPARE}",
            "good",
        ),
        (
            repeated(RECALL, MRR, moved=[FLIPPING]),
            1,
            "recall_any@10 moves by 0.0040 between 2 cold and 2 warm runs, within the bands of 0.01 and 0.015; 1 of "
            "the runs from before an interruption; 1 of 1982 questions flips at 10; so one run can stand for all, but "
            f"tells no difference up to 0.0040; next: {COMPARE}",
            "good",
        ),
        (
            repeated(banded("recall_any@10", 0.0, None, None), warm=0),
            0,
            "2 cold runs rank differently, but no measure moves; no band registered for it; so one run can stand for "
            f"all, but tells no difference up to 0.0000; next: {COMPARE}",
            "open",
        ),
        (
            repeated(banded("recall_any@10", 0.02, 0.01, False), banded("mrr@50", 0.01, 0.015, True), warm=0),
            0,
            "recall_any@10 moves by 0.0200 and mrr@50 moves by 0.0100 between 2 cold runs, outside the band of 0.01 of "
            "recall_any@10; so no single run can be believed beyond 0.0200; next: look for what moves: o/repeat of "
            "it/repeat.md lists the questions",
            "bad",
        ),
        (
            repeated(RECALL, unlike=["setting work_mem"], warm=0),
            0,
            "2 cold runs are not of one configuration: setting work_mem changed between them; so their spread is no "
            "noise, and no band judges it; next: repeat it while nothing else changes",
            "bad",
        ),
        (repeated(banded("recall_any@10", None, 0.01, None)), 0, "No question counts, so that 2 cold and 2 warm runs "
         "say nothing", "bad"),
    ],
)  # fmt: skip
def test_runs_end_with_what_their_spread_allows(repetition: Repetition, kept: int, text: str, tone: str) -> None:
    concluded = conclusion(repetition, FOLDER, kept)
    assert (str(concluded), concluded.tone) == (text, tone)
