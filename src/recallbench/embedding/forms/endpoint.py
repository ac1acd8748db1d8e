"""An embeddings endpoint as OpenAI has it: `https://host/v1#MODEL`; POST /embeddings lies below the address.

    POST /embeddings  {"model": "…", "input": ["…", …]}
                      -> {"data": [{"index": 0, "embedding": […]}, …], "model": "…", "usage": {"prompt_tokens": 12}}
    GET  /models      -> {"data": [{"id": "…"}, …]}     (only asked where no #MODEL is named)

The key goes into RECALLBENCH_EMBEDDER_TOKEN, and is never written.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cached_property
from typing import Any

import numpy as np

from recallbench.addresses import ENCODER
from recallbench.embedding.embedder import Matrix
from recallbench.embedding.encoders import Role
from recallbench.embedding.fingerprint import PINNED
from recallbench.embedding.forms.form import EncoderForm, EncoderRequest
from recallbench.embedding.forms.outside_encoder import OutsideEncoder
from recallbench.errors import RecallBenchError
from recallbench.model_endpoint import ADDRESS, MODEL, ModelEndpoint, recorded_endpoint, recorded_model

AT_ONCE = 64
"""Texts in one request at most."""
FIRST_SIZE, LARGEST_SIZE = 16_000, 400_000
"""Characters in one request: few at first, since a small machine takes a minute for what a large one does at once."""
QUICK, SLOW = 2.0, 15.0
"""Seconds of a request after which the next may be twice as large, or is to be half as large."""


class EndpointEncoder(OutsideEncoder):
    """Asks the endpoint for vectors, and counts what it says that they cost."""

    batch_size = AT_ONCE
    remedy = "look at the endpoint's own log; it has to answer as OpenAI's does"

    def __init__(self, request: EncoderRequest) -> None:
        super().__init__(request.progress)
        self._endpoint = ModelEndpoint(request.name, request.environ, ENCODER)
        self.name = self.title = self._endpoint.name
        self._size = FIRST_SIZE

    @property
    def backend(self) -> str:
        return "endpoint/elsewhere"

    @cached_property
    def fingerprint(self) -> Mapping[str, str]:
        dims = self.stored_dims
        return {
            "encoder": recorded_model(self.model),
            "endpoint": self._endpoint.address,
            "model": recorded_model(next(iter(self._endpoint.answered), "not stated")),
            "stored_dims": str(dims),
            "dtype": "float32",
            "backend": self.backend,
            PINNED: "no: an endpoint, which may change what it runs under a name",
        }

    @property
    def computation(self) -> str:
        return f"{recorded_model(self.model)} at {self._endpoint.address}"

    @property
    def usage(self) -> Mapping[str, int]:
        endpoint = self._endpoint
        return {"requests": endpoint.sent, "requests_again": endpoint.again, "tokens": endpoint.usage.prompt}

    @property
    def notes(self) -> Sequence[str]:
        tokens = self._endpoint.usage.prompt
        counted = f"{tokens:,} tokens" if tokens else "no tokens"
        return (f"the endpoint counted {counted} in {self._endpoint.sent:,} requests of this run",)

    @property
    def model(self) -> str:
        """The model's name: the one that was asked for, else the only one there is."""
        return self._endpoint.model

    def vectors(self, texts: Sequence[str], role: Role) -> Matrix:
        blocks, start = [], 0
        while start < len(texts):
            count, size = 1, len(texts[start])
            while start + count < len(texts) and size + len(texts[start + count]) <= self._size:
                size += len(texts[start + count])
                count += 1
            blocks.append(self._ask(texts[start : start + count]))
            start += count
        try:
            return np.concatenate(blocks)
        except ValueError as error:
            raise self.unfit("vectors of one length", str(error)) from error

    def close(self) -> None:
        self._endpoint.close()

    def _ask(self, texts: Sequence[str]) -> Matrix:
        since = time.monotonic()
        answer = self._endpoint.ask("/embeddings", {"input": list(texts)}, f"embedding a batch of {len(texts)}")
        seconds = time.monotonic() - since
        if seconds < QUICK:
            self._size = min(self._size * 2, LARGEST_SIZE)
        elif seconds > SLOW:
            self._size = max(self._size // 2, FIRST_SIZE // 8)
        rows = _rows(answer, len(texts))
        if rows is None:
            raise self.unfit('"data" with an entry for each text: "index" and "embedding"', repr(answer)[:200])
        if len(models := list(self._endpoint.answered)) > 1:
            raise self.unfit(f"answers of {models[0]}, as before", f"one of {models[1]}")
        return self.checked(rows, len(texts))


def _rows(answer: Any, count: int) -> list[Any] | None:
    """Return the vectors in the order of the texts; None for an answer without one for each."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        return None
    numbered = [(entry.get("index", place), entry.get("embedding")) for place, entry in enumerate(data)]
    placed = {place: vector for place, vector in numbered if isinstance(place, int)}
    if len(data) != count or placed.keys() != set(range(count)):
        return None
    return [placed[place] for place in range(count)]


def _recorded(name: str) -> str:
    return recorded_endpoint(name, ENCODER)


def _status(request: EncoderRequest) -> tuple[bool, str, str]:
    try:
        endpoint = ModelEndpoint(request.name, request.environ, ENCODER)
    except RecallBenchError as error:
        return False, error.brief, error.remedy
    with closing(endpoint):
        return endpoint.status()


ENDPOINT = EncoderForm(
    typed="https://HOST/v1#MODEL",
    summary="an embeddings endpoint as OpenAI has it",
    recorded=_recorded,
    open=EndpointEncoder,
    status=_status,
    facts={
        "encoder": MODEL.pattern,
        "endpoint": ADDRESS,
        "model": f"{MODEL.pattern}|not stated",
        "stored_dims": "[0-9]+",
        "dtype": "float32",
        "backend": "endpoint/elsewhere",
        PINNED: "no: .+",
    },
    further={},
)
