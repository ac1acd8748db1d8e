"""The answers of a store to queries that nobody has judged yet: candidates for labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.corpora.labelled_sets.label_book import UnlabelledQuery
from recallbench.corpora.labelled_sets.labelled_files import read_documents
from recallbench.corpora.labelled_sets.labelled_records import DOCUMENTS, EVERYWHERE, Files
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.errors import InputError
from recallbench.progress import Progress
from recallbench.retrieval.record import Calls
from recallbench.runs.fresh_retrieval import retrieve_afresh
from recallbench.runs.options import Options
from recallbench.runs.plan import plan_run


@dataclass(frozen=True, slots=True)
class Proposal:
    """A document that a store puts forward for a query."""

    id: str
    text: str


def propose(
    folder: Path, queries: Sequence[UnlabelledQuery], options: Options, k: int, progress: Progress
) -> Iterator[tuple[UnlabelledQuery, list[Proposal]]]:
    """Yield each query with the store's k best documents of its scope."""
    segments = _segments(folder)
    questions: dict[str, list[Question]] = {}
    for query in queries:
        scope = query.scope or query.tenant or EVERYWHERE
        if scope not in segments:
            raise InputError(
                f"query {query.id}: no document is in scope {scope}",
                expected=f"one of {', '.join(list(segments)[:8])}",
                found=scope,
                remedy=f"name it with --scope, as --scope {next(iter(segments))}",
            )
        question = Question(scope, query.id, query.text, frozenset(), "query", abstention=True)
        questions.setdefault(scope, []).append(question)
    haystacks = [
        Haystack(scope, tuple(documents), tuple(questions.get(scope, ()))) for scope, documents in segments.items()
    ]
    plan = plan_run(options)
    with plan.open_embedder(progress) as embedder:
        retrieval = retrieve_afresh(
            plan,
            lambda: haystacks,
            embedder,
            segments=sum(map(len, segments.values())),
            expected=len(queries),
            calls=Calls(k, k),
            progress=progress,
        )
    proposals = {
        question.id: [_proposal(segments[question.scope][position]) for position in ranking.positions]
        for question, ranking in zip(retrieval.questions, retrieval.rankings, strict=True)
    }
    for query in queries:
        yield query, proposals[query.id]


def _segments(folder: Path) -> dict[str, list[Segment]]:
    """The documents of a labelled set, by scope."""
    file = folder / DOCUMENTS
    if not file.is_file():
        raise InputError(f"{folder}: {DOCUMENTS} is missing", expected="the documents to label", found="no such file")
    segments: dict[str, list[Segment]] = {}
    for document in read_documents(Files({DOCUMENTS: file}), folder.name):
        scope = segments.setdefault(document.scope, [])
        scope.append(
            Segment(
                document.scope,
                len(scope),
                document.text,
                document.occurred_at,
                document.id,
                importance=document.importance,
            )
        )
    return segments


def _proposal(segment: Segment) -> Proposal:
    return Proposal(segment.session, segment.text)
