"""The rankings of a result of canary-locomo as pgmnemo publishes them."""

from __future__ import annotations

import json
from pathlib import Path

from recallbench.corpora.registry import open_corpus
from recallbench.protocol.frozen import load


def publish(result: Path, folder: Path) -> Path:
    """Write the folder, and return it."""
    folder.mkdir(parents=True)
    corpus = open_corpus("canary-locomo", rules=load(), environ={})
    names = {s.id: s.session.replace("session_", "D") for h in corpus.haystacks() for s in h.segments}
    kept = {row["question_id"]: row for row in map(json.loads, (result / "raw_retrievals.jsonl").open())}
    rows = []
    for number, question in enumerate(q for h in corpus.haystacks() for q in h.questions):
        if row := kept.get(question.id):
            ranked = [names[hit["id"]] for hit in row["hits"][:10]]
            gold = [names[id] for id in row["gold"]]
            rows.append(
                {"qi": number, "conv_id": question.scope, "category": 1, "question": question.text, "evidence": gold}
                | {"retrieved_top10": ranked, "first_hit_rank": None, "mrr": 0.0}
            )
    metrics = {
        "version": "v1",
        "dataset_sha256": corpus.sha256,
        "overall": {"recall@10": {"n": len(rows), "mean": 0.5}},
    }
    (folder / "metrics.json").write_text(json.dumps(metrics))
    (folder / "raw_retrievals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder
