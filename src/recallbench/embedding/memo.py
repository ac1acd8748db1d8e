"""Small facts remembered between runs: proofs, recorded hashes. One file each, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recallbench.errors import RecallBenchError
from recallbench.whole_file import write_errors, write_whole


class Memo:
    """Facts under a folder, each by everything that it depends on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def recall(self, key: Mapping[str, str]) -> dict[str, Any] | None:
        """Return the fact stored for exactly this key; an unreadable one counts as none."""
        try:
            record = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        fact = record.get("fact") if isinstance(record, dict) and record.get("key") == dict(key) else None
        return fact if isinstance(fact, dict) else None

    def remember(self, key: Mapping[str, str], fact: Mapping[str, Any]) -> None:
        """Store the fact; a later one replaces it."""
        path = self._path(key)
        remedy = "free some space, make the folder writable, or name another folder with --cache-dir"
        with write_errors(f"{path} can't be written", remedy=remedy, kind=RecallBenchError):
            write_whole(path, json.dumps({"key": dict(key), "fact": dict(fact)}, indent=1) + "\n")

    def _path(self, key: Mapping[str, str]) -> Path:
        digest = hashlib.sha256(json.dumps(dict(key), sort_keys=True).encode()).hexdigest()
        return self._folder / f"{digest[:32]}.json"
