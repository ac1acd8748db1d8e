"""What lies beside results keeps its form: vector caches, fingerprints, baselines; and what pgmnemo leaves."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from golden.batch import run_commands
from golden.formats import INPUTS, PGMNEMO, RESULTS, VERSIONS
from golden.likeness import assert_same_result, names, shape
from golden.reading import copy_inputs
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.fingerprint import (
    file_hashes,
    fingerprint,
    fingerprint_digest,
    source_facts,
    treatment_facts,
)
from recallbench.embedding.hashing import HashEmbedder
from recallbench.embedding.own_key import Seal
from recallbench.embedding.vector_cache import VectorCache
from recallbench.embedding.weights import FileResolver
from recallbench.progress import Silent
from stores.standin import database
from versioned import versioned_server

pytest_plugins = ["pytester"]

FINGERPRINTS = {
    "bge-m3": "b297ebc278f05905dbc22ad5f3aefb30f7a2a3a719651bbf9ce0ebbab319455b",
    "dragon-plus": "662889cddb1ed6f5831febbf9d64b019329ff6edca190188e28fe1e92e8457b6",
    "minilm": "c2f1c530e48ce63ef281d6d60ee6aef43dbf1598a63f166f7ccaa5cdab6efa4a",
    "mpnet": "01cff0c2cf61316e8413aa2a42b179083633c2f3b032314af96da6759fdabd16",
    "minilm-sre": "3d9aeeb051a47e96b2e239bdd0e3861d6e41ddb1933c1dbf720ceb11328c4dc1",
    "minilm-int8": "18341764bcd45550c48f4403cb019ed326e2ae8d672d468dc1a1e54197983053",
    "minilm-l3": "7009a76049fc8bab4313de89f649ebda4c7894f02e270ded5a86e40bc9d6821b",
    "bge-small-int8": "d9635ad3cb514cd2d6832a21460cb05413edeed84d0f61a5b35b55b26c3b5844",
    "wordllama": "23459ddb197a045b3dc447bd2f5519f529ddd28c8e3e5ea65278c12c1a387ab8",
    "nomic": "34014d619a1646500106d5eb124bc6da399ea2899fc888613a5e5210606f0b70",
    "hash": "550f33c0cc037bb606666e9f97e36d6a702a84fd52a1f429c9a757af34e320ed",
}
"""SHA-256 of each encoder's fingerprint, as if run by OpenVINO; the hash encoder has no backend. DRAGON+ has
files that are not pinned: of it, what is known without them."""
APPENDED = {
    "computed_with": "6e756d707920310a",
    "fingerprint.json": "7b0a2022656e636f646572223a202265220a7d0a",
    "index": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb0300000005000000fe5471d8"
    "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d0400000006000000dfcc46d1",
    "seals-418555d2561ba788": "04fb150a687a5226dc72d5da75d4e5de5a9ac537c2ed94051da8567bfc1286de",
    "vectors.f32": "0000803f000000009a99193fcdcc4c3f",
}
"""What two rows of two numbers leave in a new cache, in base 16."""
MEMORY = """
from recallbench import Case

CASES = [Case(f"question {i}", [f"d{i}", "shared"], kind="even" if i % 2 == 0 else "odd") for i in range(12)]

def search(query, k):
    number = int(query.split()[1])
    return [f"x{number}", f"d{number}", "shared"][number % 3 + MISSED :][:k]

def test_memory(recallbench):
    recallbench.compare(recallbench.evaluate(CASES, search, k=3))
"""


def test_encoders_keep_their_fingerprints(tmp_path: Path) -> None:
    dragon = ENCODERS["dragon-plus"]
    pinned = {name: spec for name, spec in ENCODERS.items() if spec is not dragon}
    prints = {
        name: fingerprint(spec, file_hashes(spec, FileResolver(name, {}, tmp_path, Silent())), "openvino/cpu")
        for name, spec in pinned.items()
    }
    found = {name: fingerprint_digest(facts) for name, facts in prints.items()}
    found |= {
        "dragon-plus": fingerprint_digest(source_facts(dragon) | treatment_facts(dragon)),
        "hash": HashEmbedder().fingerprint_sha256,
    }
    assert found == FINGERPRINTS
    (written,) = (INPUTS / "cache/vectors").iterdir()
    assert json.loads((written / "fingerprint.json").read_text()) == prints["minilm"]
    assert written.name == f"minilm-{FINGERPRINTS['minilm'][:16]}"


def test_a_cache_is_written_as_ever(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "c", 2, Seal(b"k" * 32, "f" * 64), {"encoder": "e"}, "numpy 1")
    keys = [hashlib.sha256(text).digest() for text in (b"a", b"b")]
    cache.append(keys, [3, 4], [5, 6], np.array([[1, 0], [0.6, 0.8]], np.float32))
    cache.close()
    assert {path.name: path.read_bytes().hex() for path in (tmp_path / "c").iterdir()} == APPENDED


def test_a_kept_baseline_is_read_and_written_as_ever(pytester: pytest.Pytester) -> None:
    words = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest")
    golden = (INPUTS / "baseline.json").read_bytes()
    test, kept = pytester.path / "test_recall.py", pytester.path / ".recallbench/test_recall/test_memory.json"
    test.write_text(MEMORY.replace("MISSED", "0"))
    pytester.runpytest_inprocess(*words, "--recallbench-update").assert_outcomes(passed=1)
    assert kept.read_bytes() == golden
    pytester.runpytest_inprocess(*words).assert_outcomes(passed=1)
    test.write_text(MEMORY.replace("MISSED", "1"))
    pytester.runpytest_inprocess(*words).assert_outcomes(failed=1)


@pytest.mark.marked
def test_stand_ins_of_pgmnemo_leave_the_same(tmp_path: Path) -> None:
    copy_inputs(tmp_path)
    with versioned_server() as server:
        outcomes = run_commands(tmp_path, {"versions": VERSIONS}, {"PGMNEMO_DSN": server.dsn})
        with database(server.dsn, "2.0") as dsn:
            words = (*PGMNEMO, "--folder", "pgmnemo")
            outcomes |= run_commands(tmp_path, {"pgmnemo": words}, {"PGMNEMO_DSN": dsn})
    assert [outcome.code for outcome in outcomes.values()] == [3, 0]
    made = {path.name.partition("_")[0]: path for path in (tmp_path / "v").iterdir()} | {"": tmp_path / "pgmnemo"}
    golden = {path.name.partition("_")[0]: path for path in (RESULTS / "versions").iterdir()} | {
        "": RESULTS / "pgmnemo"
    }
    assert made.keys() == golden.keys()
    for name in ("1.0", "2.0", ""):
        assert_same_result(made[name], golden[name], connection(made[name]), connection(golden[name]))
    assert names(made["versions"]) == names(golden["versions"])
    now, before = (
        json.loads((folder / "versions.json").read_text()) for folder in (made["versions"], golden["versions"])
    )
    assert shape(now) == shape(before)


def connection(folder: Path) -> str:
    """What a result says of the server that it was measured on."""
    told: str = json.loads((folder / "metrics.json").read_text())["store"]["evidence"]["connection"]
    return told
