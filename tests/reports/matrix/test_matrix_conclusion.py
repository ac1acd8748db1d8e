"""How a matrix is concluded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recallbench.reports.matrix.conclusion import conclusion
from recallbench.reports.matrix.document import MatrixDocument
from recallbench.reports.matrix.page import page, printed
from recallbench.reports.printing.typed_command import TypedCommand

COMPARE = "next: recallbench compare 'o/c d/locomo_b' 'o/c d/locomo_a'"
CORRECTED = "p is corrected for every pair"
LONGEST = 220
"""Characters of a last line."""


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
TWO_CORPORA = [*TWO, cell("realtalk", "a", 0.7, "a"), cell("realtalk", "b", 0.6, "a")]
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
            matrix(ALIKE, [pair("locomo", "a", p_holm=0.06), pair("locomo", "BM25")]),
            "On locomo b leads, recall_any@10 0.8000; against a the interval excludes 0, yet p decides: "
            f"it is corrected for 2 tests; {COMPARE}",
            "good",
        ),
        (
            matrix(ALIKE, [pair("locomo", "a", p_holm=0.06), pair("locomo", "BM25")], limit=20),
            "On locomo b leads, recall_any@10 0.8000, not told apart from a; only the first 20 questions were asked; "
            f"{COMPARE}",
            "good",
        ),
        (
            matrix(ALIKE, [pair("locomo", "a", p=0.5, p_holm=1.0, smallest_p=0.5)]),
            "On locomo b leads, recall_any@10 0.8000, not told apart from a; the tests could tell nothing apart; "
            f"{COMPARE}",
            "good",
        ),
        (
            matrix([cell("locomo", "a", None, ""), cell("locomo", "b", 0.4, "b")], []),
            "On locomo BM25 leads, recall_any@10 0.5000, told apart from b; 1 of 2 cells failed; next: try those that "
            "failed: recallbench matrix --encoders a,b",
            "bad",
        ),
        (
            matrix(TWO_CORPORA, [pair("locomo", "a"), pair("realtalk", "a")]),
            "By recall_any@10 b leads on locomo (0.8000), a on realtalk (0.7000); told apart from all others on 1 of "
            f"2; {COMPARE}",
            "good",
        ),
        (
            matrix(TWO_CORPORA, [pair("locomo", "a"), pair("realtalk", "a", p=0.5, smallest_p=0.5)]),
            "By recall_any@10 b leads on locomo (0.8000), a on realtalk (0.7000); on realtalk the tests could tell "
            f"nothing apart; {COMPARE}",
            "good",
        ),
        (
            matrix(MANY[:2], [pair("locomo", "a"), pair("realtalk", "a")]),
            "By recall_any@10 b leads on locomo (0.8000) and realtalk (0.7000); told apart from all others on 2 of 2; "
            "next: recallbench audit 'o/c d/locomo_b'",
            "good",
        ),
        (
            matrix(MANY, [], together=[
                {"system": "b", "values": {"recall_any@10": 0.7}, "letters": {"recall_any@10": "a"}},
                {"system": "BM25", "values": {"recall_any@10": 0.6}, "letters": {"recall_any@10": "a"}},
            ], apart=["realmem"]),
            "Over 2 corpora b leads, recall_any@10 0.7000, not told apart from BM25; by itself b leads on 2 of 3 "
            "corpora, BM25 on 1; next: recallbench audit 'o/c d/locomo_b'",
            "good",
        ),
        (
            matrix(MANY, []),
            "By recall_any@10 b leads on 2 of 3 corpora, BM25 on 1; next: recallbench audit 'o/c d/locomo_b'",
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
    assert len(text) <= LONGEST


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("p", [0.03, 0.06])
def test_the_line_stays_short(count: int, p: float) -> None:
    """Names of twenty characters, of corpora and of encoders."""
    corpora, encoders = (
        [f"canary-longmemeval-{n}" for n in range(count)],
        [f"a-model-of-my-own-{n:02}" for n in range(4)],
    )
    cells = [
        cell(corpus, encoder, 0.9 - n / 10, "a" if n < 3 else "b") | {"folder": f"cells/{n}"}
        for corpus in corpora
        for n, encoder in enumerate(encoders)
    ]
    pairs = [pair(name, encoders[1], p_holm=p, first_system=encoders[0]) for name in corpora]
    assert len(str(conclusion(matrix(cells, pairs), Path("m")))) <= LONGEST


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
