"""A run with the protocol's own encoder on a machine that will never hold its weights, and what it is called."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from pack_makers import made_up_pack
from recallbench.citing.keys import private_key
from recallbench.corpora.miniature import write_locomo
from recallbench.corpora.registry import open_corpus
from recallbench.corpora.stream import sha256_of
from recallbench.embedding.packs.record import AgreedTexts
from recallbench.embedding.packs.signature import pack_statement
from recallbench.protocol.frozen import load
from recallbench.retrieval.selection import select_haystacks
from recallbench.signed_statement import sign

CORPUS = ("--corpus-file", "mini.json", "--allow-deviation", "dataset")
NOT_THE_FILE = ["RB-CORPUS", "RB-DATASET-PINNED", "RB-GRANULARITY"]
RUN = ("run", "locomo", *CORPUS, "--store", "exact", "-q")


def signed_pack(folder: Path, name: str, file: Path) -> None:
    """Put a pack of dragon-plus into a folder, as a lab with the weights would sign it, and the lab's key."""
    corpus = open_corpus(name, rules=load(), environ={}, file=file, allow_dataset_deviation=True)
    corpus.survey()
    haystacks = list(select_haystacks(corpus.haystacks(), pool=False, limit=None))
    manifest = made_up_pack(folder / "p.safetensors", haystacks, sha256=corpus.sha256)
    assert recallbench("keys", "safe/k", cwd=folder).returncode == 0
    statement = pack_statement("p", sha256_of(folder / "p.safetensors"), manifest, AgreedTexts(32, 0.9999998), ())
    (folder / "p.safetensors.attestation.json").write_text(sign(statement, private_key(folder / "safe/k")))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A miniature of LoCoMo with such a pack."""
    folder = tmp_path_factory.mktemp("lab")
    write_locomo(folder / "mini.json")
    signed_pack(folder, "locomo", folder / "mini.json")
    return folder


@pytest.fixture
def user(place: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(place, tmp_path / "user"))


def stated(folder: Path) -> Any:
    return json.loads((folder / "metrics.json").read_text())


def failing(audited: str) -> list[str]:
    return [line.split()[1] for line in audited.splitlines() if line.lstrip().startswith("fail ")]


def test_with_the_key_of_who_compared_nothing_departs_in_the_vectors(user: Path) -> None:
    used = recallbench("vectors", "use", "p.safetensors", "--key", "safe/k.pub", "--corpus-file", "mini.json", cwd=user)
    assert used.returncode == 0
    assert "its vectors (the weights are not here: missing: facebook/dragon-plus-context-encoder/" in used.stdout
    assert "the protocol calls that a deviation" not in used.stdout
    assert used.stdout.splitlines()[-1].endswith("; next: recallbench run locomo")
    assert recallbench(*RUN, "--folder", "r", cwd=user).returncode == 0
    metrics = stated(user / "r")
    assert [deviation["kind"] for deviation in metrics["deviations"]] == ["dataset", "store"]
    assert metrics["protocol"]["clarifications"][-2:] == [17, 18]
    assert (metrics["embedder"]["name"], metrics["embedder"]["canonical"]) == ("dragon-plus", "dragon-plus")
    assert metrics["embedder"]["fingerprint"]["backend"] == "torch/cuda"
    assert metrics["embedder"]["pack"]["compared_by"] == "whoever signed it"
    audited = recallbench("audit", "r", "--corpus-file", "mini.json", "--verbose", cwd=user)
    assert failing(audited.stdout) == NOT_THE_FILE
    assert "pass        RB-PACK " in audited.stdout


@pytest.mark.real_data
def test_over_the_registered_file_only_the_store_departs(tmp_path: Path, locomo_file: Path) -> None:
    """What is left to a canonical run is a server with the extension."""
    env = {"LOCOMO_DATA_DIR": str(locomo_file.parent)}
    signed_pack(tmp_path, "locomo", locomo_file)
    assert recallbench("vectors", "use", "p.safetensors", "--key", "safe/k.pub", cwd=tmp_path, env=env).returncode == 0
    done = recallbench("run", "locomo", "--store", "exact", "--folder", "r", "-q", "--verdict", cwd=tmp_path, env=env)
    assert "deviation: store: exact instead of pgmnemo" in done.stdout
    assert done.stdout.count("deviation: ") == 1
    audited = recallbench("audit", "r", cwd=tmp_path, env=env)
    assert failing(audited.stdout) == []
    assert "pending     RB-COMMITTED" in audited.stdout


def test_without_a_key_the_result_departs_in_the_vectors(user: Path) -> None:
    used = recallbench("vectors", "use", "p.safetensors", cwd=user)
    fault = "a pack that neither its user, nor a signer whose key was named, compared with the weights"
    assert f"; the protocol calls that a deviation: {fault}; next: recallbench run locomo" in used.stdout
    assert recallbench(*RUN, "--folder", "r", cwd=user).returncode == 0
    metrics = stated(user / "r")
    assert {deviation["kind"]: deviation["detail"] for deviation in metrics["deviations"]}["vectors"] == fault
    assert (metrics["embedder"]["pack"]["compared_by"], metrics["embedder"]["pack"]["key"]) == ("", "")
    audited = recallbench("audit", "r", "--corpus-file", "mini.json", cwd=user)
    assert failing(audited.stdout) == NOT_THE_FILE
    # Put on record like any other.
    words = ("history", "add", "--kind", "deviation", "--title", "A pack of nobody", "--deviation", "vectors on locomo")
    assert recallbench(*words, "--text", "It was all we had.", "--file", "HISTORY.md", cwd=user).returncode == 0
    assert "- Deviation: vectors on locomo" in (user / "HISTORY.md").read_text()


def test_a_text_that_the_pack_lacks_ends_the_run(user: Path) -> None:
    assert recallbench("vectors", "use", "p.safetensors", cwd=user).returncode == 0
    conversations = json.loads((user / "mini.json").read_text())
    conversations[0]["qa"][0]["question"] += " Really?"
    (user / "mini.json").write_text(json.dumps(conversations))
    done = recallbench(*RUN, "--folder", "r", cwd=user)
    assert done.returncode == 3
    assert "none of the packs of dragon-plus that are used here is of this corpus" in done.stderr


def test_the_published_baseline_wants_texts_that_no_pack_has(user: Path) -> None:
    assert recallbench("vectors", "use", "p.safetensors", cwd=user).returncode == 0
    done = recallbench(*RUN, "--folder", "r", "--reproduce", "baseline-v0.2.1", cwd=user)
    assert done.returncode == 3
    assert "the pack of dragon-plus lacks a text of this run, and the weights are not here" in done.stderr
    assert not (user / "r").exists()
