"""A dry run needs nothing, names what is missing, and never loads torch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from commandline import environment, recallbench
from recallbench.corpora.miniature import write_locomo

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("corpus", ["locomo", "longmemeval", "canary"])
def test_a_dry_run_needs_no_corpus_weights_or_server(tmp_path: Path, corpus: str) -> None:
    done = recallbench("run", corpus, "--dry-run", "--version", "v0.2.1", cwd=tmp_path)
    assert done.returncode == 0
    assert "artefacts: environment.json" in done.stdout
    assert done.stdout.splitlines()[-1].startswith(("Ready: ", "Not ready: "))
    assert [path.name for path in tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("corpus", "questions"),
    [("canary-locomo", 24), ("canary-longmemeval", 12), (f"labelled/mine@{'0' * 64}+tokens-0.3-60", 12)],
)
def test_a_corpus_outside_the_protocol_is_rehearsed_in_its_own_shape_and_name(
    tmp_path: Path, corpus: str, questions: int
) -> None:
    done = recallbench("run", corpus, "--dry-run", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(f"dry run of {corpus}: {questions} questions on a miniature, ")


def test_missing_files_are_named_with_the_command_that_fetches_them(tmp_path: Path) -> None:
    done = recallbench("run", "locomo", "--dry-run", cwd=tmp_path)
    assert "what to do: recallbench fetch locomo" in done.stdout
    assert "what to do: recallbench fetch dragon-plus" in done.stdout
    assert done.stdout.splitlines()[-2:] == [
        "",
        "Not ready: corpus, weights of dragon-plus; next: recallbench fetch locomo && recallbench fetch dragon-plus",
    ]
    assert recallbench("run", "locomo", "--dry-run", "--strict", cwd=tmp_path).returncode == 3


def test_the_canary_is_ready_anywhere(tmp_path: Path) -> None:
    done = recallbench("run", "canary", "--dry-run", "--strict", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "Ready: nothing is missing for 2 runs; next: recallbench run canary"


def test_of_the_canary_a_dry_run_says_nothing_of_the_protocols_store(tmp_path: Path) -> None:
    plain = recallbench("run", "canary-locomo", "--dry-run", cwd=tmp_path)
    assert "pgmnemo" not in plain.stdout + plain.stderr
    limited = recallbench("run", "canary-locomo", "--dry-run", "--limit", "3", cwd=tmp_path).stdout
    assert "limit: only the first 3 questions were asked" in limited
    assert "pgmnemo" not in limited
    told = recallbench("run", "canary-locomo", "--dry-run", "--verdict", cwd=tmp_path).stdout
    assert "store: pgvector instead of pgmnemo" in told
    stated = json.loads(recallbench("run", "canary-locomo", "--dry-run", "--json", cwd=tmp_path).stdout)
    assert [(run["corpus"], run["ready"], run["questions"]) for run in stated["dry_runs"]] == [
        ("canary-locomo", True, 24)
    ]
    assert stated["conclusion"]["happened"] == "Ready: nothing is missing for the run"


def test_the_runner_of_a_corpus_names_itself(tmp_path: Path) -> None:
    runner = (str(ROOT / "benchmarks" / "locomo" / "runner.py"),)
    done = recallbench("--dry-run", "--store", "bm25", "--corpus-file", "none.json", cwd=tmp_path, program=runner)
    assert done.stdout.splitlines()[-1].startswith("Not ready: corpus: ")
    write_locomo(tmp_path / "locomo10.json")
    words = ("--corpus-file", "locomo10.json", "--allow-deviation", "dataset", "--store", "bm25")
    done = recallbench("--dry-run", *words, cwd=tmp_path, program=runner)
    assert done.stdout.splitlines()[-1].endswith(f"next: python {runner[0]} {' '.join(words)}")


def test_a_deviation_without_a_history_entry_is_a_warning(tmp_path: Path) -> None:
    here = recallbench("run", "locomo", "--dry-run", "--verdict", "--embedder", "minilm", cwd=tmp_path)
    assert "no HISTORY.md above this folder" in here.stdout
    named = recallbench("run", "locomo", "--dry-run", "--verdict", "--embedder", "minilm", "--limit", "3", cwd=ROOT)
    assert "no entry for the deviation limit on locomo" in named.stdout
    assert "no entry for the deviation embedder minilm" not in named.stdout


def test_a_corpus_file_of_another_hash_is_named(tmp_path: Path) -> None:
    write_locomo(tmp_path / "locomo10.json")
    done = recallbench("run", "locomo", "--dry-run", cwd=tmp_path, env={"LOCOMO_DATA_DIR": str(tmp_path)})
    assert "is not the registered file" in done.stdout


def test_work_to_expect_is_stated_with_its_source(tmp_path: Path) -> None:
    lines = recallbench("run", "longmemeval", "--dry-run", cwd=tmp_path).stdout
    assert "23,867 (registered)" in lines
    assert "an estimate: counted with minilm" in lines


def test_a_place_that_cannot_be_written_is_not_ready(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for wrong in (("--out", "file"), ("--folder", "file"), ("--cache-dir", "file")):
        done = recallbench("run", "canary-locomo", "--dry-run", "--strict", *wrong, cwd=tmp_path)
        assert done.returncode == 3, wrong
        assert "folders" in done.stdout


def test_a_server_that_is_down_is_not_ready_and_the_rest_is_shown(tmp_path: Path) -> None:
    env = {"PGMNEMO_DSN": "postgresql://me:secret@127.0.0.1:9/x"}
    done = recallbench("run", "canary-locomo", "--dry-run", cwd=tmp_path, env=env)
    assert done.returncode == 0
    assert "does not answer" in done.stdout
    assert "weights of minilm" in done.stdout
    assert "secret" not in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Not ready: server, store, extension; next: start the server, or ")


@pytest.mark.parametrize("secret", ["Tr0ub4dor&3", "it's Tr0ub4dor&3", "postgresql://me:secret@127.0.0.1:9/x"])
def test_the_command_of_the_real_run_holds_no_secret(tmp_path: Path, secret: str) -> None:
    (tmp_path / "mine.py").write_text(
        "class Memory:\n    def __init__(self, password=''):\n        pass\n"
        "    def add(self, id, text):\n        pass\n    def search(self, query, k):\n        return []\n"
    )
    words = ("--store", "python:mine:Memory", "--set", f"password={secret}")
    done = recallbench("run", "canary-locomo", "--dry-run", *words, cwd=tmp_path)
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Ready: nothing is missing for the run; next: recallbench run canary-locomo --store python:")
    for word in ("Tr0ub4dor", "secret"):
        assert word not in done.stdout + done.stderr


def test_a_dry_run_never_loads_torch(tmp_path: Path) -> None:
    code = (
        "import sys, runpy\n"
        "sys.argv = ['recallbench', 'run', 'locomo', '--dry-run']\n"
        "try:\n    runpy.run_module('recallbench', run_name='__main__')\n"
        "except SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'openvino'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = recallbench(cwd=tmp_path, program=("-c", code), env={"PYTHONHASHSEED": "42"})
    assert done.returncode == 0


def test_doctor_is_the_readiness_table_alone(tmp_path: Path) -> None:
    done = recallbench("doctor", "locomo", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("readiness of a real run on locomo")
    away = recallbench("doctor", "locomo", cwd=tmp_path, env={"LOCOMO_DATA_DIR": "", "RECALLBENCH_DATA_DIR": "nowhere"})
    assert (
        "the locomo corpus is not on this machine (expected nowhere/locomo10.json, or LOCOMO_DATA_DIR naming its "
        "folder; found no such file)\n"
    ) in away.stdout
    assert recallbench("doctor", "--strict", cwd=tmp_path).returncode == 3


@pytest.mark.parametrize("corpus", ["locomo", "longmemeval"])
def test_the_runner_is_run_with_the_corpus_fixed(tmp_path: Path, corpus: str) -> None:
    runner = ROOT / "benchmarks" / corpus / "runner.py"
    done = recallbench("--version", "v0.2.1", "--dry-run", cwd=tmp_path, program=(str(runner),))
    assert done.returncode == 0
    assert f"readiness of a real run on {corpus}" in done.stdout


def test_the_protocols_script_names_tag_and_folder(tmp_path: Path) -> None:
    write_locomo(tmp_path / "mine.json")
    script = ROOT / "benchmarks" / "locomo" / "run_locomo.sh"
    options = ["--corpus-file", "mine.json", "--allow-deviation", "dataset", "--store", "exact", "--embedder", "hash"]
    env = environment(tmp_path) | {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", script, "v0.2.1", "results/v0.2.1_20260509", *options],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results" / "v0.2.1_20260509" / "metrics.json").is_file()
    assert subprocess.run(["bash", script], capture_output=True, check=False).returncode == 2


BENCHMARKS = ROOT / "benchmarks"


@pytest.mark.parametrize("corpus", ["locomo", "longmemeval"])
def test_a_runner_without_its_tag_starts_no_real_run(tmp_path: Path, corpus: str) -> None:
    done = recallbench("--version", "--dry-run", cwd=tmp_path, program=(str(BENCHMARKS / corpus / "runner.py"),))
    assert (done.returncode, "--version has no value" in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("words", "option"), [("--dry-run out", "--version"), ("v1 --dry-run", "--folder")])
def test_the_protocols_script_without_a_value_starts_no_real_run(tmp_path: Path, words: str, option: str) -> None:
    script = BENCHMARKS / "locomo" / "run_locomo.sh"
    done = subprocess.run(
        ["bash", str(script), *words.split()],
        cwd=tmp_path,
        env=environment(tmp_path, {"PYTHON": sys.executable}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, f"{option} has no value" in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []
