"""Corpora that the protocol does not register, by the real command line."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.corpora.realmem import write_miniature as write_realmem
from recallbench.corpora.realtalk import write_miniature
from recallbench.corpora.release import combined_sha256


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
        assert (
            "Its files are not those of danny911kr/REALTALK at commit b903e06a9770bf4e5fe9018c3e132889666d3b4a" in text
        )
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
    table = [line.split() for line in done.stdout.splitlines()[-5:-2]]
    assert [(row[0], row[2], row[4]) for row in table] == [
        ("realtalk", "725", "0.9310"),
        ("realtalk-turns", "705", "0.5560"),
        ("beam-100k", "355", "0.7324"),
    ]
    assert "longmemeval is left out" in done.stderr
    folders = sorted(str(path) for path in (tmp_path / "out").iterdir())
    names = [Path(folder).name.split("_", 2)[2] for folder in folders]
    assert names == ["beam-100k", "realtalk", "realtalk-turns"]
    audited = recallbench("audit", *folders, cwd=tmp_path, env=here)
    assert audited.stdout.count(": holds, not committed\n") == 3
    assert "  fail " not in audited.stdout
    assert "  cannot-tell " not in audited.stdout
    shown = json.loads(recallbench("table", *folders, "--format", "json", cwd=tmp_path).stdout)
    (units,) = shown["units"]
    by_session, by_turn = units["rows"][0]["estimates"]
    assert (units["n"], f"{by_session[0]['value']:.4f}", f"{by_turn[0]['value']:.4f}") == (705, "0.9376", "0.5560")


@pytest.mark.marked
@pytest.mark.real_data
def test_a_folder_of_another_release_is_refused_with_both_hashes_and_the_files(
    tmp_path: Path, realtalk_folder: Path
) -> None:
    files = tmp_path / "clone" / "data"
    shutil.copytree(realtalk_folder / "data", files)
    (files / "Chat_3_Kevin_Paola.json").unlink()
    (files / "Chat_11_A_B.json").write_text("{}")
    changed = files / "Chat_1_Emi_Elise.json"
    changed.write_bytes(changed.read_bytes() + b" ")
    refused = recallbench("run", "realtalk", "--corpus-file", "clone", "--store", "bm25", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    kept = sorted(path for path in files.iterdir())
    hashes = {f"data/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}
    for line in (
        "expected: sha256 d23176e4ce0e53c8ed52b0bae7dc556cfe42476fa7ce351be9fe52de46be7dea\n",
        f"found: sha256 {combined_sha256(hashes)}: data/Chat_3_Kevin_Paola.json is missing; "
        f"data/Chat_11_A_B.json is one too many; data/Chat_1_Emi_Elise.json has sha256 {hashes[f'data/{changed.name}']}"
        " instead of 4e947998a751a1ba2c3710fc873b90fbcbc234fda7a5e4e75db2b762e0f25a36\n",
        "what to do: move data/Chat_11_A_B.json out of the folder; `recallbench fetch realtalk` gets the files of the "
        "release; `--allow-deviation dataset`",
    ):
        assert line in refused.stderr
    assert os.listdir(tmp_path) == ["clone"]


@pytest.mark.parametrize(("nothing", "code"), [(135, 0), (136, 2)])
def test_evidence_that_names_nothing_is_told_and_refused_above_the_registered_number(
    tmp_path: Path, nothing: int, code: int
) -> None:
    write_miniature(tmp_path / "chats")
    path = tmp_path / "chats" / "data" / "Chat_1_Ada_Ben.json"
    chat = json.loads(path.read_text())
    chat["qa"][0]["evidence"] = [f"D9:{turn}" for turn in range(nothing)]
    path.write_text(json.dumps(chat))
    words = ("run", "realtalk", "--corpus-file", "chats", "--allow-deviation", "dataset", "--store", "bm25")
    done = recallbench(*words, "--folder", "r", cwd=tmp_path)
    assert done.returncode == code
    if code:
        assert "too much evidence names nothing" in done.stderr
        assert (
            "  expected: at most 135 references to what is not there, as registered\n"
            "  found: 136, the first D9:0 of question Chat_1_Ada_Ben#0\n"
        ) in done.stderr
        assert not (tmp_path / "r").exists()
    else:
        # The question that lost all of its evidence is asked no more.
        assert json.loads((tmp_path / "r" / "metrics.json").read_text())["retrieval"]["asked"] == 11
        assert f"| references to missing turns: {nothing} |" in (tmp_path / "r" / "report.md").read_text()


def test_sessions_whose_dates_are_out_of_order_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    write_realmem(tmp_path / "people")
    path = tmp_path / "people" / "dataset" / "Ada_Byron_dialogues_256k.json"
    person = json.loads(path.read_text())
    for day, session in enumerate(reversed(person["dialogues"]), 1):
        session["current_time"] = f"2025-12-{day:02d} (Monday)"
    path.write_text(json.dumps(person))
    words = ("run", "realmem", "--corpus-file", "people", "--allow-deviation", "dataset", "--store", "bm25", "-q")
    assert recallbench(*words, "--folder", "r", cwd=tmp_path).returncode == 0
    rows = [json.loads(row) for row in (tmp_path / "r" / "raw_retrievals.jsonl").read_text().splitlines()][:7]
    assert [(row["candidates"], row["gold"]) for row in rows] == [(n, [f"Ada_Byron/{n - 1}"]) for n in range(1, 8)]
    assert {hit["id"] for hit in rows[0]["hits"]} == {"Ada_Byron/0"}
