"""`recallbench run`, as a user types it."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from commandline import environment, recallbench
from recallbench.results.manifest import differences
from recallbench.results.metrics import Metrics
from stages import sampled

QUICK = ("--store", "exact", "--embedder", "hash")


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("canary")
    done = recallbench("run", "canary", *QUICK, "--out", "out", cwd=workspace)
    assert done.returncode == 0
    assert done.stdout.count("report: ") == 2
    return workspace / "out"


def folder(parent: Path, corpus: str) -> Path:
    (result,) = [
        path for path in parent.iterdir() if json.loads((path / "metrics.json").read_text())["corpus"]["name"] == corpus
    ]
    return result


def test_page_and_report_open_with_the_same_sentence(canary: Path) -> None:
    result = folder(canary, "canary-locomo")
    report = (result / "report.md").read_text()
    (sentence,) = re.findall(r"<p><strong>(.*?)</strong></p>", (result / "report.html").read_text())
    assert report.splitlines()[2] == f"**{sentence}**"
    assert "finds something relevant among its first 10 hits for" in sentence
    assert re.findall("^## (.*)", report, re.MULTILINE)[-2:] == ["What was measured", "Under the protocol"]


@pytest.mark.parametrize("corpus", ["canary-locomo", "canary-longmemeval"])
def test_a_run_leaves_a_complete_folder(canary: Path, corpus: str) -> None:
    result = folder(canary, corpus)
    assert {path.name for path in result.iterdir()} == {
        "metrics.json",
        "report.md",
        "report.html",
        "raw_retrievals.jsonl",
        "run.trec",
        "run.bm25.trec",
        "qrels.trec",
        "environment.json",
        "timings.jsonl",
        "manifest.json",
    }
    assert differences(result) == []
    metrics = Metrics.model_validate_json((result / "metrics.json").read_bytes())
    assert metrics.seed == 42
    assert metrics.verdict.text == "UNVERIFIED (pending: committed)"
    assert metrics.pgmnemo_version is None
    assert [headline.protocol_name for headline in metrics.headline] == ["recall@10", "MRR"]
    assert [headline.estimate.measure for headline in metrics.headline] == ["recall_any@10", "mrr@50"]
    rows = [json.loads(line) for line in (result / "raw_retrievals.jsonl").read_text().splitlines()]
    assert len(rows) == metrics.retrieval.asked == metrics.corpus.with_evidence
    assert all(len(row["hits"]) == min(50, row["candidates"]) for row in rows)
    assert not any("text" in hit for row in rows for hit in row["hits"])


def test_the_headline_can_be_scored_again_from_the_rows(canary: Path) -> None:
    result = folder(canary, "canary-locomo")
    rows = [json.loads(line) for line in (result / "raw_retrievals.jsonl").read_text().splitlines()]
    in_top_ten = [any(hit["id"] in row["gold"] for hit in row["hits"][:10]) for row in rows]
    ranks = [next((hit["rank"] for hit in row["hits"] if hit["id"] in row["gold"]), None) for row in rows]
    metrics = json.loads((result / "metrics.json").read_text())
    values = [headline["estimate"]["value"] for headline in metrics["headline"]]
    assert values[0] == pytest.approx(sum(in_top_ten) / len(in_top_ten), abs=1e-10)
    assert values[1] == pytest.approx(sum(1 / rank for rank in ranks if rank) / len(ranks), abs=1e-10)


def test_the_published_schema_accepts_what_was_written(canary: Path) -> None:
    import jsonschema

    from recallbench.results.metrics import SCHEMA_FILE, schema_text

    assert SCHEMA_FILE.read_text() == schema_text()
    schema = json.loads(SCHEMA_FILE.read_text())
    for result in canary.iterdir():
        jsonschema.validate(json.loads((result / "metrics.json").read_text()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({}, schema)


def test_a_repeat_is_byte_identical_where_it_must_be(canary: Path, tmp_path: Path) -> None:
    recallbench("run", "canary", *QUICK, "--out", "out", cwd=tmp_path)
    for corpus in ("canary-locomo", "canary-longmemeval"):
        first, second = folder(canary, corpus), folder(tmp_path / "out", corpus)
        stated = [json.loads((result / "manifest.json").read_text())["content_sha256"] for result in (first, second)]
        assert stated[0] == stated[1]


def test_an_existing_name_gets_a_number_and_an_existing_folder_is_refused(canary: Path) -> None:
    parent = canary.parent
    assert recallbench("run", "canary-locomo", *QUICK, "--out", "o", cwd=parent).returncode == 0
    again = recallbench("run", "canary-locomo", *QUICK, "--out", "o", cwd=parent)
    assert again.stdout.splitlines()[-3].endswith("_2/report.md")
    assert again.stdout.splitlines()[-1].endswith("_2/report.html")
    refused = recallbench("run", "canary-locomo", *QUICK, "--folder", "o", cwd=parent)
    assert refused.returncode == 2
    assert "o exists already" in refused.stderr


def test_options_come_from_variables_and_files_too(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('embedder = "hash"\nlimit = 5\n')
    done = recallbench(
        "run",
        "canary-locomo",
        "--config",
        "settings.toml",
        "--folder",
        "r",
        cwd=tmp_path,
        env={"RECALLBENCH_STORE": "exact"},
    )
    assert done.returncode == 0
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    assert metrics["retrieval"]["asked"] == 5
    assert {"kind": "limit", "detail": "only the first 5 questions were asked"} in metrics["deviations"]
    (tmp_path / "settings.toml").write_text("embeder = 'hash'\n")
    wrong = recallbench("run", "canary-locomo", "--config", "settings.toml", cwd=tmp_path)
    assert wrong.returncode == 2
    assert wrong.stderr == (
        "recallbench: settings.toml: unknown setting 'embeder'\n  expected: the long name of an option\n"
        "  found: embeder\n  what to do: you may mean embedder; `recallbench run --help` names all\n"
    )
    # `evaluate` has an option --run: a section that is called like it is none.
    (tmp_path / "settings.toml").write_text("[run]\nstore = 'bm25'\n")
    section = recallbench("run", "canary-locomo", "--config", "settings.toml", cwd=tmp_path)
    assert (section.returncode, "unknown setting 'run'" in section.stderr) == (2, True)


def test_texts_are_stored_with_the_option(tmp_path: Path) -> None:
    recallbench("run", "canary-locomo", *QUICK, "--limit", "3", "--with-text", "--folder", "r", cwd=tmp_path)
    row = json.loads((tmp_path / "r" / "raw_retrievals.jsonl").read_text().splitlines()[0])
    assert row["question"]
    assert all(hit["text"].startswith("[") for hit in row["hits"])


def test_pooled_scope_and_another_depth_are_labelled(tmp_path: Path) -> None:
    done = recallbench(
        "run", "canary-locomo", *QUICK, "--scope", "pooled", "--depth", "20", "--folder", "r", cwd=tmp_path
    )
    assert "note: all haystacks pooled into one\n" in done.stdout
    assert "deviation" not in done.stdout
    assert done.stdout.endswith("; all haystacks pooled into one; next: open r/report.html\n")
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    assert [headline["estimate"]["measure"] for headline in metrics["headline"]] == ["recall_any@10"]


@pytest.mark.marked
def test_the_seed_is_set_unless_the_user_set_it(tmp_path: Path) -> None:
    recallbench("run", "canary-locomo", *QUICK, "--limit", "2", "--folder", "a", cwd=tmp_path)
    assert json.loads((tmp_path / "a" / "metrics.json").read_text())["seed"] == 42
    other = {"PYTHONHASHSEED": "7"}
    required = recallbench(
        "run", "canary-locomo", *QUICK, "--limit", "2", "--folder", "b", "--require-verified", cwd=tmp_path, env=other
    )
    assert required.returncode == 1
    assert "gate of the protocol failed: seed recorded: seed 7" in required.stdout
    assert (
        recallbench("run", "canary-locomo", *QUICK, "--limit", "2", "--require-verified", cwd=tmp_path).returncode == 0
    )


def test_a_version_that_the_store_does_not_state_fails_the_gate(tmp_path: Path) -> None:
    done = recallbench(
        "run", "canary-locomo", *QUICK, "--limit", "2", "--version", "v0.2.1", "--out", "o", cwd=tmp_path
    )
    assert done.returncode == 0
    assert "gate of the protocol failed: version pin: exact states recallbench-exact/1" in done.stdout
    assert "--version v0.2.1" in done.stdout
    (result,) = (tmp_path / "o").iterdir()
    assert result.name.startswith("v0.2.1_exact_2")
    own = recallbench(
        "run", "canary-locomo", *QUICK, "--limit", "2", "--version", "recallbench-exact/1", "--out", "p", cwd=tmp_path
    )
    assert "gate of the protocol failed" not in own.stdout


def test_the_recorded_command_has_no_secrets_and_no_folders(tmp_path: Path) -> None:
    secret = ("--dsn", "postgresql://me:hush@127.0.0.1/x", "--out", tmp_path / "o")
    assert recallbench("run", "canary-locomo", *QUICK, "--limit", "2", *secret, cwd=tmp_path).returncode == 0
    (result,) = (tmp_path / "o").iterdir()
    command = json.loads((result / "environment.json").read_text())["command"]
    assert command[:4] == ["recallbench", "run", "canary-locomo", "--store"]
    for path in result.iterdir():
        assert "hush" not in path.read_text()
        assert str(tmp_path) not in path.read_text()


def test_missing_weights_leave_a_blocked_folder(tmp_path: Path) -> None:
    done = recallbench(
        "run", "canary-locomo", "--embedder", "bge-m3", "--store", "exact", "--version", "v9", cwd=tmp_path
    )
    assert done.returncode == 3
    assert "recallbench fetch bge-m3" in done.stderr
    (blocked,) = tmp_path.glob("benchmarks/canary-locomo/results/v9_exact_*_BLOCKED/BLOCKED.md")
    assert "recallbench fetch bge-m3" in blocked.read_text()
    assert recallbench("audit", blocked.parent, cwd=tmp_path).returncode == 1


def test_a_missing_corpus_leaves_a_blocked_folder(tmp_path: Path) -> None:
    done = recallbench("run", "longmemeval", "--store", "bm25", "--no-download", cwd=tmp_path)
    assert done.returncode == 3
    assert "recallbench fetch longmemeval" in done.stderr
    assert len(list(tmp_path.glob("benchmarks/longmemeval/results/bm25_*_BLOCKED/BLOCKED.md"))) == 1


def test_a_server_that_is_down_leaves_a_blocked_folder(tmp_path: Path) -> None:
    dsn = "postgresql://me:secret@127.0.0.1:9/x"
    done = recallbench("run", "canary-locomo", "--embedder", "hash", "--dsn", dsn, cwd=tmp_path)
    assert done.returncode == 3
    assert "secret" not in done.stderr
    (blocked,) = tmp_path.rglob("BLOCKED.md")
    assert "secret" not in blocked.read_text()


def test_a_server_of_the_environment_that_is_down_blocks_too_and_again(tmp_path: Path) -> None:
    env = {"PGMNEMO_DSN": "postgresql://me:secret@127.0.0.1:9/x"}
    for times in (1, 2):
        done = recallbench("run", "canary-locomo", "--folder", "r", "--label", "x", cwd=tmp_path, env=env)
        assert done.returncode == 3
        assert "does not answer" in done.stderr
        assert len(list(tmp_path.glob("r_BLOCKED*/BLOCKED.md"))) == times


def test_two_runs_at_once_keep_both_results(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "recallbench", "run", "canary-locomo", *QUICK, "--out", "o"]
    both = [
        subprocess.Popen(command, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE) for _ in range(2)
    ]
    for process in both:
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert len(list((tmp_path / "o").glob("exact_*/manifest.json"))) == 2


def test_a_limit_beyond_the_corpus_is_no_deviation(tmp_path: Path) -> None:
    done = recallbench("run", "canary-locomo", *QUICK, "--limit", "5000", cwd=tmp_path)
    assert "deviation: limit" not in done.stdout


def test_weights_other_than_the_defaults_are_labelled(tmp_path: Path) -> None:
    done = recallbench(
        "run",
        "canary-locomo",
        "--embedder",
        "hash",
        "--weights",
        "bm25=1",
        "--limit",
        "3",
        "--folder",
        "r",
        "--verdict",
        cwd=tmp_path,
    )
    assert "canary-locomo, pgvector (weights bm25=1), hash" in done.stdout
    assert "deviation: settings: weights bm25=1 instead of the defaults" in done.stdout


def test_a_seed_that_python_ignores_is_not_recorded(tmp_path: Path) -> None:
    deaf = ("-E", "-m", "recallbench")
    env = {"PYTHONHASHSEED": "42"}
    done = recallbench(
        "run", "canary-locomo", *QUICK, "--limit", "2", "--folder", "r", cwd=tmp_path, env=env, program=deaf
    )
    assert "gate of the protocol failed: seed recorded: seed None" in done.stdout


def test_an_unwritable_place_is_refused_before_work(tmp_path: Path) -> None:
    done = recallbench("run", "canary-locomo", *QUICK, "--out", "/proc/results", cwd=tmp_path)
    assert done.returncode == 2
    assert "can't be written to /proc/results/exact" in done.stderr
    assert (
        "what to do: name another place with --out or --folder, or free some room; nothing half-written was left"
        in done.stderr
    )
    assert "report: " not in done.stdout


def test_a_place_under_a_file_is_refused_before_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = recallbench("run", "canary-locomo", *QUICK, "--out", "file/x", cwd=tmp_path)
    assert done.returncode == 2
    assert "can't be written" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    sampled(
        [
            (["nonsense"], "no corpus is called nonsense"),
            (["canary", "--folder", "x"], "--folder names one result"),
            (["canary-locomo", "--store", "nonsense"], "nonsense"),
            (["canary-locomo", "--store", "exact", "--embedder", "nonsense"], "no encoder called 'nonsense'"),
            (["canary-locomo", "--allow-deviation", "scope"], "--allow-deviation scope"),
            (["canary-locomo", "--limit", "0"], "--limit"),
            (["canary-locomo", "--weights", "cosine=x"], "cosine=x"),
            (["canary-locomo", "--store", "callable"], "module:name"),
            (["canary-locomo", "--dry-run", "--weights", "foo=1"], "foo"),
            (["canary-locomo", "--dry-run", "--store", "nonsense"], "nonsense"),
            (["canary-locomo", "--depth", "5"], "--depth"),
            (["canary-locomo", "--strict"], "--strict goes with --dry-run"),
        ]
    ),
)
def test_wrong_usage_is_refused(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = recallbench("run", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(tmp_path.rglob("metrics.json"))


def test_another_file_is_refused_with_both_hashes_and_runs_when_allowed(tmp_path: Path) -> None:
    from recallbench.corpora.miniature import write_locomo
    from recallbench.results.manifest import file_sha256

    write_locomo(tmp_path / "mine.json")
    words = ("run", "locomo", *QUICK, "--corpus-file", "mine.json")
    refused = recallbench(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert file_sha256(tmp_path / "mine.json") in refused.stderr
    assert "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4" in refused.stderr
    assert "--allow-deviation dataset" in refused.stderr
    allowed = recallbench(*words, "--allow-deviation", "dataset", "--folder", "r", cwd=tmp_path)
    assert allowed.returncode == 0
    assert "gate of the protocol failed: dataset integrity" in allowed.stdout
    assert f"note: {file_sha256(tmp_path / 'mine.json')} instead of the registered 79fa87e9" in allowed.stdout
    last = allowed.stdout.splitlines()[-1]
    assert last.endswith("; the protocol's gate on dataset integrity fails; next: recallbench audit r")


def test_a_settings_file_serves_several_commands(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('store = "exact"\nlimit = 5\nallow-deviation = "dataset"\nembedder = "hash"\n')
    assert recallbench("doctor", "canary", "--config", "s.toml", cwd=tmp_path).returncode == 0
    done = recallbench("run", "canary-locomo", "--config", "s.toml", cwd=tmp_path)
    assert done.returncode == 0
    assert "note: only the first 5 questions were asked\n" in done.stdout


def test_an_embedder_that_nothing_uses_is_refused(tmp_path: Path) -> None:
    done = recallbench("run", "canary-locomo", "--store", "bm25", "--embedder", "minilm", cwd=tmp_path)
    assert done.returncode == 2
    assert "has no use for --embedder" in done.stderr


def _is_server(process: psutil.Process) -> bool:
    try:
        return process.name() == "postgres" and "-D" in process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):  # initdb's helpers come and go
        return False


def test_sigterm_leaves_no_server(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "recallbench",
        "run",
        "canary-locomo",
        "--store",
        "pgvector",
        "--embedder",
        "minilm",
    ]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    servers: list[psutil.Process] = []
    while not servers and time.monotonic() < deadline:
        servers = [child for child in psutil.Process(process.pid).children(recursive=True) if _is_server(child)]
        time.sleep(0.01)
    process.terminate()
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in printed
    assert servers
    assert not psutil.wait_procs(servers, timeout=10)[1]
