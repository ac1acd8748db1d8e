"""An encoder that runs elsewhere or in the user's own code: what it does between text and vector is not known here."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from recallbench.embedding.embedder import Matrix
from recallbench.embedding.encoders import Role
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.embedding.vector_agreement import Difference
from recallbench.errors import InputError

TOLERATED = Difference(0.999, 1e-2)
"""How far two of its vectors of one text may lie apart: many compute in 16 bits, and in whatever batches come."""
TRIAL = "A text to learn the width of a vector from."


class OutsideEncoder(TextEncoder[str]):
    """Texts go out, vectors come back, and each is checked."""

    may_change: ClassVar[bool] = True
    tolerated = TOLERATED
    max_tokens = None

    @cached_property
    def stored_dims(self) -> int:
        """Learnt from one text."""
        return int(self.vectors([TRIAL], "passage").shape[1])

    @abstractmethod
    def vectors(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return a row for each text, of whatever width."""

    def tokenise(self, texts: Sequence[str], role: Role) -> Sequence[tuple[str, int, int]]:
        return [(text, 0, len(text)) for text in texts]

    def embed(self, contents: Sequence[str], role: Role) -> Matrix:
        vectors = self.vectors(contents, role)
        if vectors.shape[1] != self.stored_dims:
            raise self.unfit(f"vectors of {self.stored_dims} numbers, as before", f"{vectors.shape[1]} numbers")
        return vectors

    def checked(self, answer: Any, texts: int) -> Matrix:
        """Return the rows of an answer; raises InputError for what is no row of numbers per text."""
        try:
            vectors = np.asarray(answer, np.float32)
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:
            raise self.unfit("a row of numbers for each text, all of one length", str(error)) from error
        if vectors.ndim != 2 or len(vectors) != texts or not vectors.shape[1]:
            shape = " × ".join(map(str, vectors.shape)) or "a single value"
            raise self.unfit("a row of numbers for each text", f"{shape} for {texts} text{'s' * (texts > 1)}")
        return vectors

    def unfit(self, expected: str, found: str) -> InputError:
        """Return the error for an answer that can't be used."""
        return InputError(
            f"{self.title} gave no usable vectors", expected=expected, found=found[:200], remedy=self.remedy
        )
