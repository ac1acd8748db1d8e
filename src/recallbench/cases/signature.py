"""What a retriever is, and the parameters of `evaluate` and `evaluate_async` for `help()` and type checkers."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, overload

from recallbench.cases.case_source import Source
from recallbench.cases.report import Report

if TYPE_CHECKING:  # it takes pydantic, which takes longer to import than all the rest
    from recallbench.cases.side_by_side import SideBySide

Hits = Iterable[Any]
"""Ids, or (id, score) pairs, best first."""


class VectorRetriever(Protocol):
    """A retriever that is given the query's vector."""

    def __call__(self, query: str, k: int, vector: Any) -> Hits | Awaitable[Hits]:
        """Return at most k hits, best first."""


Retriever = Callable[[str, int], Hits | Awaitable[Hits]] | VectorRetriever
Retrievers = Mapping[str, Callable[[str, int], Hits | Awaitable[Hits]]] | Mapping[str, VectorRetriever]
P = ParamSpec("P")


class Evaluate(Protocol[P]):
    """`evaluate`: of one retriever a report, of several reports side by side."""

    __doc__: str | None

    @overload
    def __call__(self, cases: Source, retrieve: Retriever, *args: P.args, **options: P.kwargs) -> Report: ...
    @overload
    def __call__(
        self, cases: Source, retrieve: Retrievers, *args: P.args, **options: P.kwargs
    ) -> SideBySide[Report]: ...


class EvaluateAsync(Protocol[P]):
    """`evaluate_async`: the same, to be awaited."""

    __doc__: str | None

    @overload
    def __call__(
        self, cases: Source, retrieve: Retriever, *args: P.args, **options: P.kwargs
    ) -> Coroutine[Any, Any, Report]: ...
    @overload
    def __call__(
        self, cases: Source, retrieve: Retrievers, *args: P.args, **options: P.kwargs
    ) -> Coroutine[Any, Any, SideBySide[Report]]: ...


class WithParameters(Protocol[P]):
    """A decorator that gives a function these parameters."""

    @overload
    def __call__(self, function: Callable[..., Coroutine[Any, Any, Any]], /) -> EvaluateAsync[P]: ...
    @overload
    def __call__(self, function: Callable[..., Report | SideBySide[Report]], /) -> Evaluate[P]: ...


def with_parameters_of(declared: Callable[Concatenate[Source, Retriever | Retrievers, P], Any]) -> WithParameters[P]:
    """Return a decorator that gives a function the parameters of another."""

    def with_parameters(function: Callable[..., Any]) -> Any:
        own, declaration = inspect.signature(function), inspect.signature(declared)
        signature = declaration.replace(return_annotation=own.return_annotation)
        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    return with_parameters
