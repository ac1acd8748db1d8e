"""What a result states of an encoder of one's own must be what a run with such a one states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mutations import Change, Mutation, document, environment, thoroughly
from test_audit_mutations import assert_seen, audited

from commandline import recallbench
from minilm_folder import save_model
from recallbench.embedding.fingerprint import fingerprint_digest

pytestmark = pytest.mark.marked
RUN = ("run", "canary-locomo", "--limit", "1", "--store", "exact", "--backend", "torch", "-q")
ENCODERS = {
    "folder": ("path:model", "--max-tokens", "64"),
    "function": ("python:my_encoder:embed",),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of results by name; the function's vectors were reused from an earlier run."""
    folder = tmp_path_factory.mktemp("own")
    save_model(folder / "model", pooling="cls", prompts={"query": "search_query: "})
    (folder / "my_encoder.py").write_text("def embed(texts):\n    return [[float(len(text)), 1.0] for text in texts]\n")
    for name, words in {"first": ENCODERS["function"], **ENCODERS}.items():
        (folder / name).mkdir()
        done = recallbench(*RUN, "--embedder", *words, "--folder", f"{name}/result", cwd=folder)
        assert done.returncode == 0
    return folder


def account(**to: Any) -> Change:
    """Set entries of the embedder's account."""
    return thoroughly(document("environment.json", lambda content: content["embedding"].update(to)))


def facts(**to: str | None) -> Change:
    """Set facts of the fingerprint, and its hash with them; None takes one out."""

    def edit(content: Any) -> None:
        embedder = content["embedder"]
        changed = {**embedder["fingerprint"], **to}
        embedder["fingerprint"] = {name: value for name, value in changed.items() if value is not None}
        embedder["fingerprint_sha256"] = fingerprint_digest(embedder["fingerprint"])

    return thoroughly(document("metrics.json", edit))


def renamed(name: str) -> Change:
    """Name the encoder otherwise, wherever that is stated."""

    def edit(content: Any) -> None:
        (content["embedder"] if "embedder" in content else content["embedding"]).update(
            {"name": name} if "embedder" in content else {"encoder": name}
        )

    options = document("environment.json", lambda content: content["options"].update(embedder=name))
    return thoroughly(document("metrics.json", edit), document("environment.json", edit), options)


CASES = (
    ("folder", Mutation("pinned after all", "RB-RECORDED", facts(pinned="yes: trust me"))),
    ("folder", Mutation("without a word on pinning", "RB-RECORDED", facts(pinned=None))),
    ("folder", Mutation("of another pooling", "RB-RECORDED", facts(pooling="any kind"))),
    ("folder", Mutation("with a hash that is none", "RB-RECORDED", facts(**{"sha256 passage/config.json": "0"}))),
    ("folder", Mutation("with a fact of its own", "RB-RECORDED", facts(quality="excellent"))),
    ("folder", Mutation("by a name that nobody types", "RB-RECORDED", renamed("path:a/b"))),
    ("folder", Mutation("read to another length", "RB-OPTIONS", environment("options", "max_tokens", to=65))),
    ("folder", Mutation("read to no length", "RB-RECORDED", facts(max_tokens=None))),
    ("folder", Mutation("by another backend", "RB-EMBEDDING", facts(backend="function/its own"))),
    ("folder", Mutation("in no time", "RB-EMBEDDING", account(seconds={}))),
    ("function", Mutation("that counts tokens", "RB-EMBEDDING", account(tokens=9))),
    ("function", Mutation("computed by nobody", "RB-EMBEDDING", account(computed_with=[]))),
    ("function", Mutation("that tells questions apart", "RB-RECORDED", facts(roles="perhaps"))),
    ("function", Mutation("with a length", "RB-RECORDED", facts(max_tokens="512"))),
    ("function", Mutation("again with a low cosine", "RB-EMBEDDING", account(embedded_again_worst_cosine=0.998))),
    ("function", Mutation("that is an endpoint", "RB-RECORDED", renamed("http://127.0.0.1:1/v1#m"))),
    ("function", Mutation("with a usage nobody records", "RB-EMBEDDING", account(price=3))),
)  # fmt: skip


@pytest.mark.parametrize("name", list(ENCODERS))
def test_the_genuine_results_pass(results: Path, tmp_path: Path, name: str) -> None:
    report = audited(results / name / "result", tmp_path, None)
    assert [(check.code, check.observed) for check in report.checks if check.status != "pass"] == []
    again = json.loads((results / name / "result" / "environment.json").read_text())["embedding"]["embedded_again"]
    assert again == (9 if name == "function" else 0)


@pytest.mark.parametrize(("name", "mutation"), CASES, ids=lambda case: case if isinstance(case, str) else case.name)
def test_a_change_is_seen(results: Path, tmp_path: Path, name: str, mutation: Mutation) -> None:
    assert_seen(audited(results / name / "result", tmp_path, mutation), mutation)
