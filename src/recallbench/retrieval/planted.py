"""The proof that nothing comes from the future: what a question must not see is planted behind it, word by word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.embedding.embedder import Embedder, EmbeddingReport, Embeddings
from recallbench.embedding.encoders import Role
from recallbench.embedding.packs.record import PackRecord
from recallbench.errors import InputError
from recallbench.progress import Progress
from recallbench.retrieval.loop import Haystacks, retrieve
from recallbench.retrieval.ranking import FromTheFuture
from recallbench.retrieval.record import Calls
from recallbench.retrieval.timing import Timings
from recallbench.stores.store import Store


def prove(
    haystacks: Haystacks,
    store: Store,
    embedder: Embedder | None,
    *,
    calls: Calls,
    progress: Progress,
    keep_going: bool,
) -> None:
    """Fill an empty store with planted haystacks and ask it every question; raises InputError where it returns one.

    The rankings are nobody's: what was planted behind one question is there for the next.
    """
    baited = None if embedder is None else BaitedEmbedder(embedder)

    def planting() -> Iterator[Haystack]:
        for haystack in haystacks():
            if baited is not None:
                baited.baits = frozenset(question.text for question in haystack.questions)
            yield planted(haystack)

    try:
        retrieve(
            planting,
            store,
            None,
            baited,
            expected=0,
            calls=calls,
            timings=Timings(),
            progress=progress,
            keep_going=keep_going,
            traced=False,
        )
    except FromTheFuture as error:
        raise InputError(
            f"the store {store.name} returns what was said only after a question",
            expected="nothing from the future: in a pass of its own, a session that repeats each question word by word "
            "was planted right after what it may see",
            found=f"such a session, or one behind it, for question {error.question_id}",
            remedy="let it search the visible items alone, or not declare that it filters by time: then it is replayed",
        ) from None


def planted(haystack: Haystack) -> Haystack:
    """Return a haystack with a session for each question, right behind what it sees, that repeats it word by word."""
    size = len(haystack.segments)
    behind: dict[int, list[Question]] = {}
    for question in haystack.questions:
        behind.setdefault(question.candidates(size), []).append(question)
    segments: list[Segment] = []
    visible: dict[str, int] = {}
    for place in range(size + 1):
        for question in behind.get(place, ()):
            visible[question.id] = len(segments)
        segments += [_bait(question) for question in behind.get(place, ())]
        segments += haystack.segments[place : place + 1]
    return Haystack(
        haystack.scope,
        tuple(replace(segment, position=position, gold_turns=()) for position, segment in enumerate(segments)),
        tuple(
            replace(question, visible=visible[question.id], gold=frozenset(), grades={})
            for question in haystack.questions
        ),
    )


def _bait(question: Question) -> Segment:
    return Segment(question.scope, 0, question.text, question.asked_at, importance=1.0)


class BaitedEmbedder(Embedder):
    """An embedder that gives a planted session the vector of its question: no other comes nearer to that."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.baits: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def pack(self) -> PackRecord | None:
        return self._embedder.pack

    @property
    def stored_dims(self) -> int:
        return self._embedder.stored_dims

    @property
    def max_tokens(self) -> int | None:
        return None

    @property
    def fingerprint(self) -> Mapping[str, str]:
        return self._embedder.fingerprint

    @property
    def fingerprint_sha256(self) -> str:
        return self._embedder.fingerprint_sha256

    def ensure(self, texts: Iterable[str], role: Role, *, total: int | None = None) -> None:
        self._embedder.ensure(texts, role, total=total)

    def reuse(self, texts: Sequence[str], role: Role) -> bool:
        return self._embedder.reuse(texts, role)

    def lookup(self, texts: Sequence[str], role: Role) -> Embeddings:
        if role != "passage":
            return self._embedder.lookup(texts, role)
        baits = [place for place, text in enumerate(texts) if text in self.baits]
        others = [place for place, text in enumerate(texts) if text not in self.baits]
        order = np.argsort([*others, *baits], kind="stable")
        found: list[tuple[Any, Any]] = list(
            zip(
                self._embedder.lookup([texts[place] for place in others], "passage"),
                self._embedder.lookup([texts[place] for place in baits], "query"),
                strict=True,
            )
        )
        return Embeddings(*(np.concatenate(parts)[order] for parts in found))

    def embed_afresh(self, texts: Sequence[str], role: Role) -> Embeddings:
        return self._embedder.embed_afresh(texts, role)

    def report(self) -> EmbeddingReport:
        return self._embedder.report()

    def close(self) -> None:
        """Leave the embedder open: it is another's."""
