"""What all rerankers have in common: how many candidates they read, and what becomes of the rest."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import ClassVar

from recallbench.errors import InputError, UsageError
from recallbench.escaping.terminal import shortened
from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.placement import above_rest
from recallbench.retrieval.stages.pool import ranked
from recallbench.retrieval.stages.stage import CandidateStage, Kind, QuestionBatch, StageOption, positive

TOP = StageOption("top", "How many candidates it reads; all where it is left out", parse=positive)
TOKEN_BUDGET = StageOption(
    "token_budget", "In place of `top`: as many candidates as fit into so many tokens for a question", parse=positive
)


class RerankStage(CandidateStage):
    """Reads the first candidates of a question, and gives them scores of its own; ties go by id.

    Those that it does not read keep their order below.
    """

    kind: ClassVar[Kind] = "rerank"
    needs_texts: ClassVar[bool] = True
    slow: ClassVar[bool] = True

    @classmethod
    def check(cls, options: Mapping[str, str]) -> None:
        if TOP.name in options and TOKEN_BUDGET.name in options:
            raise UsageError(f"a reranker takes {TOP.typed} or {TOKEN_BUDGET.typed}", expected="one of the two")

    @classmethod
    def most_looked_at(cls, options: Mapping[str, str], given: int) -> int:
        return min(given, TOP.read(options) or given)

    def __init__(self, name: str, options: Mapping[str, str]) -> None:
        """`name` is how errors call it."""
        self._name = name
        self._top: int | None = TOP.read(options)
        self._budget: int | None = TOKEN_BUDGET.read(options)
        self._known: dict[bytes, float] = {}
        """The scores of pairs of question and text, so that a comparison without another stage needs none twice."""

    @abstractmethod
    def tokens(self, question: str, texts: Sequence[str]) -> Sequence[int]:
        """Return how many tokens it reads for each text, the question included."""

    @abstractmethod
    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score for each text, higher for a better answer to the question."""

    def apply(self, batch: QuestionBatch, candidates: Candidates) -> Candidates:
        read = [self._read(batch, row, candidates.ids_of(row)[: self._top]) for row in range(len(batch))]
        head = Candidates.of(read)
        return above_rest(ranked(head.ids, head.scores, head.sizes), candidates)

    def _read(self, batch: QuestionBatch, row: int, ids: Sequence[int]) -> list[tuple[int, float]]:
        question, texts = batch.queries[row].text, [batch.memory.text(id) for id in ids]
        if self._budget is not None and texts:
            texts = texts[: sum(used <= self._budget for used in accumulate(self.tokens(question, texts)))]
        scores = self._finite_scores(question, texts) if batch.timed else self._scored_once(question, texts)
        return list(zip(ids, scores, strict=False))  # those that the budget left out have none

    def _scored_once(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the scores of texts, of which only those are read that were not read for this question before."""
        keys = [_key(question, text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        self._known.update(zip(new, self._finite_scores(question, list(new.values())), strict=True))
        return [self._known[key] for key in keys]

    def _finite_scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        scores = self.scores(question, texts) if texts else ()
        if len(scores) != len(texts):
            raise InputError(
                f"{self._name} left out candidates of the question {shortened(question)}",
                expected=f"{len(texts)} scores, one for each candidate",
                found=f"{len(scores)} scores",
            )
        for place, score in enumerate(scores, start=1):
            if not math.isfinite(score):
                raise InputError(
                    f"{self._name} gave no score to candidate {place} of the question {shortened(question)}",
                    expected="a finite number",
                    found=str(score),
                )
        return scores


def _key(question: str, text: str) -> bytes:
    # A digest, since the texts of a haystack are let go of when it is done.
    return blake2b(repr((question, text)).encode(), digest_size=16).digest()
