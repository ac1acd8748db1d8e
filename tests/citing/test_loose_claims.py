"""Figures that a text gives loosely, as roughly or the best there is: a folder that is named has to bear them out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from recallbench.audit.audit import Audit
from recallbench.audit.decision import Verdict
from recallbench.citing.citation_check import CheckedFigure, check

HEAD = "On canary-locomo, not canonical, with deviations.\n\n"


def checked(result: Path, said: Sequence[str]) -> list[CheckedFigure]:
    """The figures of sentences about the bundled canary with BM25: 0.8354 over all, at most 0.9200 (multi-hop)."""
    page = result.parent.parent / "loose.md"
    page.write_text(HEAD + "".join(f"{sentence}\n\n" for sentence in said))
    verdict = Verdict("VERIFIED", (), (), canonical=False)
    return list(check(page, lambda folder: Audit(folder, (), verdict, ("store: bm25",))))


BORNE_OUT = [
    "recall@10 is about 84% (results/r).",
    "recall@10 is nearly 0.84 (results/r).",
    "Almost 84% recall@10 (results/r).",
    "It recalls 83.5% of what was asked (results/r).",
    "It recalls more than 80% of what was asked (results/r).",
    "Recall as high as 0.8354 (results/r).",
    "On multi-hop recall@10 is as high as 0.92 (results/r).",
    "recall@10 of 0.84 at best (results/r).",
]


def test_what_a_folder_bears_out_is_right(bm25_result: Path) -> None:
    figures = checked(bm25_result, BORNE_OUT)
    assert [(figure.state, figure.problems) for figure in figures] == [("right", ())] * len(BORNE_OUT)


HIGHER = "r has 0.8354, which is not up to {}; its highest is 0.9200, of multi-hop"
FAR = "r has 0.8354, which is not about {}: more than a point off"
NOT_SO = {
    "Recall as high as .9999 (results/r).": HIGHER.format(".9999"),
    "We find a recall@10 of up to .9999 (results/r).": HIGHER.format(".9999"),
    "Up to 99% recall@10 (results/r).": HIGHER.format("99%"),
    "recall@10 peaks at 0.99 (results/r).": HIGHER.format("0.99"),
    "recall@10 can reach 0.99 (results/r).": HIGHER.format("0.99"),
    "recall@10 is 0.99 at best (results/r).": HIGHER.format("0.99"),
    "recall@10 is up to 0.50 (results/r).": HIGHER.format("0.50"),
    "On multi-hop recall@10 is up to 0.99 (results/r).": "r has 0.9200, which is not up to 0.99",
    "recall@10 is nearly .9999 (results/r).": FAR.format(".9999"),
    "recall@10 of almost 100 % (results/r).": FAR.format("100 %"),
    "recall@10 comes close to .85 (results/r).": FAR.format(".85"),
    "recall@10 is just under .9999 (results/r).": FAR.format(".9999"),
    "About 99% recall@10 (results/r).": FAR.format("99%"),
    "recall@10 ~ 0.81 (results/r).": FAR.format("0.81"),
    "More than 99 % recall (results/r).": "r has 0.8354, which is not > 99 %",
    "It recalls more than 99 % of what was asked (results/r).": "r has 0.8354, which is not > 99 %",
    "recall@10 is north of .99 (results/r).": "r has 0.8354, which is not > .99",
    # What is about the measure is not about its number.
    "A page about recall@10: 0.8364 (results/r).": "r has 0.8354",
}


def test_what_no_figure_of_the_folder_bears_out_is_wrong(bm25_result: Path) -> None:
    figures = checked(bm25_result, list(NOT_SO))
    assert [(figure.state, figure.fails, figure.problems) for figure in figures] == [
        ("wrong", True, (problem,)) for problem in NOT_SO.values()
    ]


def test_the_best_of_a_kind_that_is_not_named_is_not_placed(bm25_result: Path) -> None:
    (figure,) = checked(bm25_result, ["Recall as high as 0.92 (results/r)."])
    assert (figure.state, figure.fails, figure.problems) == ("not checkable", False, ("it may be of multi-hop",))


@pytest.mark.parametrize("said", ["recall@10 is about 0.8 (results/r).", "recall@10 of up to 0.8 (results/r)."])
def test_a_figure_of_one_digit_is_too_coarse(bm25_result: Path, said: str) -> None:
    (figure,) = checked(bm25_result, [said])
    assert (figure.state, figure.problems) == ("not checkable", ("0.8 has too few digits",))


@pytest.mark.parametrize("said", ["A recall@10 of up to .95 is good.", "Expect a recall@10 of about .9 there."])
def test_without_a_folder_it_is_no_claim(bm25_result: Path, said: str) -> None:
    assert checked(bm25_result, [said]) == []


def test_without_a_folder_what_was_reached_wants_one(bm25_result: Path) -> None:
    figures = checked(bm25_result, ["Our memory reaches up to 99% recall@10.", "It recalls 99% of what was asked."])
    assert [(figure.state, figure.fails) for figure in figures] == [("no folder named", True)] * 2
