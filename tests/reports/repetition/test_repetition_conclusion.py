"""How repeated runs are concluded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.reports.repetition.conclusion import conclusion
from recallbench.reports.repetition.document import BandPart, MovedPart, PassPart, Repetition, SpreadPart
from recallbench.reports.repetition.page import printed

FOLDER = Path("o/repeat of it")
TYPED = TypedCommand(("recallbench", "repeat"), (("2",), ("locomo",), ("--resume", "o/repeat of it")))
COMPARE = "recallbench compare 'o/repeat of it/run_1' OTHER"
LONGEST = 220
"""Characters of a last line."""
FLIPPING = MovedPart(question_id="q1", found=[True, False], first_gold=[1, 12])


def passed(name: str, state: str) -> PassPart:
    return PassPart.model_validate(
        {"name": name, "state": state, "values": {}, "rankings_sha256": "", "content_sha256": ""}
    )


def banded(measure: str, apart: float | None, width: float | None, inside: bool | None) -> BandPart:
    told = "not applicable: only 20 of the questions were asked"
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
    ("repetition", "text", "tone"),
    [
        (
            repeated(RECALL, MRR, same_rankings=True, same_content=False),
            "2 cold and 2 warm runs give the same rankings, to the last score; the store adds no noise, so that one "
            f"run will do; next: {COMPARE}",
            "good",
        ),
        (
            repeated(RECALL, MRR, moved=[FLIPPING]),
            "recall_any@10 moves by 0.0040 over 2 cold and 2 warm runs, within their bands; one run can stand for all, "
            f"but tells no difference up to 0.0040; next: {COMPARE}",
            "good",
        ),
        (
            repeated(banded("recall_any@10", 0.0, None, None), warm=0),
            "2 cold runs rank differently, but keep their recall_any@10; held to no band; one run can stand for all; "
            f"next: {COMPARE}",
            "open",
        ),
        (
            repeated(banded("recall_any@10", 0.02, 0.01, False), banded("mrr@50", 0.01, 0.015, True), warm=0),
            "recall_any@10 moves by 0.0200 and mrr@50 by 0.0100 over 2 cold runs, outside the band of "
            "recall_any@10; no single run can be believed beyond 0.0200; next: see which questions move: o/repeat of "
            "it/repeat.md",
            "bad",
        ),
        (
            repeated(RECALL, unlike=["setting work_mem"], warm=0),
            "2 cold runs are not of one configuration: setting work_mem changed between them; their spread is no "
            "noise, and no band judges it; next: repeat it while nothing else changes: recallbench repeat 2 "
            "locomo",
            "bad",
        ),
        (repeated(banded("recall_any@10", None, 0.01, None)), "No question counts, so that 2 cold and 2 warm runs "
         "say nothing", "bad"),
    ],
)  # fmt: skip
def test_runs_end_with_what_their_spread_allows(repetition: Repetition, text: str, tone: str) -> None:
    concluded = conclusion(repetition, FOLDER, TYPED)
    assert (str(concluded), concluded.tone) == (text, tone)
    assert len(text) <= LONGEST


@pytest.mark.parametrize("inside", [True, False])
def test_the_line_stays_short(inside: bool) -> None:
    """Both measures move, over many runs of both sorts."""
    bands = [banded("recall_any@10", 0.0123, 0.01, inside), banded("mrr@50", 0.0234, 0.015, inside)]
    passes = [passed(f"run_{n}", state) for state in ("cold", "warm") for n in range(20)]
    told = conclusion(repeated(*bands, passes=passes), Path("results/repeat"), TYPED)
    assert len(str(told)) <= LONGEST, str(told)


def test_a_repeat_is_printed_in_every_format() -> None:
    spread = SpreadPart(
        measure="recall_any@10", minimum=0.5, maximum=0.504, range=0.004, mean=0.502, sd=0.002, cold_range=0.004,
        warm_range=None,
    )  # fmt: skip
    shown = printed(repeated(RECALL, spread=[spread], deviations=["store: bm25 instead of pgmnemo"]), FOLDER, TYPED)
    said = str(conclusion(repeated(RECALL), FOLDER, TYPED))
    assert shown.render("text").endswith(f"/o/repeat of it/repeat.md\n\n{said}\n")
    assert "deviations: store: bm25 instead of pgmnemo\n" in shown.render("text")
    own = printed(repeated(RECALL, spread=[spread], store="python:mine:Memory"), FOLDER, TYPED)
    assert "deviations: " not in own.render("text")
    assert shown.render("csv") == (
        "measure,minimum,maximum,range,mean,sd,cold_range,warm_range\n"
        "recall_any@10,0.5,0.504,0.004,0.502,0.002,0.004,\n"
    )
    assert shown.render("html").count("recall_any@10 moves by 0.0040") == 1
    assert shown.render("markdown").count("recall_any@10 moves by 0.0040") == 1
    assert '"schema_version": "1"' in shown.render("json")
