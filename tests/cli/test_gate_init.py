"""`recallbench gate --init`: a file that fits a result, and passes at once."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest
from gated_runs import refused

from commandline import recallbench
from labelled_sets import jsonl

FACT = 'fact"]\u202e'
"""A kind that must not end its table."""


@pytest.fixture
def workspace(results_to_gate: Path, tmp_path: Path) -> Path:
    shutil.copytree(results_to_gate / "night_20260101", tmp_path / "nights" / "night_20260101")
    return tmp_path


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a result over 300 questions, of which every tenth finds nothing, in two kinds."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "team").mkdir()
    jsonl(folder / "team/corpus.jsonl", [{"_id": f"d{i}", "text": f"word{i} stands here"} for i in range(300)])
    jsonl(
        folder / "team/gold.jsonl",
        [
            {
                "query": f"word{i}" if i % 10 else f"word{i + 1}",
                "relevant": [f"d{i}"],
                "kind": "rare" if i < 5 else FACT,
            }
            for i in range(300)
        ],
    )
    done = recallbench("evaluate", "team", "--store", "bm25", "--out", "nights", "-q", cwd=folder)
    assert done.returncode == 0
    return folder


def settings(folder: Path) -> dict:
    return tomllib.loads((folder / "recallbench.toml").read_text())["result"]


def test_it_fits_and_passes_at_once(many: Path, tmp_path: Path) -> None:
    shutil.copytree(many / "nights", tmp_path / "nights")
    (result,) = (tmp_path / "nights").iterdir()
    done = recallbench("gate", result, "--init", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == (
        "recallbench.toml has 5 thresholds; 300 questions find a drop of recall_any@10 of 0.0817 or more four times in "
        "five; counted cautiously: between most versions smaller drops show; next: recallbench gate"
    )
    team = settings(tmp_path)["team"]
    assert (team["folder"], team["baseline"], team["allow"], team["strict"]) == (
        "nights", "baselines/team", ["store"], True,
    )  # fmt: skip
    estimates = {
        estimate["measure"]: estimate
        for estimate in json.loads((result / "metrics.json").read_text())["estimates"]["overall"]
    }
    for measure, floor in team["at_least"].items():
        assert 0 <= estimates[measure]["low"] - floor < 0.01
    assert list(team["at_least"]) == ["recall_any@10", "mrr@50", "ndcg@10"]
    assert team["drops"] == {"recall_any@10": 0.09}
    assert list(team["kinds"]) == [FACT]
    assert "team: left out: rare: recall_any@10: 5 questions are too few" in done.stdout
    gated = recallbench("gate", cwd=tmp_path)
    assert (gated.returncode, gated.stdout.splitlines()[-1]) == (0, "All 5 thresholds hold")
    # A later night of the same is the one that is gated then.
    again = recallbench("evaluate", many / "team", "--store", "bm25", "--out", "nights", "-q", cwd=tmp_path)
    assert again.returncode == 0
    assert recallbench("gate", cwd=tmp_path).stdout.startswith(f"team: nights/{result.name}_2 ")


def test_every_line_of_the_file_is_explained(many: Path, tmp_path: Path) -> None:
    shutil.copytree(many / "nights", tmp_path / "nights")
    (result,) = (tmp_path / "nights").iterdir()
    assert recallbench("gate", result, "--init", cwd=tmp_path).returncode == 0
    lines = (tmp_path / "recallbench.toml").read_text().splitlines()
    assert [line for line in lines if " = " in line and "# " not in line] == []
    assert any(line.startswith('"recall_any@10" = 0.8') and "# measured 0.9033 (0.8646 to " in line for line in lines)


def test_so_few_questions_hold_floors_alone_and_file_line_and_code_say_so(workspace: Path) -> None:
    done = recallbench("gate", "nights/night_20260101", "--init", cwd=workspace)
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.splitlines()[-1] == (
        "recallbench.toml has 3 thresholds; floors alone: 158 questions in 4 clusters can't tell any drop of "
        "recall_any@10 from chance; what stays above the floors passes, however much was lost; next: measure with more "
        "questions in more clusters, move recallbench.toml away, then recallbench gate --init DIR"
    )
    after_the_floors = (workspace / "recallbench.toml").read_text().partition('"ndcg@10"')[2].splitlines()[1:]
    assert after_the_floors[:4] == [
        "",
        "# Floors alone: 158 questions in 4 clusters can't tell any drop of recall_any@10 from chance.",
        "# What stays above them passes, however much was lost. With more questions --init adds a drop.",
        "",
    ]
    night = settings(workspace)["canary-locomo"]
    assert night == {
        "folder": "nights", "strict": True, "at_least": {"recall_any@10": 0.75, "mrr@50": 0.41, "ndcg@10": 0.47},
    }  # fmt: skip
    assert recallbench("gate", cwd=workspace).returncode == 0
    assert not (workspace / "baselines").exists()


def test_one_result_of_floors_alone_is_told_beside_others(many: Path, workspace: Path) -> None:
    (result,) = (many / "nights").iterdir()
    words = ("gate", result, "nights/night_20260101", "--init", "--json")
    done = recallbench(*words, cwd=workspace)
    document = json.loads(done.stdout)
    assert (done.returncode, document["floors_alone"]) == (2, ["canary-locomo"])
    assert document["conclusion"]["happened"] == (
        "recallbench.toml has 8 thresholds; team: 300 questions find a drop of recall_any@10 of 0.0817 or more four "
        "times in five; canary-locomo: floors alone: 158 questions in 4 clusters can't tell any drop of recall_any@10 "
        "from chance"
    )
    assert list(settings(workspace)) == ["team", "canary-locomo"]


def test_no_folder_is_made_for_the_file(many: Path, tmp_path: Path) -> None:
    shutil.copytree(many / "nights", tmp_path / "nights")
    (result,) = (tmp_path / "nights").iterdir()
    assert "x.toml can't be written" in refused(tmp_path, result, "--init", "--config", "some/new/x.toml")
    assert [path.name for path in tmp_path.iterdir()] == ["nights"]
    (tmp_path / "some/new").mkdir(parents=True)
    done = recallbench("gate", result, "--init", "--config", "some/new/x.toml", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "some/new/baselines/team").is_dir()) == (0, True)
    assert recallbench("gate", "--config", "some/new/x.toml", cwd=tmp_path).returncode == 0


def test_the_folder_is_a_pattern_where_others_lie_beside_it(workspace: Path, results_to_gate: Path) -> None:
    """Beside a result of another system its name tells them apart; beside a later one the folder alone does."""
    shutil.copytree(results_to_gate / "night_20260102", workspace / "nights" / "other_20260102")
    assert recallbench("gate", "nights/night_20260101", "--init", cwd=workspace).returncode == 2
    assert settings(workspace)["canary-locomo"]["folder"] == "nights/night_*"
    assert recallbench("gate", cwd=workspace).returncode == 0
    shutil.copytree(results_to_gate / "night_20260102", workspace / "nights" / "night_20260102")
    words = ("gate", "mine=nights/night_20260101", "--init", "--config", "second.toml")
    done = recallbench(*words, cwd=workspace)
    assert done.stdout.endswith(", move second.toml away, then recallbench gate --config second.toml --init DIR\n")
    second = tomllib.loads((workspace / "second.toml").read_text())["result"]
    assert second["mine"]["folder"] == "nights/night_20260101"
    assert recallbench("gate", "--config", "second.toml", cwd=workspace).returncode == 0


def test_nothing_is_overwritten(many: Path, workspace: Path) -> None:
    (workspace / "recallbench.toml").write_text("mine\n")
    message = refused(workspace, "nights/night_20260101", "--init")
    assert "recallbench.toml is there already" in message
    assert (workspace / "recallbench.toml").read_text() == "mine\n"
    (workspace / "recallbench.toml").unlink()
    # Nor is a baseline of the same name.
    shutil.copytree(workspace / "nights/night_20260101", workspace / "baselines/team")
    (result,) = (many / "nights").iterdir()
    assert "team holds another baseline" in refused(workspace, result, "--init")
    assert not (workspace / "recallbench.toml").exists()


def test_a_result_that_holds_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    jsonl(tmp_path / "team/corpus.jsonl", [{"_id": f"d{i}", "text": f"word{i}"} for i in range(3)])
    jsonl(tmp_path / "team/gold.jsonl", [{"query": "word1", "relevant": ["d1"]}])
    assert recallbench("evaluate", "team", "--store", "bm25", "--folder", "r", "-q", cwd=tmp_path).returncode == 0
    message = refused(tmp_path, "r", "--init")
    assert "so few questions can't tell it from chance" in message
    assert list(tmp_path.glob("*.toml")) == []


def test_wrong_usage_is_refused(workspace: Path) -> None:
    assert "none is named" in refused(workspace, "--init")
    assert "--init writes a file and checks nothing" in refused(
        workspace, "nights/night_20260101", "--init", "--update"
    )
    twice = ("nights/night_20260101", "nights/night_20260101")
    assert "two results are called canary-locomo" in refused(workspace, *twice, "--init")
