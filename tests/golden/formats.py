"""The golden results: how each was made, and what machines read off them."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
INPUTS = HERE / "inputs"
RESULTS = HERE / "results"
EXPECTED = HERE / "expected"

HASH = ("--embedder", "hash")
SMALL = (*HASH, "--limit", "8", "--quiet")
TINY = ("--corpus-file", "locomo.json", "--allow-deviation", "dataset")
WORDS = ("--store", "callable", "--call", "memories:open_words")

RUNS: dict[str, tuple[str, ...]] = {
    "team_bm25": ("evaluate", "team", "--store", "bm25"),
    "team_exact": ("evaluate", "team", "--store", "exact", "--embedder", "minilm", "--backend", "openvino"),
    "team_failing": ("evaluate", "team", "--store", "callable", "--call", "memories:open_faulty", "--keep-going"),
    "answers_tokens": ("evaluate", "answers", "--store", "bm25", "--match", "tokens", "--match-threshold", "0.4"),
    "answers_hybrid": (
        *("evaluate", "answers", "--store", "exact", *HASH),
        *("--match", "hybrid", "--with-text"),
    ),
    "canary_exact": ("run", "canary-locomo", "--store", "exact", *SMALL),
    "canary_bm25": ("run", "canary-locomo", "--store", "bm25", "--limit", "8", "--quiet"),
    "canary_pgvector": ("run", "canary-locomo", "--store", "pgvector", *SMALL),
    "canary_weights": (
        *("run", "canary-locomo", "--store", "pgvector", "--weights", "cosine=1,bm25=0.5"),
        *("--scope", "pooled", "--depth", "10", *SMALL),
    ),
    "reproduction": ("run", "locomo", *WORDS, *TINY, "--reproduce", "baseline-v0.2.1"),
}
"""What makes each result again, byte for byte but for circumstances; `--folder` is added.

The vectors of `team_exact` come from `inputs/cache`, where an earlier run left them.
"""

KEPT_RUNS: dict[str, tuple[str, ...]] = {
    "canary_minilm": ("run", "canary-longmemeval", "--store", "exact", "--embedder", "minilm", "--limit", "4"),
}
"""Results whose vectors hang on the machine, or that take long: only read."""

PGMNEMO = ("run", "locomo", "--store", "pgmnemo", "--version", "v2.0", *HASH, *TINY)
REPEAT = ("repeat", "2", "locomo", *WORDS, *TINY, "--out", "repeat")
VERSIONS = ("versions", "1.0", "1.5", "2.0", "--corpus", "locomo", "--store", "pgmnemo", *HASH, *TINY, "--out", "v")
BLOCKED = ("run", "locomo", "--store", "pgmnemo", *HASH, *TINY, "--out", "blocked")
"""Made by a server with stand-ins of pgmnemo, or in folders that are named by the day."""

SIGNED = "signed/canary_bm25"
SIGNING = {"keys": ("keys", "../safe/key"), "attest": ("attest", SIGNED, "--key", "../safe/key")}
"""Signs with a key that is kept nowhere."""

NORMAL = ("--allow", "embedder,store", "--json", "--show", "1")
LABELLED = ("team_bm25", "team_exact", "team_failing", "answers_tokens", "answers_hybrid")
CANARY = ("canary_exact", "canary_bm25", "canary_pgvector", "canary_weights", "canary_minilm", "blocked")
LOCOMO = ("reproduction", "pgmnemo", "repeat/run_1", "repeat/run_2", "versions/1.0_20261119", "versions/2.0_20261119")


def _audit(names: tuple[str, ...], *more: str) -> tuple[str, ...]:
    return ("audit", *(f"results/{name}" for name in names), *more, "--json")


CHECKS: dict[str, tuple[str, ...]] = {
    "audit of labelled sets": _audit(LABELLED, "--corpus-file", "team", "--corpus-file", "answers"),
    "audit of canaries": _audit(CANARY),
    "audit of another LoCoMo": _audit(LOCOMO, "--corpus-file", "locomo.json"),
    "audit for publication": _audit(("canary_bm25",), "--publish"),
    "audit of what is attested": _audit(("canary_bm25",), "--require-attestation", "golden.pub"),
    "audit without the dataset": _audit(("team_bm25",)),
    "audit of what was altered": ("audit", "altered", "--json"),
    "compare two stores": ("compare", "results/canary_bm25", "results/canary_exact", *NORMAL),
    "compare with a drop": (
        *("compare", "results/canary_bm25", "results/canary_pgvector", *NORMAL),
        *("--measures", "recall_any@10,mrr@50", "--fail-if", "recall_any@10 drops 0.5", "--strict"),
    ),
    "compare results of a labelled set": ("compare", "results/team_bm25", "results/team_exact", *NORMAL),
    "compare results of text matched": ("compare", "results/answers_tokens", "results/answers_tokens", *NORMAL),
    "compare what is unlike": ("compare", "results/canary_bm25", "results/team_bm25", "--json"),
    "compare runs of TREC": ("compare", "old.trec", "new.trec", "--qrels", "qrels.trec", "--json", "--show", "3"),
    "compare repeats": ("compare", "results/repeat/run_1", "results/repeat/run_2", "--json", "--measures", "mrr@50"),
    "compare the committed result": ("compare", "committed", "committed", "--json", "--measures", "mrr@50"),
    "cite": ("cite", "results/canary_bm25", "--json"),
    "cite as deviation": ("cite", "results/canary_bm25", "--as-deviation", "--json"),
    "cite what is blocked": ("cite", "results/blocked", "--json"),
    "drift": ("drift", "results", "results/repeat", "results/versions", "--format", "json"),
    "drift of repeats": ("drift", "results/repeat", "--measure", "mrr@50", "--format", "json", "--fail-on-trend"),
    "gate": ("gate", "--format", "json"),
    "gate of another folder": ("gate", "lexical=results/canary_exact", "--format", "json"),
    "multiverse": ("multiverse", "results/canary_bm25", "--published", "0.875", "--json"),
    "multiverse of a labelled set": ("multiverse", "results/team_bm25", "--corpus-file", "team", "--json"),
    "evaluate files": ("evaluate", "--run", "old.trec", "--gold", "qrels.trec", "--k", "3", "--format", "json"),
    "evaluate a change": (
        *("evaluate", "--run", "old.trec", "--compare", "new.trec", "--gold", "qrels.trec", "--k", "3"),
        *("--format", "json"),
    ),
    "evaluate a result's files": (
        *("evaluate", "--run", "results/canary_bm25/run.trec", "--gold", "results/canary_bm25/qrels.trec"),
        *("--format", "json"),
    ),
}
"""What is read off the golden results, in a repository where they are committed."""
