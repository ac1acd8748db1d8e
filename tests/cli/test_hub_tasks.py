"""`recallbench evaluate hub:KaLM-Embedding/LMEB@<revision>#<task>`: LMEB's own layout, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from commandline import recallbench
from loopback_hub import LoopbackHub
from recallbench.results.metrics import Metrics

REVISION = "c" * 40
REPO = "KaLM-Embedding/LMEB"
NAME = f"hub:{REPO}@{REVISION}"
Rows = list[dict[str, Any]]


def jsonl(rows: Rows) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def qrels(*rows: str) -> bytes:
    return "".join(row.replace(" ", "\t") + "\n" for row in rows).encode()


CORPUS = jsonl(
    [
        {"id": "scene0_session_1_D1:1", "title": "Session 1", "text": "Ann: the ferry to Oslo leaves at nine."},
        {"id": "scene0_session_1_D1:2", "title": "Session 1", "text": "Ben: the ferry to Oslo is late."},
        {"id": "scene1_session_1_D1:1", "title": "", "text": "Cat: it rains in Bergen, and the ferry is late."},
    ]
)
CANDIDATES = jsonl(
    [
        {"scene_id": "scene0_x", "candidate_doc_ids": ["scene0_session_1_D1:2", "scene0_session_1_D1:1", "gone"]},
        {"scene_id": "scene1_x", "candidate_doc_ids": ["scene1_session_1_D1:1"]},
    ]
)
SUBSETS = ("single_hop", "multi_hop", "temporal_reasoning", "open_domain", "adversarial")
LOCOMO: dict[str, bytes] = {"corpus.jsonl": CORPUS, "candidates.jsonl": CANDIDATES}
for _subset in SUBSETS:
    LOCOMO[f"{_subset}/queries.jsonl"] = jsonl([{"id": "scene0_x_q1", "text": "When does the ferry to Oslo leave?"}])
    LOCOMO[f"{_subset}/qrels.tsv"] = qrels("scene0_x_q1 scene0_session_1_D1:1 1")
LOCOMO["multi_hop/queries.jsonl"] = jsonl(
    [
        {"id": "scene0_x_q1", "text": "Which ferry is late?"},
        {"id": "scene1_x_q1", "text": "Which ferry is late?"},
        {"id": "scene1_x_q2", "text": "Who speaks?"},
        {"id": "nowhere", "text": "Where does it rain?"},
    ]
)
LOCOMO["multi_hop/qrels.tsv"] = qrels(
    "scene0_x_q1 scene0_session_1_D1:2 2",
    "scene0_x_q1 scene0_session_1_D1:1 1",
    "scene1_x_q1 scene1_session_1_D1:1 1",
    "scene1_x_q2 scene0_session_1_D1:1 1",
    "nowhere scene1_session_1_D1:1 1",
)


class WorkingFolder:
    """A working folder with a data folder and a hub cache of its own."""

    def __init__(self, path: Path, hub: str) -> None:
        self.path, self.hub = path, hub
        self.set = path / "data" / "sets" / f"{REPO.replace('/', '--')}@{REVISION}#LoCoMo"

    def evaluate(self, name: str, *words: str) -> CompletedProcess[str]:
        env = {"HF_HOME": str(self.path / "hf"), "RECALLBENCH_DATA_DIR": str(self.path / "data")}
        variables = {**env, "HF_ENDPOINT": self.hub, "HF_HUB_OFFLINE": "0"}
        return recallbench("evaluate", name, "--store", "bm25", "-q", *words, cwd=self.path, env=variables)

    def metrics(self, folder: str) -> Metrics:
        return Metrics.model_validate_json((self.path / folder / "metrics.json").read_bytes())


def served(task: dict[str, bytes], folder: str = "Dialogue/LoCoMo") -> dict[str, bytes]:
    return {f"datasets/{REPO}/{folder}/{name}": body for name, body in task.items()}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[WorkingFolder]:
    with LoopbackHub(served(LOCOMO)) as hub:
        yield WorkingFolder(tmp_path, hub.url)


def test_each_query_is_answered_from_its_candidates(workspace: WorkingFolder) -> None:
    done = workspace.evaluate(f"{NAME}#LoCoMo", "--folder", "r")
    assert done.returncode == 0, done.stderr
    assert f"set: {REPO} at {REVISION}, task LoCoMo, in {workspace.set}" in done.stdout
    assert "sha256 of 12 files recorded at first use, not pinned" in done.stdout
    for line in (
        "1 query is judged by documents alone that are not there, and was passed over.",
        "judgements that name nothing which their query may be answered from: 1",
        "candidates that name no document: 1",
        "queries without candidates, which may be answered from the whole corpus: 1",
        "15 of the 15 counts of its subsets are not as published: queries of adversarial 1 instead of 446",
        "the mean of ndcg@10 over its 5 subsets, each counting once: 0.7047.",
    ):
        assert line in done.stdout
    # Four subsets with their gold second, 1 / log2(3), and one of three questions with all of it first. Over the seven
    # questions it would be (4 / log2(3) + 3) / 7 = .7891.
    report = (workspace.path / "r" / "report.md").read_text()
    for line in (
        "The mean of ndcg@10 over its 5 subsets, each counting once: 0.7047.",
        "| adversarial | 1 | 0.6309 |",
        "| multi_hop | 3 | 1.0000 |",
    ):
        assert line in report
    metrics = workspace.metrics("r")
    assert metrics.corpus.name.startswith(f"labelled/KaLM-Embedding--LMEB-{REVISION}-LoCoMo@")
    # Two scenes, and the whole corpus for the query that has no candidates.
    assert metrics.corpus.segments_per_scope == [2, 1, 3]
    assert metrics.corpus.kinds == {name: 3 if name == "multi_hop" else 1 for name in SUBSETS}
    assert metrics.labels is not None
    assert (metrics.labels.unanswerable, metrics.labels.unknown_gold, metrics.labels.unlisted) == (1, 1, 1)
    assert metrics.hub is not None
    assert (metrics.hub.task, len(metrics.hub.files)) == ("LoCoMo", 12)
    assert "adversarial/qrels.tsv" in [file.name for file in metrics.hub.files]
    rows = [json.loads(line) for line in (workspace.path / "r" / "raw_retrievals.jsonl").read_text().splitlines()]
    hits = {row["question_id"]: [hit["id"] for hit in row["hits"]] for row in rows}
    # Positions are those of the corpus, not of the candidates, which may begin with the answer.
    assert hits["multi_hop/scene0_x_q1"] == ["scene0_x/1", "scene0_x/0"]
    assert hits["multi_hop/scene1_x_q1"] == ["scene1_x/0"]
    assert set(hits["multi_hop/nowhere"]) == {"all/0", "all/1", "all/2"}
    gold = (workspace.path / "r" / "qrels.graded.trec").read_text().splitlines()
    assert "multi_hop/scene0_x_q1 0 scene0_x/1 200" in gold
    env = {"RECALLBENCH_DATA_DIR": str(workspace.path / "data")}
    audited = recallbench("audit", "r", "--failures", cwd=workspace.path, env=env)
    assert ": holds, not committed\n" in audited.stdout


def test_one_subset_is_fetched_alone_and_a_folder_is_read_like_the_hub(workspace: WorkingFolder) -> None:
    done = workspace.evaluate(f"{NAME}#LoCoMo/adversarial", "--folder", "one")
    assert done.returncode == 0, done.stderr
    folder = workspace.set.with_name(f"{workspace.set.name}+adversarial")
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert names == {
        "hub.json",
        "corpus.jsonl",
        "candidates.jsonl",
        *(f"adversarial/{n}" for n in ("queries.jsonl", "qrels.tsv")),
    }
    metrics = workspace.metrics("one")
    assert (metrics.retrieval.asked, metrics.corpus.segments_per_scope) == (1, [2])
    assert "subsets, each counting once" not in done.stdout
    env = {"RECALLBENCH_DATA_DIR": str(workspace.path / "data")}
    assert ": holds, not committed\n" in recallbench("audit", "one", cwd=workspace.path, env=env).stdout


def test_what_is_no_task_is_said(workspace: WorkingFolder) -> None:
    done = workspace.evaluate(f"{NAME}#LoCoMa")
    assert done.returncode == 2
    assert "KaLM-Embedding/LMEB has no task LoCoMa" in done.stderr
    assert "what to do: you may mean #LoCoMo" in done.stderr


def test_another_commit_may_lack_the_task(tmp_path: Path) -> None:
    with LoopbackHub(served(LOCOMO), revisions=("d" * 40,)) as hub:
        wrong = WorkingFolder(tmp_path, hub.url).evaluate(f"{NAME}#LoCoMo")
        lacking = WorkingFolder(tmp_path, hub.url).evaluate(f"hub:{REPO}@{'d' * 40}#TMD")
    assert (wrong.returncode, lacking.returncode) == (3, 3)
    assert "Dialogue/LoCoMo/corpus.jsonl of KaLM-Embedding/LMEB can't be fetched" in wrong.stderr
    assert "name another commit: hub:lmeb#TMD stands for one that has it" in lacking.stderr
