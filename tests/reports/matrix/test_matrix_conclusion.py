"""How a matrix is concluded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recallbench.reports.matrix.conclusion import conclusion
from recallbench.reports.matrix.document import MatrixDocument
from recallbench.reports.matrix.page import page, printed
from recallbench.reports.printing.typed_command import TypedCommand

COMPARE = "next: which questions differ: recallbench compare 'o/c d/locomo_b' 'o/c d/locomo_a'"
CORRECTED = "p is corrected for every pair of a corpus"


def estimate(value: float) -> dict[str, Any]:
    return {
        "measure": "recall_any@10", "value": value, "n": 1982, "low": None, "high": None, "method": "", "chance": 0.4,
        "ceiling": 1.0, "saturated": 0.0, "ordered": False, "design_effect": None,
    }  # fmt: skip


def cell(corpus: str, encoder: str, value: float | None, letters: str) -> dict[str, Any]:
    return {
        "corpus": corpus, "encoder": encoder, "failure": "" if value is not None else "no weights",
        "folder": f"../c d/{corpus}_{encoder}", "content_sha256": "", "kept": False,
        "estimates": [] if value is None else [estimate(value)], "letters": {"recall_any@10": letters},
        "truncated": None, "effort": None,
    }  # fmt: skip


def pair(corpus: str, second: str, **more: Any) -> dict[str, Any]:
    return {
        "corpus": corpus, "family": "all", "first_system": "b", "second_system": second, "measure": "recall_any@10",
        "difference": -0.02, "low": -0.03, "high": -0.01, "method": "", "p": 0.01, "p_holm": 0.03, "smallest_p": 0.002,
        "test": "", "n": 1982, "clusters": 10, "wins": 1, "ties": 1, "losses": 9, "detectable": 0.01, "least": None,
        "most": None,
    } | more  # fmt: skip


def matrix(cells: list[dict[str, Any]], pairs: list[dict[str, Any]], bm25: float = 0.5, **more: Any) -> MatrixDocument:
    names = list(dict.fromkeys(part["corpus"] for part in cells))
    encoders = list(dict.fromkeys(part["encoder"] for part in cells))
    return MatrixDocument.model_validate(
        {
            "schema_version": "1", "recallbench_version": "1", "protocol": "1.0.0", "store": "exact",
            "measures": ["recall_any@10"], "depth": 50, "limit": None,
            "encoders": [
                {"name": name, "encoder": name, "max_tokens": None, "dims": None, "vector_bytes": None,
                 "fingerprint_sha256": ""} for name in encoders
            ],
            "corpora": [
                {"name": name, "sha256": "", "segments": 9, "n": 1982, "clusters": 10, "bm25": [estimate(bm25)],
                 "bm25_letters": {"recall_any@10": "c"}} for name in names
            ],
            "cells": cells, "pairs": pairs, "together": [], "environment": {},
        } | more
    )  # fmt: skip


TWO = [cell("locomo", "a", 0.7, "b"), cell("locomo", "b", 0.8, "a")]
ALIKE = [cell("locomo", "a", 0.7, "a"), cell("locomo", "b", 0.8, "ab")]
MANY = [cell(name, "b", value, "a") for name, value in (("locomo", 0.8), ("realtalk", 0.7), ("realmem", 0.4))]


@pytest.mark.parametrize(
    ("document", "text", "tone"),
    [
        (
            matrix(TWO, [pair("locomo", "a"), pair("locomo", "BM25")]),
            f"On locomo b leads, recall_any@10 0.8000, told apart from all 2 others; {CORRECTED}; {COMPARE}",
            "good",
        ),
        (
            matrix(ALIKE, [pair("locomo", "a", p_holm=0.06), pair("locomo", "BM25")], limit=20),
            f"On locomo b leads, recall_any@10 0.8000, not told apart from a; {CORRECTED}; b and a on locomo: the "
            "interval excludes 0, yet p decides: it is corrected for 2 tests (0.0100 before), the interval for none; "
            f"only the first 20 questions were asked; {COMPARE}",
            "good",
        ),
        (
            matrix(ALIKE, [pair("locomo", "a", p=0.5, p_holm=1.0, smallest_p=0.5)]),
            f"On locomo b leads, recall_any@10 0.8000, not told apart from a; {CORRECTED}; on locomo the tests could "
            f"tell nothing apart, whatever was found; {COMPARE}",
            "good",
        ),
        (
            matrix([cell("locomo", "a", None, ""), cell("locomo", "b", 0.4, "b")], []),
            "On locomo BM25 leads, recall_any@10 0.5000, told apart from b; 1 of 2 cells failed: a on locomo; "
            "next: try the cells that failed: recallbench matrix --encoders a,b",
            "bad",
        ),
        (
            matrix(MANY, [], together=[
                {"system": "b", "values": {"recall_any@10": 0.7}, "letters": {"recall_any@10": "a"}},
                {"system": "BM25", "values": {"recall_any@10": 0.6}, "letters": {"recall_any@10": "a"}},
            ], apart=["realmem"]),
            "Over 2 corpora b leads, recall_any@10 0.7000, not told apart from BM25; by themselves b leads on locomo "
            "and realtalk; BM25 leads on realmem; next: recallbench audit 'o/c d/locomo_b'",
            "good",
        ),
        (
            matrix(MANY, []),
            "By recall_any@10 b leads on locomo and realtalk; BM25 leads on realmem; next: recallbench audit 'o/c "
            "d/locomo_b'",
            "good",
        ),
    ],
)  # fmt: skip
def test_a_matrix_ends_with_who_leads_and_what_can_not_be_told_apart(
    document: MatrixDocument, text: str, tone: str
) -> None:
    concluded = conclusion(
        document, Path("o/matrix"), TypedCommand(("recallbench", "matrix"), (("--encoders", "a,b"),))
    )
    assert (str(concluded), concluded.tone) == (text, tone)


def test_the_page_begins_with_it_and_what_is_printed_ends_with_it() -> None:
    document = matrix(TWO, [])
    led = "On locomo b leads, recall_any@10 0.8000, told apart from all 2 others; next: "
    assert page(document).startswith(
        f"# 2 encoders on 1 corpus, store exact\n\n{led}recallbench audit checks each cell\n\n## locomo"
    )
    shown = printed(document, Path("o/matrix"))
    assert shown.render("markdown").endswith(f"all of it.\n\n**{led}{COMPARE.removeprefix('next: ')}**\n")
    elsewhere = printed(document, Path("o/matrix"), has_cells=False)
    assert elsewhere.render("text").endswith(f"page: o/matrix/matrix.md\n\n{led}recallbench audit checks each cell\n")
