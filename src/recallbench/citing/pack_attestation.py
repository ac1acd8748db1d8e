"""A signed statement over a pack of vectors, beside its file."""

from __future__ import annotations

from pathlib import Path

from recallbench.citing.attestation import attestation_path, write_attestation
from recallbench.citing.keys import private_key, public_key
from recallbench.embedding.packs.manifest import PackManifest
from recallbench.embedding.packs.record import PackSignature
from recallbench.embedding.packs.signature import pack_statement, signature_of
from recallbench.embedding.packs.verification import CheckedPack
from recallbench.errors import InputError
from recallbench.reading import document, parsed
from recallbench.signed_statement import sign


def attest_pack(path: Path, key: Path, checked: CheckedPack) -> Path:
    """Sign a pack with what was found of it, and write the envelope beside it."""
    statement = pack_statement(path.name, checked.sha256, checked.manifest, checked.comparison, checked.not_checked)
    return write_attestation(attestation_path(path), sign(statement, private_key(key)), "the pack")


def read_pack_signature(path: Path, key: Path, manifest: PackManifest, sha256: str) -> PackSignature:
    """Return the signature beside a pack, by this public key; raises InputError where there is none that holds."""
    public = public_key(key)
    beside = attestation_path(path)
    if not beside.exists():
        raise InputError(
            f"nobody vouches for {path}",
            expected=f"{beside.name} beside it, signed with {key}",
            found="no such file",
            remedy="ask whoever made the pack for it, or leave out --key; none of it was used",
        )
    return signature_of(parsed(document(beside), beside), public, sha256, manifest, beside)
