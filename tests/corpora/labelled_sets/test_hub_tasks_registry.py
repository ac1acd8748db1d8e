"""The tasks of LMEB, as data: names, folders, files and the counts that MTEB published."""

from __future__ import annotations

import pytest

from recallbench.corpora.labelled_sets.hub_set import find_hub_set
from recallbench.corpora.labelled_sets.hub_tasks import find_task, tasks_of
from recallbench.errors import UsageError

REPO = "KaLM-Embedding/LMEB"
QUERIES = {
    "EPBench": 3644,
    "KnowMeBench": 2162,
    "LoCoMo": 1976,
    "LongMemEval": 500,
    "REALTALK": 679,
    "TMD": 2134,
    "MemBench": 10000,
    "ConvoMem": 5867,
    "QASPER": 1335,
    "NovelQA": 1541,
    "PeerQA": 136,
    "CovidQA": 1111,
    "ESGReports": 36,
    "MLDR": 100,
    "LooGLE": 3052,
    "LMEB_SciFact": 188,
    "Gorilla": 598,
    "ToolBench": 1100,
    "ReMe": 1217,
    "Proced_mem_bench": 40,
    "MemGovern": 121475,
    "DeepPlanning": 120,
}


def test_the_tasks_have_the_published_counts() -> None:
    tasks = tasks_of(REPO)
    assert {name: sum(count.queries for count in task.counts.values()) for name, task in tasks.items()} == QUERIES
    assert sum(len(task.counts) for task in tasks.values()) == 193
    # The turns of REALTALK are those of the corpus realtalk-turns.
    assert {count.documents for count in tasks["REALTALK"].counts.values()} == {8944}
    assert tasks["LoCoMo"].counts["multi_hop"] == (280, 5882, 875)
    memory = dict.fromkeys(("Episodic", "Dialogue", "Semantic", "Procedural"), 0)
    for task in tasks.values():
        memory[task.folder.partition("/")[0]] += 1
    assert memory == {"Episodic": 2, "Dialogue": 6, "Semantic": 8, "Procedural": 6}


def test_each_file_lies_where_the_dataset_has_it() -> None:
    expected = {
        "PeerQA": ("corpus.jsonl", "queries.jsonl", "qrels.tsv", "candidates.jsonl"),
        "LoCoMo/adversarial": (
            "corpus.jsonl",
            "adversarial/queries.jsonl",
            "adversarial/qrels.tsv",
            "candidates.jsonl",
        ),
        "MemBench/emotion": tuple(
            f"emotion/{n}" for n in ("corpus.jsonl", "queries.jsonl", "qrels.tsv", "candidates.jsonl")
        ),
        "KnowMeBench/event_driven/temporal_reasoning": (
            "event_driven/corpus.jsonl",
            "event_driven/temporal_reasoning/queries.jsonl",
            "event_driven/temporal_reasoning/qrels.tsv",
        ),
    }
    assert {name: find_task(REPO, name).files for name in expected} == expected
    assert len(find_task(REPO, "MemGovern").files) == 144


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hub:lmeb", "holds 22 tasks, and none is named"),
        ("hub:lmeb#realtalk", "you may mean #REALTALK"),
        ("hub:lmeb#LoCoMo/multihop", "you may mean multi_hop"),
        (f"hub:team/trips@{'a' * 40}#LoCoMo", "team/trips is not known to hold tasks"),
        ("hub:scifact#LoCoMo", "mteb/scifact is not known to hold tasks"),
    ],
)
def test_what_is_no_task_is_said(name: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        find_hub_set(name)
    assert message in str(refused.value) + refused.value.remedy


def test_a_task_has_its_judgements_in_itself() -> None:
    with pytest.raises(UsageError, match="has its judgements in itself"):
        find_hub_set(f"hub:{REPO}@{'a' * 40}#LoCoMo", "b" * 40)
