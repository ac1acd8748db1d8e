"""What a result states of the pack that its vectors are of must be what the pack and its signature state."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from mutations import Change, Mutation, document, environment, metrics, thoroughly
from test_audit_mutations import assert_seen, audited

from commandline import recallbench
from pack_makers import EMBEDDER, pack, use, write_encoder
from stages import sampled


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `signed/result` and `unsigned/result`, over the same pack."""
    place = tmp_path_factory.mktemp("packed")
    write_encoder(place)
    file = pack(place)
    assert recallbench("keys", "safe/k", cwd=place).returncode == 0
    words = ("attest", "c.safetensors", "--key", "safe/k", "--embedder", EMBEDDER, "-q")
    assert recallbench(*words, cwd=place).returncode == 0
    for name, key in (("signed", ("--key", place / "safe/k.pub")), ("unsigned", ())):
        user = place / name
        user.mkdir()
        assert use(user, file, *map(str, key)).returncode == 0
        run = ("run", "canary-locomo", "--store", "exact", "--embedder", EMBEDDER, "--folder", "result", "-q")
        assert recallbench(*run, cwd=user).returncode == 0
    return place


def part(**to: Any) -> Change:
    """Set what metrics.json states of the pack."""
    return thoroughly(document("metrics.json", lambda content: content["embedder"]["pack"].update(to)))


def manifest(**to: Any) -> Change:
    """Set what environment.json states of the manifest."""
    return thoroughly(document("environment.json", lambda content: content["pack"]["manifest"].update(to)))


def both(**to: Any) -> Change:
    """Set it in both files alike."""
    in_environment = document("environment.json", lambda content: content["pack"]["manifest"].update(to))
    return thoroughly(document("metrics.json", lambda content: content["embedder"]["pack"].update(to)), in_environment)


def signature(**to: Any) -> Change:
    return thoroughly(document("environment.json", lambda content: content["pack"]["signature"].update(to)))


def payload(content: dict[str, Any]) -> None:
    """Sign for another cosine without the key."""
    envelope = content["pack"]["signature"]["envelope"]
    told = json.loads(base64.b64decode(envelope["payload"]))
    told["predicate"]["compared"] = 31
    envelope["payload"] = base64.b64encode(json.dumps(told).encode()).decode()
    content["pack"]["signature"]["compared"] = 31


def taken(*names: str) -> Change:
    """Take the pack out of files."""

    def edit(content: Any) -> None:
        content.get("embedder", content).pop("pack", None)

    return thoroughly(*(document(name, edit) for name in names))


ZERO = "0" * 64
SIGNER = "whoever signed it"
CASES = (
    ("signed", Mutation("by another maker", "RB-PACK", part(maker="Bob"))),
    ("signed", Mutation("by another maker throughout", "RB-PACK", both(maker="Bob"))),
    ("signed", Mutation("on another machine throughout", "RB-PACK", both(machine="EPYC 9"))),
    ("signed", Mutation("of another file", "RB-PACK", part(sha256=ZERO))),
    ("signed", Mutation("of other vectors", "RB-PACK", both(vectors_sha256=ZERO))),
    ("signed", Mutation("of another encoder", "RB-PACK", manifest(encoder="minilm"))),
    ("signed", Mutation("of another corpus", "RB-PACK", manifest(corpus="locomo"))),
    ("signed", Mutation("of another dataset", "RB-PACK", manifest(dataset_sha256=ZERO))),
    ("signed", Mutation("with another fingerprint", "RB-PACK", manifest(fingerprint={"backend": "x"}))),
    ("signed", Mutation("of fewer texts", "RB-PACK", both(texts=100))),
    ("signed", Mutation("with a tag for a maker", "RB-RECORDED", both(maker="<b>Ann</b>"))),
    ("signed", Mutation("by another key", "RB-PACK", part(key=ZERO))),
    ("signed", Mutation("by no key", "RB-PACK", part(key=""))),
    ("signed", Mutation("by another public key", "RB-PACK", signature(public_key=ZERO))),
    ("signed", Mutation("by another id", "RB-PACK", signature(key=ZERO))),
    ("signed", Mutation("with an envelope that is none", "RB-PACK", signature(envelope={}))),
    ("signed", Mutation("with a payload of one's own", "RB-PACK", thoroughly(document("environment.json", payload)))),
    ("signed", Mutation("compared more", "RB-PACK", part(compared=64))),
    ("signed", Mutation("compared nearer", "RB-PACK", part(cosine=0.5))),
    ("signed", Mutation("compared by nobody", "RB-PACK", part(compared_by=""))),
    ("unsigned", Mutation("as if it were signed", "RB-PACK", part(compared=32, cosine=1.0, compared_by=SIGNER))),
    ("unsigned", Mutation("signed by an id alone", "RB-PACK", part(key=ZERO))),
    ("unsigned", Mutation("compared in no text", "RB-PACK", part(cosine=1.0, compared_by="whoever used it"))),
    ("unsigned", Mutation("compared in more than there are", "RB-PACK", part(compared=999, cosine=1.0))),
    ("unsigned", Mutation("without its manifest", "RB-PACK", environment("pack", to={}))),
    ("unsigned", Mutation("with more than a manifest", "RB-PACK", environment("pack", "more", to=1))),
    ("unsigned", Mutation("without a word in environment.json", "RB-PACK", taken("environment.json"))),
    ("unsigned", Mutation("without a word in metrics.json", "RB-EMBEDDING", taken("metrics.json"))),
    ("unsigned", Mutation("without a word but the count", "RB-EMBEDDING", taken("metrics.json", "environment.json"))),
    ("unsigned", Mutation("of which nothing was used", "RB-PACK", environment("embedding", "packed", to=0))),
    ("unsigned", Mutation("used more often than it is", "RB-PACK", environment("embedding", "packed", to=999))),
    ("unsigned", Mutation("over other vectors", "RB-PACK", metrics("embedder", "vectors_sha256", to=ZERO))),
)  # fmt: skip


@pytest.mark.parametrize("name", ["signed", "unsigned"])
def test_the_genuine_results_pass(results: Path, tmp_path: Path, name: str) -> None:
    report = audited(results / name / "result", tmp_path, None)
    assert [(check.code, check.observed) for check in report.checks if check.status != "pass"] == []
    [told] = [check.observed for check in report.checks if check.code == "RB-PACK"]
    assert told.startswith("a pack that Ann made on ")
    nobody = "nobody is known to have compared them with the encoder's"
    assert told.endswith("; whoever signed it compared 32 with the encoder's" if name == "signed" else nobody)


@pytest.mark.parametrize(
    ("name", "mutation"), sampled(CASES), ids=lambda case: case if isinstance(case, str) else case.name
)
def test_a_change_is_seen(results: Path, tmp_path: Path, name: str, mutation: Mutation) -> None:
    assert_seen(audited(results / name / "result", tmp_path, mutation), mutation)


def test_without_the_library_a_signature_can_not_be_told(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recallbench.audit.checks import pack as check

    monkeypatch.setattr(check, "missing_modules", lambda extra: ["securesystemslib"])
    report = audited(results / "signed" / "result", tmp_path, None)
    [found] = [one for one in report.checks if one.code == "RB-PACK"]
    assert (found.status, found.observed.partition(":")[0]) == (
        "cannot-tell",
        "a signature can't be checked without securesystemslib",
    )
    assert report.verdict.label == "UNVERIFIED"
