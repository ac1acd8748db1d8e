"""Names that nothing has: which one was meant, and what to type instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.corpora.registry import CORPORA
from recallbench.embedding.encoders import ENCODERS
from recallbench.nearest_name import nearest_name


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("realtlak", "realtalk"),
        ("realtalk-turn", "realtalk-turns"),
        ("minllm", "minilm"),
        ("MiniLM", "minilm"),
        ("all-MiniLM-L6-v2", "minilm"),
        ("all-mpnet-base-v2", "mpnet"),
        ("sentence-t5-xxl", ""),
    ],
)
def test_the_nearest_name_is_found(name: str, meant: str) -> None:
    assert nearest_name(name, [*CORPORA, *ENCODERS]) == meant


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("fetch realtlak", "you may mean realtalk"),
        ("fetch hub:scifact", "`recallbench evaluate` fetches a set of the hub itself"),
        ("run realtalk --embedder minilm@128", "what to do: --embedder minilm --max-tokens 128"),
        ("run realtalk --embedder minilm --max-tokens 9999", "what to do: --max-tokens 512, or leave it out"),
        ("run hub:lmeb#LoCoMo", "recallbench evaluate 'hub:lmeb#LoCoMo'"),
        ("run realtalk --corpus-file one.json", "found: a file; realtalk is a folder"),
        ("evaluate realtalk", "what to do: recallbench run realtalk"),
        ("table parent", "what to do: recallbench table parent/*"),
    ],
)
def test_a_refusal_tells_what_to_type(tmp_path: Path, words: str, remedy: str) -> None:
    (tmp_path / "one.json").touch()
    inside = tmp_path / "parent" / "bm25_20261120"
    inside.mkdir(parents=True)
    for name in ("raw_retrievals.jsonl", "manifest.json"):
        (inside / name).touch()
    done = recallbench(*words.split(), cwd=tmp_path)
    assert (done.returncode, remedy in done.stderr) == (2, True)
