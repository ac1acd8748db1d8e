"""A store filled with all haystacks at once, and the requests that it can then be asked in any order."""

from __future__ import annotations

from collections.abc import Iterable

from recallbench.corpora.records import Haystack
from recallbench.embedding.embedder import Embedder
from recallbench.progress import Progress
from recallbench.retrieval.opaque import OpaqueIds
from recallbench.retrieval.replay import not_while_filling
from recallbench.retrieval.request import Request, requests_of
from recallbench.retrieval.timing import Timings
from recallbench.stores.store import Store


def fill(
    store: Store,
    haystacks: Iterable[Haystack],
    embedder: Embedder | None,
    progress: Progress,
    timings: Timings | None = None,
) -> list[Request]:
    """Put every haystack into the store, and return the requests for their questions, each with its own vector.

    A store that holds one scope at a time in a run is not told to forget any, so that it holds all of them here. The
    time goes into the phases `prepare` and `ingest`.
    """
    timings = timings or Timings()
    with timings.phase("prepare"):
        store.prepare(embedder.stored_dims if embedder is not None and store.needs_vectors else 0)
    ids, requests, timed = OpaqueIds(), [], False
    with timings.phase("ingest"), progress.stage("ingesting", None, "segments") as advance:
        for haystack in haystacks:
            ids.admit(haystack)
            if not timed and any(question.visible is not None for question in haystack.questions):
                if not store.filters_time:
                    raise not_while_filling(store.name)
                store.expect_time()
                timed = True
            texts = [segment.text for segment in haystack.segments]
            passages = (
                embedder.lookup(texts, "passage").vectors if embedder is not None and store.needs_vectors else None
            )
            store.ingest(ids.items(haystack), passages)
            questions = [question.text for question in haystack.questions]
            vectors = embedder.lookup(questions, "query").vectors if embedder is not None and questions else None
            requests += requests_of(haystack, ids, vectors)
            advance(len(texts))
        store.ready()
    return requests
