"""What is said of a pack, to the word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pack_makers import MadeUpEmbedder, haystack, made_up_pack
from recallbench.embedding.packs.manifest import PackManifest
from recallbench.embedding.packs.record import AgreedTexts, PackRecord, PackSignature
from recallbench.embedding.packs.verification import CheckedPack
from recallbench.reports.conclusions.packs import (
    checked_lines,
    conclude_checked,
    conclude_made,
    conclude_signed,
    conclude_used,
)

FILE = Path("p.safetensors")
KEY = "ab" * 32
NO_WEIGHTS = "its vectors (the weights are not here: missing: x)"


@pytest.fixture
def manifest(tmp_path: Path) -> PackManifest:
    return made_up_pack(tmp_path / "p", [haystack("a", ["we met"], ["who?"])], embedder=MadeUpEmbedder())


@pytest.fixture
def signature() -> PackSignature:
    return PackSignature(key=KEY, public_key=KEY, envelope={}, compared=32, cosine=0.9999999)


@pytest.fixture
def checked(manifest: PackManifest) -> CheckedPack:
    return CheckedPack(manifest, "0" * 64, texts_checked=True, not_checked=(NO_WEIGHTS,))


def record(checked: CheckedPack, signature: PackSignature | None = None, **of_manifest: object) -> PackRecord:
    texts, cosine = checked.comparison or (0, None)
    told = checked.manifest.model_copy(update=of_manifest)
    return PackRecord(manifest=told, sha256="0" * 64, compared=texts, cosine=cosine, signature=signature, used=1)


def test_a_pack_that_was_made(manifest: PackManifest) -> None:
    assert str(conclude_made(manifest, FILE)) == (
        "Packed 2 vectors of dragon-plus for locomo into p.safetensors; nobody vouches for it yet; "
        "next: recallbench attest p.safetensors --key ~/.config/recallbench/release"
    )


def test_what_was_checked_and_what_was_not(checked: CheckedPack, signature: PackSignature) -> None:
    told = conclude_checked(checked, FILE)
    assert (str(told), told.tone) == (
        "p.safetensors holds: checked its bytes, its texts; not checked: who vouches for it (--key NAME.pub); "
        f"{NO_WEIGHTS}; next: recallbench vectors use p.safetensors",
        "open",
    )
    whole = replace(checked, comparison=AgreedTexts(32, 0.99999996), signature=signature, not_checked=())
    told = conclude_checked(whole, FILE)
    assert (str(told), told.tone) == (
        "p.safetensors holds: checked its bytes, its texts, 32 texts embedded again, its signature by abababababababab…"
        "; next: recallbench vectors use p.safetensors",
        "good",
    )
    assert checked_lines(whole) == {
        "bytes": "as they were made",
        "texts": "those of the corpus, in its order",
        "vectors": "32 texts embedded again, a cosine of 0.9999999 or more",
        "signature": "by the key abababababababab…, who compared 32 texts",
    }
    alone = signature.model_copy(update={"compared": 0, "cosine": None})
    assert (
        checked_lines(replace(whole, signature=alone))["signature"] == "by the key abababababababab…, who compared none"
    )


def test_the_use_of_one_says_what_its_results_may_be_called(checked: CheckedPack, signature: PackSignature) -> None:
    told = conclude_used(checked, record(checked), FILE)
    assert (str(told), told.tone) == (
        "Runs of dragon-plus on locomo take their 2 vectors from p.safetensors now; checked its bytes, its texts; the "
        "protocol calls that a deviation: a pack that neither its user, nor a signer whose key was named, compared "
        "with the weights; next: recallbench run locomo",
        "open",
    )
    signed = replace(checked, signature=signature)
    told = conclude_used(signed, record(signed, signature), FILE)
    assert (str(told), told.tone) == (
        "Runs of dragon-plus on locomo take their 2 vectors from p.safetensors now; checked its bytes, its texts, its "
        "signature by abababababababab…; next: recallbench run locomo",
        "good",
    )
    of_canary = record(checked, encoder="minilm", corpus="canary-locomo")
    assert str(conclude_used(checked, of_canary, FILE)).endswith(
        "its texts; next: recallbench run canary-locomo --embedder minilm"
    )
    of_set = record(checked, encoder="path:model", corpus=f"labelled/team@{'0' * 64}")
    assert str(conclude_used(checked, of_set, FILE)) == (
        "Runs of path:model on team take their 2 vectors from p.safetensors now; checked its bytes, its texts; "
        "next: recallbench evaluate DIR --embedder path:model"
    )


def test_a_signature_says_what_its_owner_compared(checked: CheckedPack) -> None:
    told = conclude_signed(checked, FILE, Path("safe/k"))
    assert (str(told), told.tone) == (
        f"Signed p.safetensors with all that it states; not checked: {NO_WEIGHTS}; "
        "next: recallbench vectors use p.safetensors --key safe/k.pub",
        "open",
    )
    whole = replace(checked, comparison=AgreedTexts(32, 0.99999996), not_checked=())
    assert str(conclude_signed(whole, FILE, Path("safe/k"))) == (
        "Signed p.safetensors with all that it states; it says that 32 texts were embedded again and agreed; "
        "next: recallbench vectors use p.safetensors --key safe/k.pub"
    )
