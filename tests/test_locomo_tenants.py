"""LoCoMo as a labelled set whose tenants are its conversations: the same figures, and one for each tenant."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

from commandline import recallbench
from recallbench.corpora.registry import open_corpus
from recallbench.protocol.frozen import load

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "locomo" / "tenants.py"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("locomo_tenants", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_set_has_the_figures_of_the_corpus_and_its_conversations_as_tenants(tmp_path: Path) -> None:
    corpus = open_corpus("canary-locomo", rules=load(), environ={})
    assert script().write(corpus.haystacks(), tmp_path / "set") == (103, 158)
    for words in (("run", "canary-locomo"), ("evaluate", "set")):
        done = recallbench(*words, "--store", "bm25", "--folder", words[0], "-q", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    of_run, of_set = (json.loads((tmp_path / name / "metrics.json").read_text()) for name in ("run", "evaluate"))
    values = [{each["measure"]: each["value"] for each in of["estimates"]["overall"]} for of in (of_run, of_set)]
    assert values[0] == values[1]
    assert set(of_set["tenants"]) == {haystack.scope for haystack in corpus.haystacks()}
    (gold,) = {frozenset(json.loads(line)) for line in (tmp_path / "set" / "gold.jsonl").open()}
    assert gold == {"query_id", "query", "relevant", "tenant", "kind"}
