"""usearch as a memory under test: `recallbench run … --store python:examples.usearch_memory:Memory`.

A vector index of its own: HNSW in memory, one for each haystack, which takes items as they come. It is approximate;
`--set expansion_search=16` looks at fewer neighbours.
"""

from __future__ import annotations

from recallbench.errors import Blocked

INSTALL = "pip install 'recallbench[examples]'"

try:
    import numpy as np
    import usearch
    from usearch.index import Index
except ModuleNotFoundError as error:
    raise Blocked("usearch is missing", found=str(error), remedy=INSTALL) from error

__version__ = f"usearch {usearch.__version__}"


class Memory:
    """One haystack."""

    needs_vectors = True

    def __init__(self, connectivity: int = 16, expansion_add: int = 128, expansion_search: int = 200) -> None:
        self._settings = {
            "connectivity": connectivity,
            "expansion_add": expansion_add,
            "expansion_search": expansion_search,
        }
        self._index = None

    def add(self, ids: list[int], vectors) -> None:
        if self._index is None:
            self._index = Index(ndim=vectors.shape[1], metric="cos", dtype="f32", **self._settings)
        # Several threads would build another graph each time.
        self._index.add(np.array(ids), vectors, threads=1)

    def search(self, vector, k: int) -> list[tuple[int, float]]:
        # A distance gets smaller as it gets better, a score larger.
        return [(int(id), 1.0 - float(distance)) for id, distance in self._index.search(vector, k).to_list()]
