"""The keyed hash that makes a kept vector one's own: whoever lacks the key can't make it for another vector."""

from __future__ import annotations

import hashlib

SIZE = 16


class Seal:
    """Seals under one user's key and one encoder's fingerprint."""

    def __init__(self, key: bytes, fingerprint_sha256: str) -> None:
        # The fingerprint goes into the key, so that no row can be carried over from another encoder's cache.
        self._key = hashlib.blake2b(fingerprint_sha256.encode(), key=key, person=b"vectors").digest()
        self.owner = hashlib.blake2b(key=key, person=b"owner", digest_size=8).hexdigest()
        """Tells users of one cache apart, and nothing of the key."""

    def of(self, head: bytes, vector: bytes) -> bytes:
        """The seal of a row: over the text's hash, its token count, its cut, and every byte of the vector."""
        return hashlib.blake2b(head + vector, key=self._key, digest_size=SIZE).digest()
