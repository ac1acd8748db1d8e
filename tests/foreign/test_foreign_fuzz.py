"""No content of a foreign folder leads to a traceback or to VERIFIED."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallbench.errors import RecallBenchError
from recallbench.foreign.audit import audit_foreign
from recallbench.foreign.multiverse import survey

NUMBERS = st.one_of(st.integers(-5, 10**20), st.floats(), st.booleans(), st.none())
VALUES = st.recursive(
    st.one_of(NUMBERS, st.text(max_size=5), st.sampled_from(["D1", "D1:2", "c/1", "answer_1", "x_abs"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["n", "mean", "recall@10", "mrr", "ci95_lo", "ci95_hi", "overall", "by_x", "session"]),
            inner,
        ),
    ),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        "qi",
        "qid",
        "question_id",
        "conv_id",
        "category",
        "qtype",
        "question",
        "evidence",
        "ground_truth",
        "retrieved_top10",
        "retrieved_top1",
        "first_hit_rank",
        "mrr",
        "recall@10",
        "retrieval_results",
        "answer_session_ids",
        "haystack_session_ids",
    ]
)
IDS = st.lists(st.sampled_from(["D1", "D2", "c/1", "a", "D3:1"]), max_size=4)
LIKELY = st.fixed_dictionaries(
    {"qi": st.integers(0, 4), "evidence": IDS, "retrieved_top10": IDS},
    optional={
        "conv_id": st.sampled_from(["c", "conv-1"]),
        "first_hit_rank": NUMBERS,
        "mrr": NUMBERS,
        "category": NUMBERS,
    },
)
ROWS = st.lists(st.one_of(LIKELY, st.dictionaries(FIELDS, VALUES, max_size=6)), max_size=4)
METRICS = st.dictionaries(
    st.sampled_from(
        [
            "overall",
            "by_category",
            "by_qtype",
            "recall@10",
            "mrr@3",
            "ndcg@0",
            "dataset_sha256",
            "n_evaluated",
            "n_questions_total",
        ]
    ),
    VALUES,
)


WORDS = st.lists(
    st.one_of(
        st.text(max_size=6),
        st.sampled_from(
            ["recall@10", "MRR", " = ", "|", "\n", "---", "#", "0.5", "1e-999", "9e999", "[0.1, 0.2]", "50%"]
        ),
        st.sampled_from(["by_x", "baseline", "95% CI", "n", ".", "[.,.]"]),
    ),
    max_size=25,
).map("".join)


@pytest.mark.marked
@settings(max_examples=150, deadline=None)
@given(rows=ROWS, metrics=METRICS, cut=st.integers(0, 40), likely=st.booleans(), report=WORDS)
def test_a_hostile_folder_is_never_verified_nor_crashes(
    rows: list[dict[str, Any]], metrics: dict[str, Any], cut: int, likely: bool, report: str
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        if likely:
            metrics = {"overall": {"recall@10": {"n": 2, "mean": 0.5}, "mrr": 0.25}, **metrics}
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "metrics.json").write_text(json.dumps(metrics))
        (folder / "report.md").write_bytes(report.encode("utf-8", "surrogatepass"))
        (folder / "raw_retrievals.jsonl").write_text(text[: len(text) - cut] if cut < 20 else text)
        try:
            audit = audit_foreign(folder, (), {"RECALLBENCH_DATA_DIR": name})
            assert audit.verdict.label != "VERIFIED"
            assert [check for check in audit.checks if check.code == "RB-F-BROKEN"] == []
        except RecallBenchError:
            pass
        with contextlib.suppress(RecallBenchError):
            survey(folder, None, {"RECALLBENCH_DATA_DIR": name}, ("0.5",))


KEPT = st.fixed_dictionaries(
    {},
    optional={
        "sample_id": st.one_of(NUMBERS, st.just("conv-1")),
        "question": st.text(max_size=3),
        "category": NUMBERS,
        "evidence": IDS,
        "retrieved_ids": st.one_of(IDS, st.just(["session_1"])),
        "recall": NUMBERS,
        "topic": st.just("roles"),
        "tid": NUMBERS,
        "target_sids": st.one_of(VALUES, st.just([1])),
        "retrieved_sids": st.one_of(VALUES, st.just([1])),
        "retrieved_global": st.one_of(VALUES, st.just([1])),
        "hit_at_k": st.one_of(VALUES, st.booleans()),
        "query_id": st.just("q"),
        "query": st.text(max_size=3),
        "context": st.one_of(VALUES, st.just('## Memory 1\n"dia_id": "D1:1"')),
        "correct": st.booleans(),
        "meta": st.one_of(VALUES, st.just({"sample_id": "conv-1", "category": "x"})),
        "questionId": st.just("conv-1-q0"),
        "questionType": st.just("x"),
        "searchResults": st.one_of(VALUES, st.just([{"metadata": {"sessionId": "conv-1-session_1"}}])),
        "retrievalMetrics": VALUES,
        "response": st.just("x"),
        "speaker_1_memories": st.one_of(
            VALUES, st.just([{"timestamp": "1:00 pm on 1 May, 2023", "score": 0.5}]), st.just([])
        ),
        "speaker_2_memories": st.just([]),
    },
)
HEAD = {"dataset": "locomo", "split": "s", "memory_provider": "m", "run_name": "r", "mode": "rag"}
REPORT = {"provider": "m", "benchmark": "locomo", "runId": "r", "judge": "j", "answeringModel": "a", "summary": {}}


@pytest.mark.marked
@settings(max_examples=60, deadline=None)
@given(rows=st.lists(KEPT, min_size=1, max_size=3), form=st.integers(0, 3), cut=st.integers(0, 30))
def test_a_hostile_result_of_others_is_refused_or_read(rows: list[dict[str, Any]], form: int, cut: int) -> None:
    head = {**HEAD, "total_queries": len(rows), "correct": 1, "accuracy": 1.0}
    document: Any = (rows, {**head, "results": rows}, {**REPORT, "evaluations": rows}, {"0": rows})[form]
    text = json.dumps(document)
    with TemporaryDirectory() as name:
        (Path(name) / "results_x_top1.json").write_text(text[: len(text) - cut] if cut < 15 else text)
        for read in (lambda: audit_foreign(Path(name), (), {}), lambda: survey(Path(name), None, {}, ("0.5",))):
            with contextlib.suppress(RecallBenchError):
                read()
