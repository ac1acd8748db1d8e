"""Chroma as a memory under test: `recallbench run … --store python:examples.chroma_memory:open_memory`.

One collection per haystack, in memory, with the vectors that RecallBench gives it: no embedding function, no network.
Its HNSW index is approximate; `ef_search` is set so high that the haystacks of LoCoMo are searched whole.
"""

from __future__ import annotations

import uuid

from recallbench.errors import Blocked

INSTALL = "pip install 'recallbench[examples]'"

try:
    import chromadb
    from chromadb.config import Settings
except ModuleNotFoundError as error:
    raise Blocked("Chroma is missing", found=str(error), remedy=INSTALL) from error

__version__ = f"chromadb {chromadb.__version__}"
HNSW = {"space": "cosine", "ef_search": 200, "ef_construction": 200, "max_neighbors": 16}

CLIENT = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))


class Memory:
    """One haystack."""

    def __init__(self, items, vectors):
        self._name = f"haystack-{uuid.uuid4().hex}"
        self._collection = CLIENT.create_collection(
            self._name, configuration={"hnsw": HNSW, "embedding_function": None}, embedding_function=None
        )
        most = CLIENT.get_max_batch_size()
        for start in range(0, len(items), most):
            piece = items[start : start + most]
            places = range(start, start + len(piece))
            self._collection.add(
                ids=[str(item.id) for item in piece],
                embeddings=vectors[start : start + most],
                documents=[item.text for item in piece],
                metadatas=[{"place": place} for place in places],
            )
        self._size = len(items)

    def __call__(self, query, k):
        # Where a question sees a part of its haystack, that is what was added first.
        size = self._size if query.visible is None else len(query.visible)
        where = None if query.visible is None else {"place": {"$lt": size}}
        answer = self._collection.query(
            query_embeddings=[query.vector], n_results=min(k, size), where=where, include=["distances"]
        )
        # A distance gets smaller as it gets better, a score larger.
        hits = zip(answer["ids"][0], answer["distances"][0], strict=True)
        return [(int(id), 1.0 - float(distance)) for id, distance in hits]

    def close(self):
        CLIENT.delete_collection(self._name)


def open_memory(items, vectors):
    """Called once per haystack."""
    return Memory(items, vectors)


open_memory.settings = {f"hnsw_{name}": value for name, value in HNSW.items()}
open_memory.filters_time = True
