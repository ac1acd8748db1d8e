"""A corpus that its publishers keep in many files of a repository: what is registered of it."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.protocol.rules import CorpusRules


@dataclass(frozen=True, slots=True)
class Release:
    """The files of a corpus at one commit of their repository."""

    folder: str
    """The name of the folder that they are fetched to."""
    files: Mapping[str, str]
    """The sha256 of each file, by its path in the repository."""
    patterns: tuple[str, ...]
    """Where files of this corpus lie: another one there is one too many."""

    @property
    def sha256(self) -> str:
        """One hash over all names and hashes."""
        return combined_sha256(self.files)


def combined_sha256(files: Mapping[str, str]) -> str:
    """Return one hash for many files: that of the list which `sha256sum` prints of them, by name."""
    listed = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(files.items()))
    return hashlib.sha256(listed.encode()).hexdigest()


def read_release(file: Path, name: str) -> tuple[Release, CorpusRules]:
    """Return the files and the facts of a corpus from the TOML file that registers it."""
    with file.open("rb") as opened:
        tables: dict[str, Any] = tomllib.load(opened)
    shared, own = tables["release"], tables[name]
    files = tables["files"] if "files" in tables else own["files"]
    release = Release(shared.get("folder", name), files, tuple(own.get("patterns") or shared["patterns"]))
    rules = CorpusRules(
        name=name,
        paper=shared["paper"],
        source=shared["repository"],
        file=release.patterns[0],
        sha256=release.sha256,
        revision=shared["commit"],
        variable=shared["variable"],
        embedder="minilm",
        questions=own["questions"],
        with_evidence=own["with_evidence"],
        segments=sum(own["segments_per_scope"]),
        kinds=own["kinds"],
        segments_per_scope=tuple(own["segments_per_scope"]),
        forbidden_segments=0,
        bands={},
        baselines={},
        denominators=own["denominators"],
        scopes=len(own["segments_per_scope"]),
        abstentions=own.get("abstentions", 0),
        missing_turns=own.get("missing_turns", 0),
        unseen_gold=own.get("unseen_gold"),
        visible=own.get("visible", 0),
    )
    return release, rules
