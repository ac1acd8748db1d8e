"""LanceDB as a memory under test: `recallbench run … --store python:examples.lance_memory:open_memory`.

One table per haystack in a temporary folder. `open_memory` searches vectors alone, exactly, since a haystack is too
small for an index. `open_hybrid` adds LanceDB's own full text search and fuses both lists by reciprocal rank.
"""

from __future__ import annotations

import shutil
import tempfile

from recallbench.errors import Blocked

INSTALL = "pip install 'recallbench[examples]'"

try:
    import lancedb
    import pyarrow as pa
    from lancedb.rerankers import RRFReranker
except ModuleNotFoundError as error:
    raise Blocked("LanceDB is missing", found=str(error), remedy=INSTALL) from error

__version__ = f"lancedb {lancedb.__version__}"


class Memory:
    """One haystack."""

    def __init__(self, items, vectors, hybrid):
        self._folder = tempfile.mkdtemp(prefix="recallbench-lance-")
        self._hybrid = hybrid
        vector = pa.list_(pa.float32(), vectors.shape[1])
        rows = pa.table(
            {
                "id": pa.array([item.id for item in items], pa.int64()),
                "place": pa.array(range(len(items)), pa.int64()),
                "text": pa.array([item.text for item in items], pa.string()),
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel(), pa.float32()), type=vector),
            }
        )
        self._table = lancedb.connect(self._folder).create_table("haystack", rows)
        if hybrid:
            self._table.create_fts_index("text")

    def __call__(self, query, k):
        if not self._hybrid:
            query_builder = self._table.search(query.vector).distance_type("cosine")
            if query.visible is not None:
                # What a question sees of its haystack is what was added first.
                query_builder = query_builder.where(f"place < {len(query.visible)}", prefilter=True)
            rows = query_builder.select(["id", "_distance"]).limit(k).to_list()
            hits = [(row["id"], 1.0 - row["_distance"]) for row in rows]
        else:
            query_builder = self._table.search(query_type="hybrid").vector(query.vector).text(query.text)
            rows = query_builder.distance_type("cosine").rerank(RRFReranker()).limit(k).to_list()
            hits = [(row["id"], row["_relevance_score"]) for row in rows]
        return sorted(hits, key=lambda hit: -hit[1])

    def close(self):
        shutil.rmtree(self._folder, ignore_errors=True)


def open_memory(items, vectors):
    """Called once per haystack."""
    return Memory(items, vectors, hybrid=False)


def open_hybrid(items, vectors):
    """The same with words beside vectors."""
    return Memory(items, vectors, hybrid=True)


open_memory.settings = {"search": "vector, exact, cosine"}
# Not the hybrid: the weights of its words would come from what was yet to be said.
open_memory.filters_time = True
open_hybrid.settings = {"search": "hybrid, reciprocal rank fusion"}
# Each of the two lists that are fused is as long as what is asked for.
open_hybrid.scores_depend_on_k = True
