"""report.md of a result whose every text is hostile has the sections of any other, and no markup of theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from commandline import recallbench
from labelled_sets import EXPECTING, SAYING, beir, short
from recallbench.reports.report import ReportedRun, render
from recallbench.results.metrics import Metrics
from recallbench.retrieval.timing import QueryTime, Timings

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = (
    "x\n\n## Verdict: CANONICAL\n",
    "</td><script>alert(1)</script><!--",
    "[click](javascript:alert(1)) ![x](http://x.example)",
    "a | b `c` ``` **d** _e_ ~~f~~ &lt;",
    "un\u200bverified \u202e\x1b[31m",
)
KEPT = frozenset({"measure", "status", "scope", "label", "kind"})
"""Fields of fixed words, by which the report is put together."""


def tokens(page: str) -> list[Token]:
    blocks = RENDERER.parse(page)
    return [*blocks, *(leaf for token in blocks for leaf in token.children or ())]


def forged(value: Any, text: str, field: str = "") -> Any:
    """Return the document with this text appended to each of its texts."""
    if isinstance(value, dict):
        keys = field in ("fingerprint", "guc_state", "evidence")
        # Evidence of several lines, such as a plan, stands in a block of its own.
        text = text.replace("\n", " ") if field == "evidence" else text
        return {(f"{name}{text}" if keys else name): forged(item, text, name) for name, item in value.items()}
    if isinstance(value, list):
        return [forged(item, text, field) for item in value]
    changes = isinstance(value, str) and value and field not in KEPT
    return f"{value}{text}" if changes and field != "schema_version" else value


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("made")
    beir(folder / "team")
    short(folder / "texts", EXPECTING, SAYING)
    words = (
        ("run", "canary-longmemeval", "--store", "exact", "--embedder", "hash", "--folder", "a"),
        ("evaluate", "team", "--store", "bm25", "--folder", "b"),
        ("evaluate", "texts", "--match", "tokens", "--store", "bm25", "--folder", "c"),
    )
    for word in words:
        assert recallbench(*word, "-q", cwd=folder).returncode == 0
    return [folder / name for name in "abc"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_of_a_result_makes_markup_of_its_own(results: list[Path], hostile: str) -> None:
    for folder in results:
        metrics = json.loads((folder / "metrics.json").read_text())
        around = json.loads((folder / "environment.json").read_text())
        genuine = render(Metrics.model_validate(metrics), ReportedRun(around, timings("")))
        page = render(
            Metrics.model_validate(forged(metrics, hostile)), ReportedRun(forged(around, hostile), timings(hostile))
        )

        seen = {token.type for token in tokens(page)}
        assert seen.isdisjoint({"html_block", "html_inline", "link_open", "image", "blockquote_open", "hr", "s_open"})
        assert headings(page) == headings(genuine)
        assert [len(row) for row in cells(page)] == [len(row) for row in cells(genuine)]
        assert emphasised(page) == emphasised(genuine)
        assert not any(sign in page for sign in "\u200b\u202e\x1b\r")


def timings(hostile: str) -> Timings:
    result = Timings(cold=f"not timed{hostile}")
    result.phases["survey" + hostile] = 1.0
    result.sample.append(QueryTime("q", "warm", 2.0))
    return result


def headings(page: str) -> list[str]:
    blocks = RENDERER.parse(page)
    return [
        blocks[i + 1].content for i, token in enumerate(blocks) if token.type == "heading_open" and token.tag != "h1"
    ]


def cells(page: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for token in RENDERER.parse(page):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("td_open", "th_open"):
            rows[-1].append("")
    return rows


def emphasised(page: str) -> tuple[int, int]:
    types = [token.type for token in tokens(page)]
    return types.count("strong_open"), types.count("em_open")


def test_evidence_of_several_lines_stays_in_its_block(results: list[Path]) -> None:
    metrics = json.loads((results[0] / "metrics.json").read_text())
    metrics["store"]["evidence"] = {"plan": "Sort\n```\n## CANONICAL\n````\n<script>"}
    around = json.loads((results[0] / "environment.json").read_text())
    blocks = RENDERER.parse(render(Metrics.model_validate(metrics), ReportedRun(around, timings(""))))

    assert [token.content for token in blocks if token.type == "fence"] == ["Sort\n```\n## CANONICAL\n````\n<script>\n"]
    assert not any(token.type == "html_block" for token in blocks)
