"""What is signed of a pack, and what a signature says to whoever names its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recallbench.embedding.packs.manifest import PackManifest
from recallbench.embedding.packs.record import AgreedTexts, PackSignature
from recallbench.errors import InputError
from recallbench.reading import is_finite
from recallbench.signed_statement import public_hex, read_signed, statement_of, subjects_of

PREDICATE_TYPE = "urn:recallbench:vectors:v1"


def pack_statement(
    name: str, sha256: str, manifest: PackManifest, comparison: AgreedTexts | None, not_checked: Sequence[str]
) -> dict[str, Any]:
    """Return what is signed: the hash of the file, what it states, and what the signer found."""
    predicate = {
        "manifest": manifest.model_dump(),
        "compared": 0 if comparison is None else comparison.texts,
        "cosine": None if comparison is None else comparison.cosine,
        "not_checked": list(not_checked),
    }
    return statement_of({name: sha256}, PREDICATE_TYPE, predicate)


def signature_of(content: dict[str, Any], key: Any, sha256: str, manifest: PackManifest, path: Path) -> PackSignature:
    """Return the signature in an envelope; raises InputError for one of another key, of another pack, or changed."""
    signed, fault = read_signed(content, key, PREDICATE_TYPE, path)
    if fault:
        raise _unfit(path, fault)
    predicate = signed.get("predicate")
    if not isinstance(predicate, Mapping):
        raise _unfit(path, "the signed statement has no predicate")
    if list(subjects_of(signed).values()) != [sha256]:
        raise _unfit(path, f"it is of another file than the one with the sha256 {sha256}")
    if predicate.get("manifest") != manifest.model_dump():
        raise _unfit(path, "it states another manifest than the pack's")
    compared, cosine = predicate.get("compared"), predicate.get("cosine")
    told = type(compared) is int and (cosine is None if compared == 0 else is_finite(cosine))
    if not told or not isinstance(compared, int) or compared < 0:
        raise _unfit(path, "it does not say how many texts were compared, and how near they came")
    return PackSignature(
        key=str(key.keyid),
        public_key=public_hex(key),
        envelope=content,
        compared=compared,
        cosine=None if cosine is None else float(cosine),
    )


def _unfit(path: Path, found: str) -> InputError:
    return InputError(
        f"{path} does not vouch for the pack",
        expected="an attestation of exactly this file, by the key that was named",
        found=found,
        remedy="ask whoever made the pack for its attestation and key; none of it was used",
    )
