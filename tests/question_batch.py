"""Questions of one store, as a test of a stage gives them to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recallbench.retrieval.stages.candidates import Memory
from recallbench.retrieval.stages.stage import QuestionBatch
from recallbench.stores.store import Item, Query


def batch_of(
    texts: Sequence[str],
    *,
    items: Mapping[int, str] | None = None,
    vectors: Mapping[int, Sequence[float]] | None = None,
    asked: Sequence[Sequence[float]] = (),
) -> QuestionBatch:
    """Return questions with these texts, and with the vectors `asked`; a memory that holds `items` and `vectors`."""
    memory = Memory(texts=items is not None, vectors=vectors is not None)
    known = items or dict.fromkeys(vectors or {}, "")
    rows = np.array([vectors[id] for id in known], np.float32) if vectors else None
    memory.add([Item(id, 1, text, None, 0.5) for id, text in known.items()], rows)
    queries = [Query(1, text, np.array(asked[row], np.float32) if asked else None) for row, text in enumerate(texts)]
    return QuestionBatch(queries, memory)
