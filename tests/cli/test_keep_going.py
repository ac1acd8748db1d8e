"""`--keep-going`: a question that the store fails on is named and does not lose the others."""

import json
import shutil
from pathlib import Path

import pytest

from audited_copies import audit_copy
from commandline import recallbench
from labelled_sets import beir
from recallbench.audit.audit import audit
from recallbench.results.manifest import build
from recallbench.results.metrics import Metrics

MEMORY = """
def open_memory(items, vectors):
    def search(query, k):
        if query.text in FAILING:
            raise RuntimeError("out of luck")
        words = set(query.text.lower().split())
        scored = [(item.id, float(len(words & set(item.text.lower().split())))) for item in items]
        return sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:k]
    return search
open_memory.needs_vectors = False
FAILING = {%s}
"""
UNANSWERABLE = """
    "What did I call my parrot?", "How many funerals did I attend this year?", "When was my harpsichord last tuned?",
    "How many days before the deadline did I renew my driving licence?",
"""
FERRY, BICYCLE = "When does the ferry leave?", "Who sells the blue bicycle?"


def run(folder: Path, *words: str, failing: tuple[str, ...] = (FERRY,)) -> tuple[int, str, str]:
    (folder / "moody.py").write_text(MEMORY % ", ".join(map(repr, failing)))
    if not (folder / "team").exists():
        beir(folder / "team")
    store = ("--store", "python:moody:open_memory", "--folder", "result")
    done = recallbench("evaluate", "team", *store, *words, cwd=folder)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[int, str, str]]:
    folder = tmp_path_factory.mktemp("gone_on")
    return folder, run(folder, "--keep-going", "--k", "3")


def test_without_the_option_a_failure_ends_the_run(tmp_path: Path) -> None:
    code, _, message = run(tmp_path)
    assert code == 2
    assert FERRY in message
    assert "out of luck" in message
    assert not (tmp_path / "result").exists()


def test_the_others_are_scored_and_the_failure_is_named_everywhere(
    finished: tuple[Path, tuple[int, str, str]],
) -> None:
    folder, (code, printed, message) = finished
    assert code == 1
    assert "recallbench: question q1 failed: `moody:open_memory` failed while searching for `When does the" in message
    assert "found RuntimeError: out of luck" in message
    assert "note: the store failed on 1 question: counted as the worst answer" in printed
    assert "q1 (failed)  travel               0.00" in printed
    metrics = Metrics.model_validate_json((folder / "result" / "metrics.json").read_bytes())
    assert metrics.retrieval.failed == ["q1"]
    # Two of three answerable questions found their gold.
    assert metrics.headline[0].estimate.value == pytest.approx(2 / 3)
    rows = [json.loads(line) for line in (folder / "result" / "raw_retrievals.jsonl").read_text().splitlines()]
    assert {row["question_id"]: len(row["hits"]) for row in rows} == {"q1": 0, "q2": 3, "q3": 2, "q4": 2}
    report = (folder / "result" / "report.md").read_text()
    assert "**The store failed on 1 of them: `q1`.**" in report
    # The reason may hold words of the question: it is printed, and not written to the result.
    assert "out of luck" not in "".join(path.read_text() for path in (folder / "result").iterdir())


def test_the_audit_compares_failures_with_the_rankings(
    finished: tuple[Path, tuple[int, str, str]], tmp_path: Path
) -> None:
    folder, _ = finished
    genuine = audit(folder / "result", corpus_files=[folder / "team"], environ={})
    assert [check.code for check in genuine.checks if check.status != "pass"] == ["RB-COMMITTED"]

    def codes(name: str, failed: list[str], keep_going: bool = True) -> set[str]:
        forged = tmp_path / name
        shutil.copytree(folder / "result", forged)
        metrics = json.loads((forged / "metrics.json").read_text())
        metrics["retrieval"]["failed"] = failed
        (forged / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n")
        environment = json.loads((forged / "environment.json").read_text())
        environment["options"]["keep_going"] = keep_going
        (forged / "environment.json").write_text(json.dumps(environment, indent=1) + "\n")
        (forged / "manifest.json").write_text(build(forged))
        report = audit_copy(forged, [folder / "team"])
        return {check.code for check in report.checks if check.status == "fail"}

    assert "RB-DEVIATIONS" in codes("hidden", [])
    assert "RB-LENGTH" in codes("answered", ["q2"])
    assert "RB-LENGTH" in codes("unknown", ["q1", "q9"])
    assert "RB-LENGTH" in codes("twice", ["q1", "q1"])
    assert "RB-OPTIONS" in codes("not_asked_for", ["q1"], keep_going=False)


def test_a_failure_where_nothing_should_be_found_is_a_false_retrieval(tmp_path: Path) -> None:
    code, printed, _ = run(tmp_path, "--keep-going", "--k", "3", failing=(BICYCLE,))
    assert code == 1
    assert "abstention: false retrieval 1.0000" in printed
    metrics = Metrics.model_validate_json((tmp_path / "result" / "metrics.json").read_bytes())
    assert metrics.abstention is not None
    assert (metrics.abstention.questions, metrics.abstention.false_retrieval, metrics.abstention.auroc) == (1, 1.0, 0.0)
    assert metrics.headline[0].estimate.value == 1.0
    audited = audit(tmp_path / "result", corpus_files=[tmp_path / "team"], environ={})
    assert [check.code for check in audited.checks if check.status != "pass"] == ["RB-COMMITTED"]


def test_a_failure_on_an_abstention_question_with_gold_is_a_false_retrieval(tmp_path: Path) -> None:
    figures = []
    for failing, words in (("''", ()), (UNANSWERABLE, ("--keep-going",))):
        (tmp_path / "moody.py").write_text(MEMORY % failing)
        folder = "moody" if words else "calm"
        done = recallbench(
            "run", "canary-longmemeval", "--store", "python:moody:open_memory", "--folder", folder, *words, cwd=tmp_path
        )
        assert done.returncode == (1 if words else 0)
        figures.append(Metrics.model_validate_json((tmp_path / folder / "metrics.json").read_bytes()))
    calm, moody = figures
    rows = [json.loads(line) for line in (tmp_path / "moody" / "raw_retrievals.jsonl").read_text().splitlines()]
    assert [row["question_id"] for row in rows if row["abstention"]] == moody.retrieval.failed
    assert all(row["gold"] for row in rows)
    assert calm.abstention is not None
    assert moody.abstention is not None
    assert moody.abstention.questions == calm.abstention.questions
    assert moody.abstention.auroc is not None
    assert calm.abstention.auroc is not None
    assert moody.abstention.auroc < calm.abstention.auroc
    assert (moody.abstention.auroc, moody.abstention.false_retrieval) == (0.0, 1.0)


def test_a_failure_when_a_question_is_timed_is_named_and_its_time_counts(tmp_path: Path) -> None:
    # The third call of each question is the one that is timed: after those with k = 50 and k = 10.
    memory = MEMORY.replace("def open_memory", "from collections import Counter\nCALLS = Counter()\ndef open_memory")
    memory = memory.replace(
        "if query.text in FAILING:",
        "CALLS[query.text] += 1\n        if query.text in FAILING and CALLS[query.text] == 3:",
    )
    (tmp_path / "moody.py").write_text(memory % repr(FERRY))
    beir(tmp_path / "team")
    words = ("evaluate", "team", "--store", "python:moody:open_memory", "--folder", "result", "--keep-going")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert "recallbench: question q1 failed when it was timed: `moody:open_memory` failed" in done.stderr
    metrics = Metrics.model_validate_json((tmp_path / "result" / "metrics.json").read_bytes())
    assert metrics.retrieval.failed == []
    assert metrics.headline[0].estimate.value == 1.0
    timings = [json.loads(line) for line in (tmp_path / "result" / "timings.jsonl").read_text().splitlines()]
    states = {timing["question_id"]: timing["state"] for timing in timings if "question_id" in timing}
    assert states == {"q1": "failed", "q2": "warm", "q3": "warm", "q4": "warm"}
    assert "| end to end | failed | 1 |" in (tmp_path / "result" / "report.md").read_text()
    (tmp_path / "recallbench.toml").write_text('[result.memory]\nfolder = "result"\np95_ms = 60000\n')
    gate = recallbench("gate", cwd=tmp_path)
    assert gate.returncode == 0
    assert "1 timed query of result failed, and took at least as long as that took" in gate.stdout
    assert "\ncan't be told:\n" in gate.stdout
    (tmp_path / "recallbench.toml").write_text('[result.memory]\nfolder = "result"\np95_ms = 60000\nstrict = true\n')
    assert recallbench("gate", cwd=tmp_path).returncode == 1


def test_the_gate_says_that_questions_failed(finished: tuple[Path, tuple[int, str, str]], tmp_path: Path) -> None:
    shutil.copytree(finished[0] / "result", tmp_path / "result")
    (tmp_path / "recallbench.toml").write_text(
        '[result.memory]\nfolder = "result"\n[result.memory.at_least]\n"recall_any@10" = 0.5\n'
    )
    gate = recallbench("gate", cwd=tmp_path)
    assert "the store failed on 1 of its questions" in gate.stdout


def test_where_every_question_fails_there_is_no_result(tmp_path: Path) -> None:
    questions = (FERRY, BICYCLE, "Where does it rain?", "When does the train leave?")
    code, _, message = run(tmp_path, "--keep-going", failing=questions)
    assert code == 2
    assert "not one of 4 questions was answered; the first: `moody:open_memory` failed" in message
    assert "--keep-going" not in message  # it was given
    assert not (tmp_path / "result").exists()


def test_run_has_the_option_too(tmp_path: Path) -> None:
    (tmp_path / "moody.py").write_text(MEMORY % repr("What mishaps did Nadia have on two wheels?"))
    words = ("--store", "python:moody:open_memory", "--folder", "result", "--keep-going")
    done = recallbench("run", "canary-locomo", *words, cwd=tmp_path)
    assert done.returncode == 1
    assert "recallbench: question canary-1/q10 failed: " in done.stderr
    assert "short: 1 question got fewer hits than its haystack could give" in done.stdout


SLOW = """
import time
def open_memory(items, vectors):
    def search(query, k):
        if query.text in FAILING:
            time.sleep(0.1)
            raise RuntimeError("out of luck")
        return [(items[0].id, 1.0)]
    return search
open_memory.needs_vectors = False
FAILING = {%s}
"""


def test_failed_queries_that_took_too_long_break_a_p95(tmp_path: Path) -> None:
    (tmp_path / "moody.py").write_text(SLOW % repr(FERRY))
    beir(tmp_path / "team")
    words = ("evaluate", "team", "--store", "python:moody:open_memory", "--folder", "result", "--keep-going")
    assert recallbench(*words, cwd=tmp_path).returncode == 1
    # One of four queries failed after 100 ms: the p95 of four is their slowest.
    for limit, outcome, code in ((50, "falls short", 1), (60_000, "cannot tell", 0)):
        (tmp_path / "recallbench.toml").write_text(f'[result.memory]\nfolder = "result"\np95_ms = {limit}\n')
        gate = recallbench("gate", "--format", "json", cwd=tmp_path)
        (threshold,) = json.loads(gate.stdout)["thresholds"]
        assert (threshold["outcome"], gate.returncode) == (outcome, code)
        assert 100 <= threshold["observed"] < 60_000
        assert threshold["n"] == 4


def test_a_gate_over_failed_queries_alone_still_shows_the_other_thresholds(tmp_path: Path) -> None:
    memory = MEMORY.replace("def open_memory", "from collections import Counter\nCALLS = Counter()\ndef open_memory")
    memory = memory.replace("if query.text in FAILING:", "CALLS[query.text] += 1\n        if CALLS[query.text] == 3:")
    (tmp_path / "moody.py").write_text(memory % "''")
    beir(tmp_path / "team")
    words = ("evaluate", "team", "--store", "python:moody:open_memory", "--folder", "result", "--keep-going")
    assert recallbench(*words, cwd=tmp_path).returncode == 1
    (tmp_path / "recallbench.toml").write_text(
        '[result.memory]\nfolder = "result"\np95_ms = 60000\n[result.memory.at_least]\n"recall_any@10" = 0.5\n'
    )
    gate = recallbench("gate", cwd=tmp_path)
    assert gate.returncode == 0
    assert "4 timed queries of result failed" in gate.stdout
    assert "recall_any@10" in gate.stdout
