"""The folder of valid files that cases are made from: golden inputs and results, examples, and what commands make."""

from __future__ import annotations

import json
import shutil
from base64 import b64decode
from pathlib import Path

from canary_sets import canary_set, production_log
from fuzzing.trial import in_silence, run_words
from golden.formats import INPUTS, RESULTS
from labelled_sets import EXPECTING, SAYING, beir, jsonl
from pack_makers import EMBEDDER, write_encoder
from recallbench.corpora.registry import write_miniature

ROOT = Path(__file__).resolve().parents[2]
SLOW = shutil.ignore_patterns("hybrid-rerank*", "store-rerank*", "rerank-after*")
"""Their dry runs read hundreds of pairs for seconds; lexical-rerank.toml has the same stage."""
CORPORA = ("locomo", "longmemeval", "realtalk", "realtalk-turns", "realmem", "beam-100k")
SWEEP = """
[run]
corpus = "canary-locomo"
pipeline = "pipeline.toml"
embedder = "hash"
limit = 8
[parameters]
"rrf.k" = [1, 60]
k = [5, 10]
[baseline]
"""
PIPELINE = """
[[stage]]
kind = "search"
method = "dense"
[[stage]]
kind = "search"
method = "lexical"
depth = 20
[[stage]]
kind = "fuse"
method = "rrf"
k = 60
weights = [1.0, 0.5]
"""
PRICES = """
date = "2026-06-20"
currency = "USD"
answering = "a"
processor_hour = 0.04
gigabyte_month = 0.08
[models."a"]
fresh = 0.15
cache_read = 0.07
output = 0.6
"""
SETTINGS = """
store = "bm25"
limit = 5
label = "nightly"
quiet = true
allow-deviation = ["dataset"]
[set]
"""
QUIET = ("--quiet",)
PACK = "packs/plain.safetensors"
FEW = ("canary-locomo", "--limit", "6")
MADE: tuple[tuple[str, ...], ...] = (
    ("keys", "safe/key"),
    ("attest", "results/canary_bm25", "--key", "safe/key", *QUIET),
    ("run", *FEW, "--pipeline", "pipeline.toml", "--embedder", "hash", "--folder", "piped", *QUIET),
    ("sweep", "sweep.toml", "--out", "studies", "--cache-dir", "cache-of-sweep", *QUIET),
    ("latency", *FEW, "--store", "bm25", "--seconds", ".2", "--clients", "1", "--out", "studies", *QUIET),
    ("matrix", "--corpora", *FEW, "--encoders", "hash", "--out", "studies", *QUIET),
    ("evaluate", "big", "--store", "bm25", "--folder", "base", *QUIET),
    ("canary", "big", "--n", "100", "--log", "log.jsonl", "--result", "base", "--folder", "few"),
    ("sample", "log.jsonl", "--n", "10", "--save", "sample.jsonl"),
    ("vectors", "pack", "plain", "--embedder", EMBEDDER, "--maker", "Ann", "--save", PACK, *QUIET),
    ("attest", PACK, "--key", "safe/key", *QUIET),
)


def make(place: Path) -> list[str]:
    """Fill the folder; return the commands that made nothing, each with the reason."""
    shutil.copytree(INPUTS, place, dirs_exist_ok=True)
    (place / "settings/recallbench/vectors.key").chmod(0o600)
    shutil.copytree(RESULTS, place / "results")
    (place / "results/canary_bm25.attestation.json").unlink()
    (place / "corpora").mkdir()
    for name in CORPORA:
        write_miniature(name, place / "corpora" / (f"{name}.json" if name in CORPORA[:2] else name))
    shutil.copytree(ROOT / "examples" / "pipelines", place / "examples" / "pipelines", ignore=SLOW)
    texts = {"pipeline.toml": PIPELINE, "sweep.toml": SWEEP, "prices.toml": PRICES, "settings.toml": SETTINGS}
    for name, text in texts.items():
        (place / name).write_text(text, "utf-8")
    canary_set(place / "big")
    production_log(place / "log.jsonl")
    beir(place / "plain")
    (place / "open").mkdir()
    shutil.copy(place / "plain" / "corpus.jsonl", place / "open")
    _foreign(place / "foreign")
    _files_of_rankings(place / "files")
    _tables(place / "tables")
    _hub_set(place / "hub")
    _archives(place / "archives")
    _vectors(place / "vectors")
    _model(place / "model")
    (place / "safe").mkdir()
    (place / "packs").mkdir()
    write_encoder(place)
    failed = []
    for words in MADE:
        code, told = in_silence(lambda words=words: run_words(words))  # type: ignore[misc]
        if code != 0:
            failed.append(f"recallbench {' '.join(words)}: exit {code}: {told[-300:]}")
    if failed:
        return failed
    labelled = [json.loads(line) | {"relevant": ["d1"]} for line in (place / "sample.jsonl").read_text().splitlines()]
    jsonl(place / "labels.jsonl", labelled)
    envelope = json.loads((place / "results/canary_bm25.attestation.json").read_text())
    (place / "canary_bm25.statement").write_bytes(b64decode(envelope["payload"]))
    return failed


def _files_of_rankings(folder: Path) -> None:
    folder.mkdir()
    jsonl(folder / "gold.jsonl", [{"query_id": "q1", "query": "who", "relevant": ["a", "b"], "kind": "x"}, *EXPECTING])
    jsonl(folder / "run.jsonl", [{"query_id": "q1", "ranked": ["a", "c"]}, {"query_id": "ferry", "ranked": ["nine"]}])
    jsonl(folder / "texts.jsonl", SAYING)
    (folder / "gold.json").write_text(json.dumps({"q1": {"a": 1, "b": 2}, "q2": ["c"]}))
    (folder / "run.json").write_text(json.dumps({"q1": {"a": 0.5, "c": 0.25}, "q2": ["c", "d"]}))
    (folder / "run.trec").write_text("q1 Q0 a 1 2.0 x\nq1 Q0 c 2 1.0 x\nq2 Q0 c 1 0.5 x\n")
    (folder / "gold.trec").write_text("q1 0 a 1\nq1 0 b 2\nq2 0 c 1\n")
    (folder / "gold.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tc\t2\n")


def _foreign(folder: Path) -> None:
    """Results as other programs publish them."""
    for name in ("harness", "retrieval-log", "search-log"):
        (folder / name).mkdir(parents=True)
    metrics = {"overall": {"recall@10": {"n": 2, "mean": 0.5}, "mrr": 0.25}, "n_evaluated": 2, "by_category": {}}
    rows = [
        {"qi": i, "conv_id": "c", "category": 1, "evidence": ["D1"], "retrieved_top10": ["D1", "D2"], "mrr": 1.0}
        for i in range(2)
    ]
    (folder / "harness" / "metrics.json").write_text(json.dumps(metrics))
    jsonl(folder / "harness" / "raw_retrievals.jsonl", rows)
    (folder / "harness" / "report.md").write_text("| measure | n | mean |\n|---|---|---|\n| recall@10 | 2 | 0.5 |\n")
    kept = {"sample_id": "conv-1", "question": "q", "category": 1, "evidence": ["D1:1"], "retrieved_ids": ["session_1"]}
    head = {"dataset": "locomo", "split": "s", "memory_provider": "m", "run_name": "r", "mode": "rag"}
    document = {**head, "total_queries": 1, "correct": 1, "accuracy": 1.0, "results": [kept]}
    (folder / "retrieval-log" / "results_x_top1.json").write_text(json.dumps(document))
    said = {"speaker_1_memories": [{"timestamp": "1:00 pm on 1 May, 2023", "score": 0.5}], "speaker_2_memories": []}
    found = [{"question": "q", "category": 1, "evidence": ["D1:1"], "response": "x", **said}]
    (folder / "search-log" / "results.json").write_text(json.dumps({"0": found}))


def _tables(folder: Path) -> None:
    folder.mkdir()
    rows = [("who sails?", "oslo", "travel", "north"), ("where does it rain?", "bergen", "weather", "north")]
    for name, mark in (("answers.csv", ","), ("answers.tsv", "\t")):
        lines = [mark.join(row) for row in (("query", "relevant", "kind", "tenant"), *rows)]
        (folder / name).write_text("\n".join(lines) + "\n")
    jsonl(folder / "answers.jsonl", [{"query": row[0], "relevant": [row[1]], "tenant": row[3]} for row in rows])


def _hub_set(folder: Path) -> None:
    from recallbench.corpora.labelled_sets.hub_record import write_record
    from recallbench.corpora.records import HubFiles
    from recallbench.corpora.stream import sha256_of

    beir(folder)
    names = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()]
    files = {name: sha256_of(folder / name) for name in names}
    write_record(folder, HubFiles("team/set", "a" * 40, "", "", files, frozenset(), ""))


def _archives(folder: Path) -> None:
    import gzip

    folder.mkdir()
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(b'{"_id": "a", "text": "b"}\n' * 50, mtime=0))
    (folder / "answers.gz").write_bytes(gzip.compress(json.dumps([{"calls": []}]).encode(), mtime=0))
    # 300 MB of one letter in 300 kB.
    (folder / "bomb.gz").write_bytes(gzip.compress(b"[" + b" " * 300_000_000, 6, mtime=0))


def _vectors(folder: Path) -> None:
    import numpy as np

    from recallbench.embedding.own_key import Seal
    from recallbench.embedding.vector_cache import VectorCache

    cache = VectorCache(folder, 4, Seal(b"k" * 32, "a" * 64), {"encoder": "tiny"}, "numpy 1")
    cache.append([bytes([number]) * 32 for number in range(6)], [3] * 6, [0] * 6, np.ones((6, 4), np.float32) / 2)
    cache.close()


def _model(folder: Path) -> None:
    said = {
        "config.json": {"model_type": "bert", "hidden_size": 32, "max_position_embeddings": 512},
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
        "tokenizer_config.json": {"model_max_length": 512},
        "config_sentence_transformers.json": {"prompts": {"query": "query: ", "document": ""}},
        "tokenizer.json": {"model": {"type": "WordPiece", "vocab": {"a": 0}}},
    }
    for name, content in said.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    (folder / "model.safetensors").write_bytes(b"")
