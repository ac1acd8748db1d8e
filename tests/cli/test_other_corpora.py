"""Corpora that the protocol does not register, by the real command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.corpora.realtalk import write_miniature


def test_what_is_not_at_hand_is_left_out_of_all_and_a_folder_of_another_release_is_refused(tmp_path: Path) -> None:
    nothing = {"RECALLBENCH_DATA_DIR": str(tmp_path / "none"), "LOCOMO_DATA_DIR": "", "LONGMEMEVAL_DATA_DIR": ""}
    none = recallbench("run", "all", "--store", "bm25", cwd=tmp_path, env=nothing)
    assert (none.returncode, none.stdout) == (3, "")
    assert "recallbench: beam-500k is left out: the beam-500k corpus is not on this machine: recallbench fetch" in (
        none.stderr
    )
    assert not list(tmp_path.rglob("BLOCKED.md"))
    write_miniature(tmp_path / "realtalk")
    words = ("run", "realtalk", "--corpus-file", "realtalk", "--store", "bm25")
    refused = recallbench(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert "realtalk is not the registered release of realtalk" in refused.stderr
    assert "data/Chat_1_Ada_Ben.json is one too many" not in refused.stderr.split("; and ")[0].split("is missing")[0]
    allowed = recallbench(*words, "--allow-deviation", "dataset", "--folder", "r", cwd=tmp_path)
    assert allowed.returncode == 0
    lead = "realtalk is no corpus of the protocol. 61 questions name a turn that the publishers took out"
    assert lead in allowed.stdout
    report, page = ((tmp_path / "r" / name).read_text() for name in ("report.md", "report.html"))
    for text in (report, page):
        assert lead in text.split("Headline")[0]
        assert "licence: none stated" in text
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    assert metrics["corpus"]["file"] == "data/Chat_*.json"
    assert [deviation["kind"] for deviation in metrics["deviations"]] == ["corpus", "dataset", "store"]


@pytest.mark.marked
@pytest.mark.real_data
def test_every_corpus_at_hand_is_measured_audited_and_shown_in_one_table(
    tmp_path: Path, realtalk_folder: Path, beam_100k_folder: Path
) -> None:
    """BM25 of other figures than these would be another corpus: each is what the publishers' own files give."""
    data = tmp_path / "data"
    data.mkdir()
    os.symlink(realtalk_folder, data / "realtalk")
    os.symlink(beam_100k_folder, data / "beam-100k")
    here = {"RECALLBENCH_DATA_DIR": str(data), "LOCOMO_DATA_DIR": "", "LONGMEMEVAL_DATA_DIR": ""}
    done = recallbench("run", "all", "--store", "bm25", "--out", "out", "-q", cwd=tmp_path, env=here)
    assert done.returncode == 0
    table = [line.split() for line in done.stdout.splitlines()[-3:]]
    assert [(row[0], row[2], row[4]) for row in table] == [
        ("realtalk", "725", "0.9310"),
        ("realtalk-turns", "705", "0.5560"),
        ("beam-100k", "355", "0.7324"),
    ]
    assert "longmemeval is left out" in done.stderr
    folders = sorted(str(path) for path in (tmp_path / "out").iterdir())
    audited = recallbench("audit", *folders, cwd=tmp_path, env=here)
    assert audited.stdout.count("verdict: UNVERIFIED (pending: committed)") == 3
    assert "  fail " not in audited.stdout
    assert "  cannot-tell " not in audited.stdout
    shown = json.loads(recallbench("table", *folders, "--format", "json", cwd=tmp_path).stdout)
    (units,) = shown["units"]
    by_session, by_turn = units["rows"][0]["estimates"]
    assert (units["n"], f"{by_session[0]['value']:.4f}", f"{by_turn[0]['value']:.4f}") == (705, "0.9376", "0.5560")
