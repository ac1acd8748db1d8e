"""The vectors of a corpus's texts: those that were kept are found while it is surveyed, the others are made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from recallbench.corpora.records import Haystack
from recallbench.embedding.embedder import Embedder, EmbeddingReport
from recallbench.embedding.encoders import Role
from recallbench.results.costs.quantities import EmbeddedPart


class FoundVectors:
    """The kept vectors of the haystacks that it is shown; it stops looking at the first text that has none."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.before = embedder.report()
        """What was embedded before it looked."""
        self.cpu_seconds = 0.0
        self.all_passages = True
        """Whether every segment that it was shown has its vector."""
        self.questions: list[str] = []
        """The texts of the questions that are asked."""

    def look(self, haystack: Haystack) -> None:
        """Look for the vectors of the segments of one more haystack."""
        self.questions += [question.text for question in haystack.questions if question.is_asked]
        if self.all_passages:
            since = time.process_time()
            self.all_passages = self._embedder.reuse([segment.text for segment in haystack.segments], "passage")
            self.cpu_seconds += time.process_time() - since


def embed_texts(
    haystacks: Iterable[Haystack], embedder: Embedder, segments: int, found: FoundVectors | None = None
) -> dict[Role, EmbeddedPart]:
    """Embed every text of the haystacks and their questions that has no vector yet; return what either took.

    The haystacks are not read where every vector was `found`, by one that was shown all of them.
    """
    questions: list[str] = []

    def passages() -> Iterator[str]:
        for haystack in haystacks:
            questions.extend(question.text for question in haystack.questions)
            for segment in haystack.segments:
                yield segment.text

    def embed_passages() -> None:
        if found is not None and found.all_passages:
            questions.extend(found.questions)
            embedder.ensure((), "passage", total=0)
        else:
            embedder.ensure(passages(), "passage", total=segments)

    before, spent = (found.before, found.cpu_seconds) if found is not None else (embedder.report(), 0.0)
    of_passages = _counted(embedder, embed_passages, before, spent)
    of_questions = _counted(
        embedder, lambda: embedder.ensure(questions, "query", total=len(questions)), embedder.report()
    )
    return {"passage": of_passages, "query": of_questions}


def _counted(embedder: Embedder, work: Callable[[], None], before: EmbeddingReport, spent: float = 0.0) -> EmbeddedPart:
    since = time.process_time()
    work()
    worked, after = spent + time.process_time() - since, embedder.report()
    return EmbeddedPart(
        computed=after.computed - before.computed,
        reused=after.reused - before.reused,
        tokens=after.tokens - before.tokens,
        asked_tokens=after.usage.get("tokens", 0) - before.usage.get("tokens", 0),
        cpu_seconds=round(worked, 6),
    )
