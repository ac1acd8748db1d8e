"""A corpus in many files, as its repository publishes them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from recallbench.corpora.census import Oddities
from recallbench.corpora.entry import CorpusEntry
from recallbench.corpora.records import Haystack
from recallbench.corpora.release import Release, read_release
from recallbench.corpora.release_files import ReleaseFiles
from recallbench.corpora.sources import from_repository
from recallbench.corpora.stream import Stream
from recallbench.corpora.surveyed_corpus import SurveyedCorpus
from recallbench.protocol.rules import CorpusRules, Rules


class ReleaseCorpus(SurveyedCorpus):
    """Files below one folder, one in memory at a time. A reader gives `read`, and overrides what differs."""

    clustered = True

    def __init__(self, root: Path, facts: CorpusRules, rules: Rules, release: Release) -> None:
        super().__init__(facts, rules)
        self._files = ReleaseFiles(root, release, facts.name)

    @property
    def path(self) -> Path:
        return self._files.path

    @property
    def file(self) -> str:
        return self.facts.file

    @property
    def sha256(self) -> str:
        return self._files.sha256

    @property
    def differences(self) -> str:
        """Which files are not those of the release, in words; empty where all are."""
        return self._files.differences

    @property
    def remedy(self) -> str:
        """What to do about these differences."""
        return self._files.remedy

    def read_haystacks(self, oddities: Oddities) -> Iterator[Haystack]:
        return self.read(self._files.streams, oddities)

    @abstractmethod
    def read(self, files: Mapping[str, Stream], oddities: Oddities) -> Iterator[Haystack]:
        """Yield each haystack; `files` go by their names, and accepted oddities are counted in `oddities`."""


def release_entry(
    name: str,
    registered: Path,
    reader: Callable[[Path, CorpusRules, Rules, Release], ReleaseCorpus],
    write_miniature: Callable[[Path], None],
    *,
    licence: str,
    worth: str,
    timed: bool = False,
    unit: str = "",
    questions_of: str = "",
) -> CorpusEntry:
    """Declare a corpus that a TOML file registers; `worth` says what figures on it can be relied on for.

    It is `timed` where a question may see only what was said before it.
    """
    release, facts = read_release(registered, name)
    return CorpusEntry(
        name,
        lambda _: facts,
        lambda path, own, rules: reader(path, own, rules, release),
        write_miniature,
        clustered=ReleaseCorpus.clustered,
        licence=licence,
        worth=worth,
        timed=timed,
        unit=unit,
        questions_of=questions_of,
        release=release,
        download=from_repository,
    )
