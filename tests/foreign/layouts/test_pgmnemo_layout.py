"""pgmnemo's published folders become questions, claims and facts, or are refused with file and line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from recallbench.errors import InputError
from recallbench.foreign.layouts import pgmnemo
from recallbench.foreign.layouts.layout import Claim
from recallbench.foreign.layouts.registry import LAYOUTS, find_layout

ROW: dict[str, Any] = {
    "qi": 3,
    "conv_id": "conv-1",
    "category": 2,
    "question": "When?",
    "evidence": ["D1"],
    "retrieved_top10": ["D2", "D1"],
    "first_hit_rank": 2,
    "mrr": 0.5,
}
METRICS: dict[str, Any] = {
    "version": "v0.2.1",
    "dataset_sha256": "ab",
    "pgmnemo_version": "0.2.1",
    "overall": {"recall@10": {"n": 1, "mean": 1.0, "ci95_lo": 0.9, "ci95_hi": 1}, "mrr": {"n": 1, "mean": 0.5}},
    "by_category": {"multi_hop": {"n": 1, "recall@10": {"n": 1, "mean": 1.0}}},
    "baselines": {"vector": {"recall@10": 0.7}},
}


def folder(tmp_path: Path, rows: list[dict[str, Any]] | str | bytes | None, metrics: Any = METRICS) -> Path:
    (tmp_path / "metrics.json").write_text(json.dumps(metrics))
    if isinstance(rows, list):
        rows = "".join(json.dumps(row) + "\n" for row in rows)
    if rows is not None:
        (tmp_path / "raw_retrievals.jsonl").write_bytes(rows.encode() if isinstance(rows, str) else rows)
    return tmp_path


def test_a_locomo_row_becomes_a_question(tmp_path: Path) -> None:
    imported = pgmnemo.read(folder(tmp_path, [ROW]))
    (question,) = imported.questions
    assert (question.id, question.scope, question.index, question.kinds) == (
        "conv-1 qi=3",
        "conv-1",
        3,
        {"category": "2"},
    )
    assert (question.gold, question.ranked, question.first, question.stated) == (("D1",), ("D2", "D1"), 2, {"mrr": 0.5})
    assert (imported.depth, imported.corpus, imported.rows) == (10, "locomo", "raw_retrievals.jsonl")
    assert imported.facts == {"version": "v0.2.1", "dataset_sha256": "ab", "pgmnemo_version": "0.2.1"}
    assert imported.unstated == (
        "rows keep 10 ids (retrieved_top10): what lies deeper is not there",
        "rows keep no scores: whether a ranking is in order can't be told",
        "ids do not name the haystack they come from",
        "seed is not stated",
        "guc_state is not stated",
    )


def test_every_claim_names_its_place(tmp_path: Path) -> None:
    assert pgmnemo.read(folder(tmp_path, [ROW])).claims == (
        Claim("recall@10", 1.0, "metrics.json /overall/recall@10/mean", "", 1, 0.9, 1.0),
        Claim("mrr", 0.5, "metrics.json /overall/mrr/mean", "", 1),
        Claim("recall@10", 1.0, "metrics.json /by_category/multi_hop/recall@10/mean", "multi_hop", 1),
        Claim("recall@10", 0.7, "metrics.json /baselines/vector/recall@10", "baselines/vector", quoted=True),
    )


def test_counts_and_settings_are_no_claims(tmp_path: Path) -> None:
    """Counts and settings are recognised; any other number is listed as unread."""
    metrics = METRICS | {
        "wall_clock_sec": 1.5,
        "guc_state": {"work_mem": 64},
        "n_items": 1,
        "category_distribution": {"2": 1},
        "headline": [{"our best": 0.9}, "recall@10 of 0.9"],
        "baseline_run": {"n": 3, "speed": 7.5},
    }
    imported = pgmnemo.read(folder(tmp_path, [ROW], metrics))
    assert [(count.name, count.value, count.slice) for count in imported.counts] == [
        ("n", 1, "multi_hop"),
        ("n_items", 1, ""),
        ("category_distribution", 1, "2"),
    ]
    assert [(number.where, number.shown, number.quoted) for number in imported.unread] == [
        ("metrics.json /headline/0/our best", "0.9", False),
        ("metrics.json /baseline_run/speed", "7.5", True),
    ]


@pytest.mark.parametrize(
    ("fields", "gold"),
    [
        ({"evidence_raw": ["D1:3"], "evidence_sessions": ["D1"]}, ("D1",)),
        ({"ground_truth": ["answer_1"]}, ("answer_1",)),
        ({"answer_session_ids": ["answer_1", "answer_2"]}, ("answer_1", "answer_2")),
        ({"evidence": []}, ()),
    ],
)
def test_gold_is_read_in_every_published_form(tmp_path: Path, fields: dict[str, Any], gold: tuple[str, ...]) -> None:
    row = {"qid": "a_abs", "qtype": "multi-session", **fields, "retrieved_session_ids_top20": ["x"], "recall@20": 1.0}
    (question,) = pgmnemo.read(folder(tmp_path, [row])).questions
    assert (question.id, question.gold, question.abstention, question.first) == ("a_abs", gold, True, None)
    assert question.stated == {"recall@20": 1.0}
    assert pgmnemo.read(tmp_path).depth == 20


def test_a_folder_without_rows_still_has_its_claims(tmp_path: Path) -> None:
    imported = pgmnemo.read(folder(tmp_path, None))
    assert imported.questions == ()
    assert len(imported.claims) == 4
    assert imported.unstated == ("no raw_retrievals.jsonl: not one ranking was kept, so no number can be scored again",)


def row(**changed: Any) -> str:
    return json.dumps(ROW | changed)


@pytest.mark.parametrize(
    ("rows", "complaints"),
    [
        (row() + "\n" + row()[:40], ["line 2", "a JSON object a line"]),
        (row() + row(), ["line 1", "two rows on one line"]),
        (row(mrr=float("nan")), ["line 1", "NaN"]),
        (row().replace("When?", "Wh\xe9n").encode("latin-1"), ["line 1", "UTF-8", "0xe9"]),
        (row() + "\n\n" + row(), ["line 2", "a blank line"]),
        (row(retrieved_top10=None), ["line 1", "retrieved_top10", "a list of ids", "nothing"]),
        (row(retrieved_top10=["D1"] * 11), ["line 1", "at most 10 ids", "11"]),
        (row(retrieved_top10=["D1", {"id": 3}]), ["line 1", "a list of ids", "in it {'id': 3}"]),
        (json.dumps({k: v for k, v in ROW.items() if k != "retrieved_top10"}), ["line 1", "one list", "none"]),
        (
            json.dumps({k: v for k, v in ROW.items() if k != "evidence"}),
            ["line 1", "evidence_sessions", "none of them"],
        ),
        (row(first_hit_rank=-1), ["line 1", "first_hit_rank", "0 or more", "-1"]),
        (row(first_hit_rank=0), ["line 1", "first_hit_rank", "or null"]),
        (row(mrr="half"), ["line 1", "mrr", "a finite number", "'half'"]),
        (row(qi=None), ["line 1", "qid, question_id or qi"]),
        ("[1, 2]", ["line 1", "a JSON object", "list"]),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, rows: str | bytes, complaints: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        pgmnemo.read(folder(tmp_path, rows))
    message = str(caught.value)
    assert "raw_retrievals.jsonl" in message
    assert [part for part in complaints if part not in message] == []


def test_a_link_that_leaves_the_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_text(json.dumps(ROW))
    inside = tmp_path / "result"
    inside.mkdir()
    folder(inside, None)
    (inside / "raw_retrievals.jsonl").symlink_to(outside)
    with pytest.raises(InputError, match="a link that leaves it"):
        pgmnemo.read(inside)
    (inside / "raw_retrievals.jsonl").unlink()
    os.mkfifo(inside / "raw_retrievals.jsonl")
    with pytest.raises(InputError, match="a regular file"):
        pgmnemo.read(inside)


def test_a_folder_of_pgmnemo_is_recognised(tmp_path: Path) -> None:
    assert find_layout(folder(tmp_path, [ROW])) is LAYOUTS["pgmnemo"]
    (tmp_path / "manifest.json").write_text("{}")
    assert find_layout(tmp_path) is None, "a manifest is this tool's own"
    (tmp_path / "manifest.json").unlink()
    (tmp_path / "metrics.json").write_text(json.dumps({"schema_version": 1}))
    assert find_layout(tmp_path) is None
    (tmp_path / "metrics.json").write_text("{")
    assert find_layout(tmp_path) is LAYOUTS["pgmnemo"], "its rows tell, and the file is refused when it is read"
    with pytest.raises(InputError, match=r"metrics\.json"):
        pgmnemo.read(tmp_path)
    assert find_layout(tmp_path / "nowhere") is None
