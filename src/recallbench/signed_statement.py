"""A signed statement: in-toto Statement v1 in a DSSE envelope, Ed25519, made and read without any network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from recallbench.errors import InputError
from recallbench.extras import require
from recallbench.reading import parsed

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"


def statement_of(subjects: Mapping[str, str], predicate_type: str, predicate: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is signed: the sha256 of each file, by its name, and what is said of them. It holds no time."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": sha256}} for name, sha256 in subjects.items()],
        "predicateType": predicate_type,
        "predicate": dict(predicate),
    }


def sign(statement: Mapping[str, Any], signer: Any) -> str:
    """Return the envelope of a statement, as its file has it."""
    from securesystemslib.dsse import Envelope

    payload = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(signer)
    return json.dumps(envelope.to_dict(), indent=1) + "\n"


def read_signed(content: dict[str, Any], key: Any, predicate_type: str, path: Path) -> tuple[dict[str, Any], str]:
    """Return the statement in an envelope, and an empty text; else what is wrong with it, for this public key."""
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import Error, VerificationError

    try:
        envelope = Envelope.from_dict(deepcopy(content))  # it takes what it is given apart
    except (Error, ValueError, KeyError, TypeError, AttributeError) as error:
        return {}, f"{path.name} is no DSSE envelope: {type(error).__name__}: {error}"
    if envelope.payload_type != PAYLOAD_TYPE:
        return {}, f"the payload type is {envelope.payload_type!r}, not {PAYLOAD_TYPE}"
    try:
        envelope.verify([key], 1)
    except (Error, ValueError, TypeError) as error:
        if key.keyid not in envelope.signatures:
            by = ", ".join(str(keyid)[:16] for keyid in envelope.signatures) or "nobody"
            return {}, f"signed with another key: by {by}, required is {key.keyid[:16]}"
        if isinstance(error, VerificationError):
            return {}, "the signature does not fit: what was signed, or the signature, was changed"
        return {}, f"the signature can't be checked: {error}"
    signed = parsed(envelope.payload, path)
    for field, required in (("_type", STATEMENT_TYPE), ("predicateType", predicate_type)):
        if signed.get(field) != required:
            return {}, f"the signed statement has {field} {signed.get(field)!r}, not {required}"
    return signed, ""


def subjects_of(signed: Mapping[str, Any]) -> dict[str, str]:
    """Return the sha256 of each file that a statement is about; raises InputError where it states none."""
    try:
        return {str(file["name"]): str(file["digest"]["sha256"]) for file in signed["subject"]}
    except (KeyError, TypeError) as error:
        found = f"the signed statement can't be read: {type(error).__name__}: {error}"
        raise InputError("an attestation can't be used", found=found) from None


def public_hex(key: Any) -> str:
    """Return the 32 bytes of a public key."""
    return str(key.keyval["public"])


def key_of(public: str) -> Any:
    """Return the public key with these bytes; raises ValueError for what is none of Ed25519."""
    require("attest", "checking a signature")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from securesystemslib import signer as library

    signer: Any = library
    return signer.SSlibKey.from_crypto(Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)))
