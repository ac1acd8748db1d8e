"""A pack of real weights: made by one engine, compared with another, used where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import recallbench
from labelled_sets import beir
from offline import offline
from pack_makers import without_libraries

pytestmark = pytest.mark.marked
RUN = ("evaluate", "small", "--store", "exact", "--embedder", "minilm", "-q")
SET = ("--corpus-file", "small")
WORDS = ("bread", "rain", "tax", "music", "bees", "maps", "glass", "wool", "chess", "salt", "snow", "paint", "frogs")
WORDS += ("clocks", "moss", "rope")


def test_minilm_from_machine_to_machine(tmp_path: Path) -> None:
    maker, user = tmp_path / "maker", tmp_path / "user"
    maker.mkdir()
    user.mkdir()
    texts = [f"Note {number} is about {word}." for number, word in enumerate(WORDS)]
    documents = [{"_id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    queries = [{"_id": f"q{number}", "text": f"Which note is about {word}?"} for number, word in enumerate(WORDS)]
    gold = "".join(f"q{number}\td{number}\t1\n" for number in range(len(WORDS)))
    for place in (maker, user):
        beir(place / "small", documents, queries, test=f"query-id\tcorpus-id\tscore\n{gold}")
    words = ("vectors", "pack", "small", "--embedder", "minilm", "--backend", "torch", "--maker", "Ann", "-q")
    assert recallbench(*words, cwd=maker).returncode == 0
    file = maker / "minilm-labelled-small.safetensors"
    checked = recallbench("vectors", "verify", file, *SET, "--backend", "openvino", "--json", "-q", cwd=maker)
    found = json.loads(checked.stdout)
    assert (found["compared"], found["not_checked"]) == (32, ["who vouches for it (--key NAME.pub)"])
    assert 0.999999 <= found["cosine"] <= 1
    assert recallbench(*RUN, "--backend", "torch", "--folder", "r", cwd=maker).returncode == 0

    bare = without_libraries(user)
    assert recallbench("vectors", "use", file, *SET, "-q", cwd=user, env=bare).returncode == 0
    done = offline("-m", "recallbench", *RUN, "--folder", "r", cwd=user, env=bare)
    assert (done.returncode, done.packets) == (0, 0)
    made, packed = (json.loads((place / "r/metrics.json").read_text())["embedder"] for place in (maker, user))
    assert packed.pop("pack")["maker"] == "Ann"
    assert packed == made
    assert (user / "r/run.trec").read_bytes() == (maker / "r/run.trec").read_bytes()

    # Where the weights are, they may be asked for by their engine: then the pack is left alone.
    assert recallbench("vectors", "use", file, *SET, "--backend", "torch", "-q", cwd=maker).returncode == 0
    for backend, used in (("auto", True), ("torch", True), ("openvino", False)):
        assert recallbench(*RUN, "--backend", backend, "--folder", backend, cwd=maker).returncode == 0
        stated = json.loads((maker / backend / "metrics.json").read_text())["embedder"]
        assert (("pack" in stated), stated["fingerprint"]["backend"]) == (used, "torch/cpu" if used else "openvino/cpu")
        audited = recallbench("audit", backend, *SET, cwd=maker)
        assert "holds, not committed" in audited.stdout.splitlines()[0]
