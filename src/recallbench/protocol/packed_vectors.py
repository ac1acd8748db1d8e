"""Whether vectors of a pack count as the embedder's own (clarification 18)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ComparedBy = Literal["whoever used it", "whoever signed it", ""]
USER: ComparedBy = "whoever used it"
SIGNER: ComparedBy = "whoever signed it"
NOBODY: ComparedBy = ""


@dataclass(frozen=True, slots=True)
class PackRules:
    """What clarification 18 asks of a pack."""

    texts_embedded_again: int
    """Fewer only where the pack has fewer."""
    least_cosine: float


@dataclass(frozen=True, slots=True)
class PackedVectors:
    """What is known of the pack that a result rests on."""

    texts: int
    compared: int
    """Texts that were embedded again, and agreed."""
    cosine: float | None
    """The lowest of those; None where nothing was compared."""
    compared_by: ComparedBy
    beside: bool
    """Whether the result also rests on vectors that are not the pack's."""

    def fault(self, rules: PackRules) -> str:
        """Return why the vectors do not count as the embedder's own; empty where they do."""
        if self.beside:
            return "vectors beside those of the pack that was used"
        if not self.compared_by or self.cosine is None:
            return "a pack that neither its user, nor a signer whose key was named, compared with the weights"
        if self.compared < min(self.texts, rules.texts_embedded_again):
            return f"a pack of which {self.compared} texts were compared, not {rules.texts_embedded_again}"
        if self.cosine < rules.least_cosine:
            return f"a pack whose vectors lie a cosine of {self.cosine:.6f} from the embedder's"
        return ""
