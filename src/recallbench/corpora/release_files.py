"""The files of a release on disk: each hashed once, then read one after the other, again and again."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from recallbench.corpora.release import Release, combined_sha256
from recallbench.corpora.stream import Stream
from recallbench.reading import regular

TOLD = 3
"""Differing files that are named one by one."""


class ReleaseFiles:
    """The files of a corpus below a folder, by their names in its repository."""

    def __init__(self, root: Path, release: Release, corpus: str) -> None:
        self.path = root
        self._release = release
        self._corpus = corpus

    @cached_property
    def streams(self) -> dict[str, Stream]:
        """Every file that is there and belongs to the corpus, by name; raises InputError for one that leaves it."""
        there = {name for name in self._release.files if (self.path / name).is_file()}
        for pattern in self._release.patterns:
            there |= {path.relative_to(self.path).as_posix() for path in self.path.glob(pattern)}
        return {
            name: Stream(regular(self.path / name, self.path), self._corpus, self._release.files.get(name, ""))
            for name in sorted(there)
        }

    @cached_property
    def sha256(self) -> str:
        """One hash over the names and hashes of these files."""
        return combined_sha256(self._hashes)

    @property
    def differences(self) -> str:
        """Which files are not those of the release, in words; empty where all are."""
        there, registered = self._hashes, self._release.files
        told = [
            *(f"{name} is missing" for name in registered if name not in there),
            *(f"{name} is one too many" for name in there if name not in registered),
            *(
                f"{name} has sha256 {there[name]} instead of {sha256}"
                for name, sha256 in registered.items()
                if there.get(name, sha256) != sha256
            ),
        ]
        more = f"; and {len(told) - TOLD} more" if len(told) > TOLD else ""
        return "; ".join(told[:TOLD]) + more

    @property
    def remedy(self) -> str:
        """What makes them the files of the release: taking away what is one too many, and fetching what differs."""
        registered = self._release.files
        surplus = [name for name in self._hashes if name not in registered]
        told = f"{', '.join(surplus[:TOLD])}{f' and {len(surplus) - TOLD} more' if len(surplus) > TOLD else ''}"
        steps = [f"move {told} out of the folder"] if surplus else []
        if any(self._hashes.get(name) != sha256 for name, sha256 in registered.items()):
            steps.append(f"`recallbench fetch {self._corpus}` gets the files of the release")
        return "; ".join(steps)

    @cached_property
    def _hashes(self) -> dict[str, str]:
        return {name: stream.sha256 for name, stream in self.streams.items()}
