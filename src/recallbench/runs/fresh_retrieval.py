"""A retrieval from a store that is filled for it alone, after every text has its vector."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

from recallbench.corpora.records import Haystack
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.encoders import Role
from recallbench.progress import Progress
from recallbench.results.costs.quantities import EmbeddedPart
from recallbench.retrieval.loop import Haystacks, retrieve
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.timing import Timings
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


def embed_texts(haystacks: Iterable[Haystack], embedder: Embedder, segments: int) -> dict[Role, EmbeddedPart]:
    """Embed every text of the haystacks and their questions that has no vector yet; return what either took."""
    questions: list[str] = []

    def passages() -> Iterator[str]:
        for haystack in haystacks:
            questions.extend(question.text for question in haystack.questions)
            for segment in haystack.segments:
                yield segment.text

    of_passages = _counted(embedder, lambda: embedder.ensure(passages(), "passage", total=segments))
    of_questions = _counted(embedder, lambda: embedder.ensure(questions, "query", total=len(questions)))
    return {"passage": of_passages, "query": of_questions}


def _counted(embedder: Embedder, work: Callable[[], None]) -> EmbeddedPart:
    before, since = embedder.report(), time.process_time()
    work()
    worked, after = time.process_time() - since, embedder.report()
    return EmbeddedPart(
        computed=after.computed - before.computed,
        reused=after.reused - before.reused,
        tokens=after.tokens - before.tokens,
        asked_tokens=after.usage.get("tokens", 0) - before.usage.get("tokens", 0),
        cpu_seconds=round(worked, 6),
    )
