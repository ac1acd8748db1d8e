"""The answers of a store to queries that nobody has judged yet: candidates for labels."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.corpora.labelled_sets.label_book import UnlabelledQuery
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.progress import Progress
from recallbench.retrieval.record import Calls
from recallbench.runs.fresh_retrieval import retrieve_afresh
from recallbench.runs.options import Options
from recallbench.runs.plan import plan_run
from recallbench.studies.logs.shelf import Proposal, Shelf


def propose(
    shelf: Shelf, queries: Sequence[UnlabelledQuery], options: Options, k: int, progress: Progress
) -> list[list[Proposal]]:
    """Return for each query the store's k best documents of its scope."""
    segments = shelf.segments
    questions: dict[str, list[Question]] = {}
    for query in queries:
        scope = shelf.scope_of(query)
        question = Question(scope, query.id or query.text, query.text, frozenset(), "query", abstention=True)
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
        (question.scope, question.id): [_proposal(segments[question.scope][position]) for position in ranking.positions]
        for question, ranking in zip(retrieval.questions, retrieval.rankings, strict=True)
    }
    return [proposals[shelf.scope_of(query), query.id or query.text] for query in queries]


def _proposal(segment: Segment) -> Proposal:
    return Proposal(segment.session, segment.text)
