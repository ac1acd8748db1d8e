"""What makes vectors of texts, as the cache in front of it sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from recallbench.embedding.embedder import Matrix, ProofStatus
from recallbench.embedding.encoders import Role
from recallbench.embedding.options import Backend
from recallbench.embedding.stopwatch import Stopwatch
from recallbench.embedding.vector_agreement import TOLERATED, Difference
from recallbench.progress import Progress

Content = TypeVar("Content")
"""A text as an encoder takes it: token ids, or the text itself."""


class TextEncoder(ABC, Generic[Content]):
    """An encoder with its machinery. Nothing heavy is loaded until a fact or a vector of it is asked for."""

    name: str
    """As it is named on the command line, without what is of one machine alone."""
    title: str
    """As people know it."""
    batch_size: int
    one_sided: bool = True
    """Whether a text has the same vector as passage and as query."""
    may_change: ClassVar[bool] = False
    """Whether it could give other vectors under the same fingerprint: then cached ones are always checked first."""
    tolerated: Difference = TOLERATED
    """How far vectors of the same text may lie apart."""
    backends: Sequence[Backend] = ()
    """What --backend may name: the engines that may run it, where there is a choice."""
    remedy: str = ""
    """What to do about a vector that is of no use."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.stopwatch = Stopwatch()

    @property
    @abstractmethod
    def stored_dims(self) -> int:
        """Length of a stored vector."""

    @property
    @abstractmethod
    def max_tokens(self) -> int | None:
        """Tokens of a text that it sees; None where that can't be known."""

    @property
    @abstractmethod
    def backend(self) -> str:
        """What runs it, and where: `runtime/device`."""

    @property
    @abstractmethod
    def fingerprint(self) -> Mapping[str, str]:
        """All that decides the vectors."""

    @property
    @abstractmethod
    def computation(self) -> str:
        """A line on all that computes a vector and may change its last digits."""

    @property
    def notes(self) -> Sequence[str]:
        """Sentences for the user about choices that were made."""
        return ()

    @property
    def usage(self) -> Mapping[str, int]:
        """What an encoder that is paid for was asked for in this run."""
        return {}

    @property
    def nodes(self) -> Mapping[str, int]:
        """The batches that each node of a cluster embedded; empty where all is done in this process."""
        return {}

    @property
    def proof_status(self) -> ProofStatus:
        """Whether its engine was compared with the reference."""
        return "not needed"

    @property
    def worst_cosine(self) -> float | None:
        """The lowest cosine that this comparison met."""
        return None

    @property
    def proof_texts(self) -> int:
        """The number of texts that were compared."""
        return 0

    def needs_texts(self) -> bool:
        """Whether texts of the corpus are to be collected for `prepare`."""
        return False

    def refuse_adding(self) -> None:
        """Raise where no vector that is computed now may stand beside those that are kept."""
        return

    def prepare(self, role: Role, texts: Sequence[str]) -> None:
        """Get ready to embed texts of this role. Afterwards `backend` may be another one than before."""
        return

    @abstractmethod
    def tokenise(self, texts: Sequence[str], role: Role) -> Sequence[tuple[Content, int, int]]:
        """Return each text as the encoder takes it, its tokens before any cut (0 where they can't be counted), and the
        character at which it is cut."""

    @abstractmethod
    def embed(self, contents: Sequence[Content], role: Role) -> Matrix:
        """Return one stored vector for each text of a batch."""

    def embed_batches(self, batches: Sequence[Sequence[Content]], role: Role) -> Iterator[Matrix]:
        """Yield what `embed` returns for each of these batches, in their order."""
        for contents in batches:
            yield self.embed(contents, role)

    def close(self) -> None:
        """Release whatever is heavy. May be called twice."""
        return
