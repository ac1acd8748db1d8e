"""What a store would answer to queries that nobody has judged yet: the candidates for labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from recallbench.corpora.labelled_sets.label_book import UnlabelledQuery
from recallbench.corpora.labelled_sets.labelled_files import DOCUMENTS, EVERYWHERE, Files, read_documents
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.errors import InputError
from recallbench.progress import Progress
from recallbench.protocol.frozen import load
from recallbench.protocol.rules import CorpusRules
from recallbench.retrieval.loop import retrieve
from recallbench.retrieval.record import Calls
from recallbench.retrieval.timing import Timings
from recallbench.runs.choices import choose
from recallbench.runs.opening import embed, embedder_of, store_of
from recallbench.runs.options import Options


@dataclass(frozen=True, slots=True)
class Proposal:
    """A document that a store puts forward for a query."""

    id: str
    text: str


def proposals(
    folder: Path, queries: Sequence[UnlabelledQuery], options: Options, facts: CorpusRules, k: int, progress: Progress
) -> Iterator[tuple[UnlabelledQuery, list[Proposal]]]:
    """Each query with the store's k best documents of its scope."""
    documents = folder / DOCUMENTS
    if not documents.is_file():
        raise InputError(f"{folder}: {DOCUMENTS} is missing", expected="the documents to label", found="no such file")
    segments: dict[str, list[Segment]] = {}
    for one in read_documents(Files({DOCUMENTS: documents}), folder.name):
        held = segments.setdefault(one.scope, [])
        held.append(Segment(one.scope, len(held), one.text, one.occurred_at, one.id, importance=one.importance))
    asked: dict[str, list[Question]] = {}
    by_id = {query.id: query for query in queries}
    for query in queries:
        scope = query.scope or query.tenant or EVERYWHERE
        if scope not in segments:
            raise InputError(
                f"query {query.id}: no document is in scope {scope}",
                expected=f"one of {', '.join(list(segments)[:8])}",
                found=scope,
                remedy=f"name it with --scope, as --scope {next(iter(segments))}",
            )
        asked.setdefault(scope, []).append(Question(scope, query.id, query.text, frozenset(), "query", abstention=True))
    haystacks = [Haystack(scope, tuple(held), tuple(asked.get(scope, ()))) for scope, held in segments.items()]
    choice = choose(options, facts, load())
    with ExitStack() as closing:
        embedder = embedder_of(options, choice, progress)
        if embedder is not None:
            closing.callback(embedder.close)
            embed(lambda: haystacks, embedder, sum(map(len, segments.values())))
        store = store_of(options, choice, progress)
        closing.callback(store.close)
        found = retrieve(
            lambda: haystacks,
            store,
            None,
            embedder,
            expected=len(queries),
            calls=Calls(k, k),
            timings=Timings(),
            progress=progress,
        )
    ranked = {ranking.question_id: ranking.positions for ranking in found.rankings}
    scopes = {question.id: question.scope for question in found.questions}
    for id, query in by_id.items():
        held = segments[scopes[id]]
        yield query, [Proposal(held[place].session, held[place].text) for place in ranked[id]]
