"""What a pipeline's stages handed on is worked out again, and an edit of it is seen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from recallbench.audit.checks.stages import EFFECTS, LISTS, _is_cut
from recallbench.audit.checks.timings import TIMINGS
from recallbench.audit.gate import Check
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.registry import facts
from recallbench.protocol.frozen import load
from recallbench.results.result import open_result
from recallbench.results.stage_figures import with_effects
from recallbench.results.stages import read_stages
from recallbench.retrieval.pipeline.trace import Handed

PIPELINE = """
stage = [
  {kind = "search", method = "dense"},
  {kind = "search", method = "lexical", depth = 12},
  {kind = "fuse", method = "weighted", alpha = 0.3, keep = 15},
  {kind = "diversify", method = "mmr", lambda = 0.9},
]
"""
RUN = ("run", "canary-locomo", "--embedder", "hash", "--limit", "50", "--folder", "result", "-q", "--pipeline")


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pipeline")
    (folder / "pipeline.toml").write_text(PIPELINE)
    assert recallbench(*RUN, "pipeline.toml", cwd=folder).returncode == 0
    return folder / "result"


def checks(folder: Path) -> tuple[Check, Check]:
    rules = load()
    subject = AuditSubject(open_result(folder), rules, facts("canary-locomo", rules), [], {})
    return LISTS.check(subject), EFFECTS.check(subject)


def test_what_the_stages_did_follows_from_their_lists(genuine: Path) -> None:
    assert [(check.status, check.observed) for check in checks(genuine)] == [
        ("pass", "200 lists, each from the one before"),
        ("pass", "4 worked out again, all equal"),
    ]
    assert recallbench("audit", "result", "--failures", cwd=genuine.parent).stdout.count("RB-") == 1  # not committed


def test_a_result_in_which_the_first_leg_alone_was_tried_still_holds(genuine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "result"
    shutil.copytree(genuine, folder)
    path = folder / "stages.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    fused = [row["without"]["weighted"] for row in rows]
    assert all(list(row["alone"]) == ["lexical"] for row in rows)
    for row in rows:
        del row["alone"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "weighted.against: best leg stated, first leg follows" in checks(folder)[1].observed
    metrics = folder / "metrics.json"
    stated = json.loads(metrics.read_text())
    rules = load()
    subject = AuditSubject(open_result(folder), rules, facts("canary-locomo", rules), [], {})
    retrieval = replace(subject.retrieval, traces=[row.trace for row in read_stages(folder)])
    assert subject.metrics.pipeline is not None
    derived = with_effects(subject.metrics.pipeline, retrieval, subject.survey)
    stated["pipeline"] = json.loads(derived.model_dump_json())
    metrics.write_text(json.dumps(stated))
    assert [check.status for check in checks(folder)] == ["pass", "pass"]
    assert fused == [list(trace.without["weighted"]) for trace in retrieval.traces]


def swap(values: list[Any]) -> None:
    values[0], values[1] = values[1], values[0]


Edit = Callable[[list[dict[str, Any]]], object]
EDITS: dict[str, tuple[Edit, str]] = {
    "a question left out": (lambda rows: rows.pop(3), "49 rows, which are not of the 50 questions in their order"),
    "two questions swapped": (swap, "50 rows, which are not of the 50 questions in their order"),
    "a list left out": (lambda rows: rows[3]["handed"].pop(1), "q3: lists of dense, weighted, mmr"),
    "not by score": (lambda rows: swap(rows[3]["handed"][0]["scores"]), "q3: dense: not in the order of its scores"),
    "from nowhere": (
        lambda rows: rows[3]["handed"][3]["positions"].__setitem__(0, 99),
        "q3: mmr: hands on what it was not handed",
    ),
    "more than its keep": (
        lambda rows: rows[3]["handed"].__setitem__(2, rows[3]["handed"][0] | {"stage": "weighted"}),
        "q3: weighted: hands on 19, which is more than 15",
    ),
    "not the fusion": (
        lambda rows: rows[3]["handed"][0]["scores"].__setitem__(0, 9.5),
        "q3: weighted of its legs gives another list",
    ),
    "not the ranking": (
        lambda rows: rows[3]["handed"][3]["scores"].__setitem__(0, 9.5),
        "q3: the last list is not its ranking",
    ),
    "another list without the last": (
        lambda rows: swap(rows[3]["without"]["mmr"]),
        "q3: without mmr it is not the list before",
    ),
    "no such stage": (
        lambda rows: rows[3]["without"].__setitem__("rrf", []),
        "q3: compared without rrf, which is no stage",
    ),
    "a comparison left out": (lambda rows: rows[3]["without"].pop("dense"), "q3: not compared without dense"),
    "no leg alone": (lambda rows: rows[3].pop("alone"), "q3: no leg alone"),
    "a text of no rewrite": (lambda rows: rows[3].update(variants=["0" * 64]), "q3: 1 texts were searched for"),
    "a segment twice without a leg": (
        lambda rows: rows[3]["without"]["dense"].__setitem__(1, rows[3]["without"]["dense"][0]),
        "q3: without dense: a segment twice, or outside the haystack",
    ),
    "a leg beyond its depth": (
        lambda rows: rows[3]["handed"].__setitem__(1, rows[3]["handed"][0] | {"stage": "lexical"}),
        "q3: lexical: hands on 19, which is more than 12",
    ),
    "a position that there is none of": (
        lambda rows: rows[3]["handed"][0]["positions"].__setitem__(-1, 99),
        "q3: dense: a segment outside the haystack",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_list_is_seen(genuine: Path, tmp_path: Path, edit: str) -> None:
    change, told = EDITS[edit]
    folder = tmp_path / "result"
    shutil.copytree(genuine, folder)
    path = folder / "stages.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = checks(folder)[0]
    assert (found.status, told in found.observed) == ("fail", True), found.observed


def test_stages_whose_times_were_left_out_are_seen(genuine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "result"
    shutil.copytree(genuine, folder)
    path = folder / "timings.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row.get("stages", {}).pop("mmr", None)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    rules = load()
    found = TIMINGS.check(AuditSubject(open_result(folder), rules, facts("canary-locomo", rules), [], {}))
    told = "not every query tells the time of dense, lexical, mmr, weighted"
    assert (found.status, told in found.observed) == ("fail", True), found.observed


def test_without_a_leg_stands_the_fusion_of_the_others(genuine: Path, tmp_path: Path) -> None:
    (tmp_path / "fused.toml").write_text(
        PIPELINE.replace('  {kind = "diversify", method = "mmr", lambda = 0.9},\n', "")
    )
    assert recallbench(*RUN, "fused.toml", cwd=tmp_path).returncode == 0
    assert [check.status for check in checks(tmp_path / "result")] == ["pass", "pass"]
    path = tmp_path / "result" / "stages.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[3]["without"]["dense"].reverse()
    rows[4]["alone"]["lexical"].reverse()
    rows[5]["alone"]["dense"] = rows[5]["alone"].pop("lexical")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = checks(tmp_path / "result")[0].observed
    assert "q5: alone: dense, which are not the legs behind the first" in found
    rows[5]["alone"]["lexical"] = rows[5]["alone"].pop("dense")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = checks(tmp_path / "result")[0].observed
    assert "q3: without dense it is not weighted of the other legs" in found
    assert "q4: lexical alone is not its own list" in found


def test_an_edited_effect_is_seen(genuine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "result"
    shutil.copytree(genuine, folder)
    path = folder / "metrics.json"
    metrics = json.loads(path.read_text())
    metrics["pipeline"]["stages"][2]["effect"]["promoted"]["segments"] += 1
    path.write_text(json.dumps(metrics))
    lists, effects = checks(folder)
    assert (lists.status, effects.status) == ("pass", "fail")
    assert effects.observed.startswith("weighted.promoted.segments: ")
    (folder / "stages.jsonl").unlink()
    assert [check.status for check in checks(folder)] == ["fail", "fail"]


def test_of_equal_scores_at_the_cut_any_may_stand_before_it() -> None:
    handed = Handed("rrf", (7, 2, 4, 9), (3.0, 1.0, 1.0, 0.5))
    assert all(_is_cut(cut, handed, 2) for cut in ((7, 2), (7, 4)))
    assert not any(_is_cut(cut, handed, 2) for cut in ((7, 9), (2, 7), (7,), (7, 2, 4)))
    assert _is_cut((7, 2, 4, 9), handed, 50)
    assert _is_cut((), Handed("rrf", (), ()), 50)
