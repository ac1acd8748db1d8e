"""A retrieval from a store that is filled for it alone, after every text has its vector."""

from __future__ import annotations

from contextlib import closing

from recallbench.embedding.embedder import Embedder
from recallbench.progress import Progress
from recallbench.retrieval.loop import Haystacks, retrieve
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.timing import Timings
from recallbench.runs.embedded_texts import embed_texts
from recallbench.runs.plan import Plan


def retrieve_afresh(
    plan: Plan,
    haystacks: Haystacks,
    embedder: Embedder | None,
    *,
    segments: int,
    expected: int,
    calls: Calls,
    progress: Progress,
) -> Retrieval:
    """Embed the texts, fill a store of the plan's kind, ask it and close it; no lexical control is run beside it."""
    if embedder is not None:
        embed_texts(haystacks(), embedder, segments)
    with closing(plan.open_system(embedder, progress)) as store:
        return retrieve(
            haystacks,
            store,
            None,
            embedder,
            expected=expected,
            calls=calls,
            timings=Timings(),
            progress=progress,
            keep_going=plan.pipeline is not None and plan.keeps_going,
            traced=False,
        )
