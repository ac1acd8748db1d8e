"""`export hub`: a folder that `datasets` loads, with a card that the hub reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas
import pytest
import yaml

from commandline import environment, recallbench
from documents.markdown import slugs
from exports import measured

LOAD = """
import json, sys
from datasets import get_dataset_config_names, load_dataset

folder, every = sys.argv[1], {}
for name in get_dataset_config_names(folder):
    rows = load_dataset(folder, name, split="train")
    every[name] = [len(rows), rows.column_names]
default = load_dataset(folder, split="train").column_names
print(json.dumps({"every": every, "default": default, "first": load_dataset(folder, "questions")["train"][0]}))
"""


@pytest.fixture(scope="module")
def written(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hub") / "dataset"
    words = (
        "--folder",
        out,
        "--repo",
        "me/bench",
        "--title",
        'Recall "by" night: 100%',
        "--license",
        "apache-2.0",
        "-q",
    )
    done = recallbench("export", "hub", *measured.folders(place), *words, cwd=place)
    assert done.returncode == 0
    assert f"hf upload me/bench {out} . --repo-type dataset" in done.stdout.splitlines()[-1]
    return out


def head(folder: Path) -> dict:
    text = (folder / "README.md").read_text("utf-8")
    return yaml.safe_load(text.split("---\n")[1])


def test_datasets_loads_every_configuration_offline(written: Path, tmp_path: Path) -> None:
    env = environment(tmp_path, {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path)})
    command = [sys.executable, "-c", LOAD, str(written)]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout)
    configurations = [configuration["config_name"] for configuration in head(written)["configs"]]
    assert set(loaded["every"]) == set(configurations)
    for name, (count, columns) in loaded["every"].items():
        table = pandas.read_parquet(written / "data" / f"{name}.parquet")
        assert (len(table), list(table.columns)) == (count, columns)
        assert count > 0
    assert loaded["default"] == loaded["every"]["history"][1]
    assert loaded["first"]["question"] == "canary-1/q0"
    assert isinstance(loaded["first"]["gold_ranks"], list)


def test_the_card_says_what_it_is_and_whose_texts_were_measured_on(written: Path) -> None:
    metadata = head(written)
    assert metadata["pretty_name"] == 'Recall "by" night: 100%'
    assert metadata["license"] == "apache-2.0"
    assert [c["config_name"] for c in metadata["configs"] if c.get("default")] == ["history"]
    card = (written / "README.md").read_text("utf-8")
    assert slugs(card) >= {"what-was-measured-on", "the-results", "the-tables", "history", "questions"}
    assert "| canary-locomo | Apache-2.0 |" in card
    assert "UNVERIFIED (pending: committed)" in card
    # What a store says of itself makes no tag and no line of its own.
    assert "<b>" not in card.replace("&lt;b>", "")
    assert "0.8354 (0.7598 to 0.8877)" in card


def test_only_a_folder_of_its_own_is_replaced(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "dataset"
    for names in (["bm25", "few"], ["few"]):
        assert recallbench("export", "hub", *names, "--folder", out, "-q", cwd=place).returncode == 0
        assert len(pandas.read_parquet(out / "data" / "results.parquet")) == len(names)
    assert os.listdir(tmp_path) == ["dataset"]
    assert not (out / "data" / "sweeps.parquet").exists()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    refused = recallbench("export", "hub", "few", "--folder", mine, "-q", cwd=place)
    assert refused.returncode == 2
    assert "this command did not write it" in refused.stderr
    assert (mine / "thesis.tex").read_text() == "years of work"


def test_what_the_export_did_not_write_stays(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "dataset"
    (out / ".git").mkdir(parents=True)  # a new clone
    (out / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    first = recallbench("export", "hub", *measured.folders(place), "--folder", out, "-q", cwd=place)
    assert first.returncode == 0
    assert "what else is there stayed: .git\n" in first.stdout
    (out / "NOTES.txt").write_text("years of work")
    (out / "data" / "mine.csv").write_text("a,b")
    again = recallbench("export", "hub", "few", "--folder", out, "-q", cwd=place)
    assert again.returncode == 0
    assert (
        "stayed: .git, NOTES.txt, data/mine.csv; the command below pushes NOTES.txt, data/mine.csv too" in again.stdout
    )
    assert (out / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert (out / "NOTES.txt").read_text() == "years of work"
    assert (out / "data" / "mine.csv").read_text() == "a,b"
    assert not (out / "data" / "sweeps.parquet").exists()
    assert len(pandas.read_parquet(out / "data" / "results.parquet")) == 1
    assert os.listdir(tmp_path) == ["dataset"]


def test_files_of_another_in_a_folder_without_a_card_are_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "results.parquet").write_text("mine")
    refused = recallbench("export", "hub", "few", "--folder", tmp_path, "-q", cwd=place)
    assert (refused.returncode, "no README.md of it, but data" in refused.stderr) == (2, True)
    assert (tmp_path / "data" / "results.parquet").read_text() == "mine"


def test_the_licence_of_a_corpus_that_nobody_knows_is_not_made_up(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "corpus.jsonl").write_text('{"_id": "a", "text": "one"}\n{"_id": "b", "text": "two"}\n')
    (tmp_path / "own" / "gold.jsonl").write_text('{"query_id": "q", "query": "one", "relevant": ["a"]}\n')
    words = ("evaluate", "own", "--store", "bm25", "--folder", "r", "-q")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    assert recallbench("export", "hub", "r", "--folder", "dataset", "-q", cwd=tmp_path).returncode == 0
    card = (tmp_path / "dataset" / "README.md").read_text("utf-8")
    assert "not known to this tool: ask whoever brought it" in card
    assert head(tmp_path / "dataset")["license"] == "unknown"
