"""A reranker behind an endpoint, as Cohere, Jina, TEI and others offer one: POST /rerank lies below its address.

    POST /rerank  {"model": "…", "query": "…", "documents": ["…", "…"], "top_n": 2}
                  -> {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}],
                      "model": "…", "usage": {"total_tokens": 12}}                      (the last two may be missing)

Every candidate is to get a score; their order does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from recallbench.addresses import RERANKER
from recallbench.escaping.terminal import shortened
from recallbench.model_endpoint import GIVEN_UP, ModelEndpoint, recorded_model
from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.endpoint_options import EndpointOptions, NamedEndpoint
from recallbench.retrieval.stages.rerank import TOKEN_BUDGET, TOP, RerankStage
from recallbench.retrieval.stages.stage import QuestionBatch, StageOption, StageRequest
from recallbench.usage import Usage

OPTIONS = EndpointOptions.of(RERANKER, 60)
CHARACTERS = 4
"""Characters of a token, where only an estimate can be had: the endpoint's tokenizer is its own."""


class EndpointRerankStage(RerankStage):
    """Asks for the scores of all candidates of a question at once."""

    method: ClassVar[str] = "endpoint"
    summary: ClassVar[str] = "asks a reranker behind an endpoint"
    options: ClassVar[tuple[StageOption, ...]] = (
        OPTIONS.address,
        OPTIONS.model,
        OPTIONS.key_from,
        TOP,
        TOKEN_BUDGET,
        *OPTIONS.patience,
    )
    asks_endpoint: ClassVar[bool] = True

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        return cls(request, OPTIONS.read(request))

    @classmethod
    def endpoint_status(cls, request: StageRequest) -> tuple[bool, str, str]:
        return OPTIONS.status(request)

    def __init__(self, request: StageRequest, named: NamedEndpoint) -> None:
        super().__init__(request.name, request.options)
        self._endpoint = ModelEndpoint(
            named.name, request.environ, named.part, give_up=named.give_up, note=request.note
        )
        self._at_once = named.at_once
        self._seconds = named.seconds
        self._timing = Usage()
        """Of questions that were asked once more to time them."""

    @classmethod
    def states(cls, options: Mapping[str, str]) -> Mapping[str, str]:
        return OPTIONS.states(options)

    def settings(self) -> Mapping[str, str]:
        answered = ", ".join(sorted({recorded_model(model) for model in self._endpoint.answered})) or "not stated"
        model = recorded_model(self._endpoint.model)
        told = {"endpoint": self._endpoint.address, "model": model, "model as answered": answered}
        told |= {GIVEN_UP: words} if (words := self._endpoint.given_up) else {}
        budget = f"estimated, {CHARACTERS} characters each"
        return told if self._budget is None else {**told, "tokens of the budget": budget}

    @property
    def at_once(self) -> int:
        return self._at_once

    @property
    def usage(self) -> Usage:
        return self._endpoint.usage - self._timing

    def circumstances(self) -> Mapping[str, Any]:
        return {
            "requests": self._endpoint.sent,
            "requests_again": self._endpoint.again,
            "answers_without_usage": self._endpoint.uncounted,
            "tokens_of_timing": self._timing.document(),
        }

    def apply(self, batch: QuestionBatch, candidates: Candidates) -> Candidates:
        before = self._endpoint.usage
        reranked = super().apply(batch, candidates)
        if batch.timed:
            self._timing += self._endpoint.usage - before
        return reranked

    def tokens(self, question: str, texts: Sequence[str]) -> Sequence[int]:
        return [math.ceil((len(question) + len(text)) / CHARACTERS) for text in texts]

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        def lacking(answer: Any) -> str:
            return "" if _results(answer, len(texts)) is not None else _EXPECTED

        answer = self._endpoint.ask_in_time(
            "/rerank",
            {"query": question, "documents": list(texts), "top_n": len(texts)},
            f"scoring {len(texts)} candidates of the question {shortened(question)}",
            seconds=self._seconds,
            lacking=lacking,
        )
        results = _results(answer, len(texts))
        assert results is not None
        return [results[index] for index in sorted(results)]

    def close(self) -> None:
        self._endpoint.close()


_EXPECTED = 'such as {"results": [{"index": 0, "relevance_score": 0.9}]}, each index once'


def _results(answer: Any, texts: int) -> dict[int, float] | None:
    """Return the scores by index, with nan for those that are no number; None for an answer of another form."""
    listed = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return None
    results: dict[int, float] = {}
    for entry in listed:
        index = entry.get("index") if isinstance(entry, dict) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < texts or index in results:
            return None
        score = entry.get("relevance_score")
        number = isinstance(score, int | float) and not isinstance(score, bool)
        results[index] = float(score) if number else math.nan
    return results
