"""The vectors of texts: of queries, for retrievers that take them, and of anything by one of the known encoders."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from recallbench.cases.case import SHOWN, Case
from recallbench.errors import InputError, UsageError


class Encoder(Protocol):
    """A model with `encode`, as those of sentence-transformers."""

    def encode(self, texts: list[str], /) -> Any:
        """Return a vector for each text."""


Embed = Callable[[list[str]], Any] | Encoder | str
"""A function of texts that returns a vector for each, a model with `encode`, or a name, as of `--embedder`."""
PARAMETER = "vector"


def query_vectors(
    cases: Sequence[Case], retrievers: Sequence[Callable[..., Any]], embed: Embed | None
) -> Mapping[str, Any] | None:
    """Return the vector of each case by its name; None where no retriever takes any.

    Cases without a vector of their own are embedded together, before anything is timed. Raises UsageError for vectors
    that no retriever takes, and for a retriever that has to get them from nowhere.
    """
    parameters = [parameter for retrieve in retrievers if (parameter := _parameter(retrieve)) is not None]
    if not parameters:
        if embed is not None:
            raise UsageError(
                "embed makes vectors that no retriever takes",
                expected="retrieve(query, k, vector)",
                found="no `vector`",
            )
        return None
    missing = [case for case in cases if case.vector is None]
    if missing and embed is None:
        if all(parameter.default is not parameter.empty for parameter in parameters) and len(missing) == len(cases):
            return None
        raise missing[0].wrong(
            "the retriever takes a vector, and there is none",
            "a vector in each case, or embed=",
            "neither",
            "evaluate(…, embed=function of texts), or embed='minilm'",
        )
    vectors = {case.name: case.vector for case in cases if case.vector is not None}
    if missing and embed is not None:
        texts = [case.query for case in missing]
        rows = encoded(embed, texts, "query") if isinstance(embed, str) else _rows(_called(embed, texts), len(texts))
        vectors |= {case.name: row for case, row in zip(missing, rows, strict=True)}
    return vectors


def takes_vectors(retrieve: Callable[..., Any]) -> bool:
    """Return whether a retriever has a parameter `vector`."""
    return _parameter(retrieve) is not None


def takes_vectors_first(retrieve: Callable[..., Any]) -> bool:
    """Return whether the second parameter of a retriever is `vector`, as in `retrieve(query, vector, k)`."""
    return takes_vectors(retrieve) and list(inspect.signature(retrieve).parameters)[1:2] == [PARAMETER]


def encoded(name: str, texts: Sequence[str], kind: Literal["query", "passage"]) -> Any:
    """Return the vectors of texts by an encoder, from its cache as far as they are there."""
    # Imported here: only these need an encoder.
    from recallbench.embedding.registry import default_cache_dir, open_embedder

    embedder = open_embedder(name, cache_dir=default_cache_dir())
    try:
        embedder.ensure(texts, kind, total=len(texts))
        return embedder.lookup(texts, kind).vectors
    finally:
        embedder.close()


def _called(embed: Callable[[list[str]], Any] | Encoder, texts: list[str]) -> Any:
    encode = getattr(embed, "encode", embed)
    if not callable(encode):
        raise UsageError(
            "embed makes vectors of texts",
            expected="a function of a list of texts, a model with encode, or an encoder's name",
            found=f"a {type(embed).__name__}",
        )
    return encode(texts)


def _rows(returned: Any, count: int) -> Any:
    try:
        rows = np.asarray(returned)
    except ValueError:  # rows of several lengths
        rows = np.empty(0, dtype=object)
    if rows.ndim != 2 or len(rows) != count or rows.dtype.kind not in "fiu":
        raise InputError(
            "embed returned no vector for each text",
            expected=f"{count} rows of numbers, all of one length",
            found=f"an array of {rows.dtype} with the shape {rows.shape}" if rows.size else f"{returned!r}"[:SHOWN],
        )
    return rows


def _parameter(retrieve: Callable[..., Any]) -> inspect.Parameter | None:
    try:
        return inspect.signature(retrieve).parameters.get(PARAMETER)
    except (TypeError, ValueError):  # some functions in C have no signature
        return None
