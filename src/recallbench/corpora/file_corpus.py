"""A corpus in one JSON file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path

from recallbench.corpora.census import Oddities
from recallbench.corpora.records import Haystack
from recallbench.corpora.stream import Stream
from recallbench.corpora.surveyed_corpus import SurveyedCorpus
from recallbench.protocol.rules import CorpusRules, Rules


class FileCorpus(SurveyedCorpus):
    """A list of items in one file. A reader gives `read`, and overrides what differs."""

    def __init__(self, path: Path, facts: CorpusRules, rules: Rules) -> None:
        super().__init__(facts, rules)
        # What has no source has the hash that its user, or a result, says it has.
        self._stream = Stream(path, facts.name, facts.sha256 if facts.source else "")

    @property
    def path(self) -> Path:
        return self._stream.path

    @property
    def file(self) -> str:
        return self.path.name

    @property
    def sha256(self) -> str:
        return self._stream.sha256

    def read_haystacks(self, oddities: Oddities) -> Iterator[Haystack]:
        return self.read(self._stream, oddities)

    @abstractmethod
    def read(self, stream: Stream, oddities: Oddities) -> Iterator[Haystack]:
        """Yield each haystack in file order; accepted oddities are counted in `oddities`."""
