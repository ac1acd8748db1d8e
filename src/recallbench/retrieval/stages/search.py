"""The legs of a pipeline: each searches one store."""

from __future__ import annotations

from typing import ClassVar, Self

from recallbench.errors import UsageError
from recallbench.retrieval.stages.stage import Kind, Stage, StageOption, StageRequest, positive
from recallbench.stores.registry import find_store

DEPTH = StageOption("depth", "How many candidates it finds for each text", default="50", parse=positive)
OF_STORE = "set."
"""What an option of the leg's own store begins with."""
IN_PROCESS = {"dense": "exact", "lexical": "bm25"}
"""The stores that legs named by what they do search in."""
UNDER_TEST = "store"
"""The method that searches the store which is measured."""


class SearchStage(Stage):
    """A leg: a store that is filled with the haystacks, and how many candidates it is asked for.

    Its method is `store` (the store under test), `dense` or `lexical` (in this process), or the name of any store.
    """

    kind: ClassVar[Kind] = "search"
    method: ClassVar[str] = UNDER_TEST
    summary: ClassVar[str] = "searches the store under test; dense, lexical or a store's name searches that one"
    options: ClassVar[tuple[StageOption, ...]] = (DEPTH,)

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        raise UsageError("a search stage is opened with its store")

    @staticmethod
    def store_name(method: str, under_test: str) -> str:
        """Return the name of the store that a leg of this method searches."""
        return under_test if method == UNDER_TEST else IN_PROCESS.get(method, method)

    @staticmethod
    def exists(method: str) -> bool:
        """Return whether there is such a leg."""
        return method == UNDER_TEST or method in IN_PROCESS or find_store(method) is not None
