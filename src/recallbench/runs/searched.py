"""The stores that a run searches: the one under test, or those of a pipeline's legs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.stages.search import UNDER_TEST, SearchStage


class SearchedStore(NamedTuple):
    """All that it takes to open a store, but the variables."""

    name: str
    """The one that opens it, which may hold a password."""
    servers: tuple[str, ...]
    options: Mapping[str, str]


def searched_stores(under_test: SearchedStore, pipeline: Pipeline | None) -> list[SearchedStore]:
    """Return each store that is searched, once."""
    if pipeline is None:
        return [under_test]
    found: list[SearchedStore] = []
    for leg in pipeline.legs:
        store = SearchedStore(SearchStage.store_name(leg.method, ""), (), leg.store_options)
        if leg.method == UNDER_TEST:
            store = under_test._replace(options={**under_test.options, **leg.store_options})
        if store not in found:
            found.append(store)
    return found
