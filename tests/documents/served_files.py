"""What a server on the loopback has in place of the hub, and of what others keep in their repositories.

Names and forms are those of the documents; of the contents only LoCoMo's questions are real, whose answers are those
of a memory that finds the first ten sessions whatever it is asked.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

SETS = ("mteb/scifact", "OWNER/NAME")
LMEB = "KaLM-Embedding/LMEB/Dialogue/LoCoMo"
SUBSETS = ("single_hop", "multi_hop", "temporal_reasoning", "open_domain", "adversarial")
PUBLISHED = {
    "mempalace": "MemPalace/mempalace/9b7cfc9940846f9bb06bdfe40476ca34b504ab4b/benchmarks/"
    "results_locomo_raw_session_top10_20260414_1634.json",
    "agent-memory-benchmark": "vectorize-io/agent-memory-benchmark/de83fa7816ab6bbb8a0ed63916f49f65300fb74b/outputs/"
    "locomo/cognee/rag/locomo10.json.gz",
    "mem0": "mem0ai/mem0/233c386b04a27157408339755f0e4ada773e6e30/evaluation/results/"
    "mem0_results_top_30_filter_False_graph_False.json",
    "pgmnemo": "pgmnemo/pgmnemo/359244bee0a52c75488286775e7f62227602c372/benchmarks/locomo/results/"
    "v0.2.1_session_20260509/",
}
"""Where each lies in the repository of its publisher."""


def sets_of_the_hub() -> dict[str, bytes]:
    """Two documents and a question under each name, and in each subset of a task of LMEB."""
    texts = {"a": "The ferry leaves at nine.", "b": "It rains."}
    asked = {"text": "When does the ferry leave?"}
    files = {}
    for name in SETS:
        files[f"{name}/corpus.jsonl"] = _lines({"_id": id, "text": text} for id, text in texts.items())
        files[f"{name}/queries.jsonl"] = _lines([{"_id": "q", **asked}])
        files[f"{name}/qrels/test.tsv"] = b"query-id\tcorpus-id\tscore\nq\ta\t1\n"
    files[f"{LMEB}/corpus.jsonl"] = _lines({"id": id, "text": text} for id, text in texts.items())
    files[f"{LMEB}/candidates.jsonl"] = _lines([{"scene_id": "s_0", "candidate_doc_ids": [*texts]}])
    for subset in SUBSETS:
        files[f"{LMEB}/{subset}/queries.jsonl"] = _lines([{"id": "s_0_q", **asked}])
        files[f"{LMEB}/{subset}/qrels.tsv"] = b"s_0_q\ta\t1\n"
    return {f"datasets/{name}": body for name, body in files.items()}


def published_rankings(locomo: Path) -> dict[str, bytes]:
    """Files of the forms that others published over the dataset, by the paths of their addresses."""
    body = locomo.read_bytes()
    rows = [*_questions(json.loads(body))]
    metrics = {
        "version": "v0.2.1",
        "dataset_sha256": hashlib.sha256(body).hexdigest(),
        "overall": {"recall@10": {"n": len(rows), "mean": 0.5}},
    }
    files = {
        PUBLISHED["mempalace"]: json.dumps([_as_mempalace(*row) for row in rows]).encode(),
        PUBLISHED["agent-memory-benchmark"]: gzip.compress(b"{}"),
        PUBLISHED["mem0"]: b"{}",
        f"{PUBLISHED['pgmnemo']}metrics.json": json.dumps(metrics).encode(),
        f"{PUBLISHED['pgmnemo']}raw_retrievals.jsonl": _lines(_as_pgmnemo(*row) for row in rows),
        f"{PUBLISHED['pgmnemo']}report.md": b"",
    }
    return {f"/{path}": body for path, body in files.items()}


Found = tuple[int, str, dict[str, Any], list[int], list[int]]


def _questions(conversations: Iterable[dict[str, Any]]) -> Iterator[Found]:
    """Yield number, conversation, question, sessions of the evidence, and sessions that are found."""
    number = 0
    for talk in conversations:
        sessions = [n for n in range(1, 100) if talk["conversation"].get(f"session_{n}")]
        for question in talk["qa"]:
            named = [word.split(":")[0].removeprefix("D") for word in question["evidence"] if ":" in word]
            gold = [*dict.fromkeys(int(word) for word in named if word.isdigit())]
            yield number, talk["sample_id"], question, gold, sessions[:10]
            number += 1


def _as_mempalace(_number: int, talk: str, question: dict[str, Any], gold: list[int], found: list[int]) -> object:
    kept = {name: question[name] for name in ("question", "category", "evidence")}
    recall = len({*gold} & {*found}) / len(gold) if gold else 1.0
    return {"sample_id": talk, **kept, "answer": "", "retrieved_ids": [f"session_{n}" for n in found], "recall": recall}


def _as_pgmnemo(number: int, talk: str, question: dict[str, Any], gold: list[int], found: list[int]) -> dict[str, Any]:
    rank = next((place for place, n in enumerate(found, start=1) if n in gold), None)
    kept = {"question": question["question"], "category": question["category"], "evidence": [f"D{n}" for n in gold]}
    ranked = {"retrieved_top10": [f"D{n}" for n in found], "first_hit_rank": rank, "mrr": 1 / rank if rank else 0.0}
    return {"qi": number, "conv_id": talk, **kept, **ranked}


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
