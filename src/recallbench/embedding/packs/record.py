"""The record of a pack that somebody uses: what was checked of it, sealed with the user's own key."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from recallbench.embedding.own_key import Seal
from recallbench.embedding.packs.manifest import PackManifest, Sha256
from recallbench.errors import InputError
from recallbench.protocol.packed_vectors import NOBODY, SIGNER, USER, ComparedBy
from recallbench.reading import document
from recallbench.whole_file import write_whole

NAME = "pack.json"


class AgreedTexts(NamedTuple):
    """Texts of a pack that were embedded again, and agreed."""

    texts: int
    cosine: float
    """The lowest."""


class PackSignature(BaseModel):
    """The signature of a pack, by a key that its user named."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    key: Sha256
    """The id of the key."""
    public_key: Sha256
    """Its 32 bytes."""
    envelope: dict[str, Any]
    """As the file beside the pack has it."""
    compared: int
    """The texts that whoever signed it had embedded again."""
    cosine: float | None


class PackRecord(BaseModel):
    """A pack as its user knows it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    manifest: PackManifest
    sha256: Sha256
    """Of the file."""
    compared: int
    """The texts that the user had embedded again."""
    cosine: float | None
    signature: PackSignature | None
    used: int
    """When it was put into the cache, in nanoseconds; of several packs of the same texts the last one counts."""

    @property
    def comparison(self) -> tuple[AgreedTexts | None, ComparedBy]:
        """The comparison that counts, and whose it is: the user's own, else that of whoever signed."""
        if self.cosine is not None:
            return AgreedTexts(self.compared, self.cosine), USER
        if self.signature is not None and self.signature.cosine is not None:
            return AgreedTexts(self.signature.compared, self.signature.cosine), SIGNER
        return None, NOBODY

    def origin(self) -> Mapping[str, Any]:
        """Return what environment.json holds of it: the manifest, and the signature where there is one."""
        manifest = self.manifest.model_dump()
        return {"manifest": manifest, **({"signature": self.signature.model_dump()} if self.signature else {})}


def write_record(folder: Path, record: PackRecord, seal: Seal) -> None:
    """Write the record of a pack into its folder."""
    body = record.model_dump_json().encode()
    write_whole(folder / NAME, body + b"\n" + seal.of(body, b"").hex().encode() + b"\n")


def read_record(folder: Path, seal_of: Callable[[str], Seal]) -> PackRecord | None:
    """Return the record in a folder; None for one that this user did not write, or that was changed since.

    `seal_of` gives the seal of this user under a fingerprint's hash.
    """
    try:
        body, sealed, *_ = document(folder / NAME).split(b"\n")
        record = PackRecord.model_validate_json(body)
    except (InputError, ValueError, ValidationError):
        return None
    expected = seal_of(record.manifest.fingerprint_sha256).of(body, b"").hex().encode()
    return record if hmac.compare_digest(expected, sealed) else None
