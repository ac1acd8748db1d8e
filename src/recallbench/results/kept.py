"""Questions and rankings as the rows of a result keep them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recallbench.corpora.records import Question
from recallbench.results.rows import Row, position_of
from recallbench.retrieval.pipeline.trace import QuestionTrace
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Calls, Retrieval


def stated_question(row: Row) -> Question:
    """Return the question as its row has it; gold and grades outside its scope are dropped."""

    def placed(ids: Iterable[str]) -> dict[str, int]:
        positions = {id: position_of(id, row.scope, row.candidates) for id in ids}
        return {id: position for id, position in positions.items() if position is not None}

    return Question(
        row.scope,
        row.question_id,
        row.question or "",
        frozenset(placed(row.gold).values()),
        row.kind,
        grades={position: row.grades[id] for id, position in placed(row.grades).items()},
        cluster=row.cluster,
        abstention=row.abstention,
        denominators=frozenset(row.denominators),
        one_find=row.one_find,
        tenant=row.tenant,
    )


def placed_ranking(question: Question, size: int, hits: Sequence[tuple[str, float]]) -> Ranking:
    """Return the ranking of these hits, by segment id and score; hits outside the question's scope are dropped."""
    placed = [(position_of(id, question.scope, size), score) for id, score in hits]
    in_scope = [(position, score) for position, score in placed if position is not None]
    return Ranking(question.id, [position for position, _ in in_scope], [score for _, score in in_scope])


def kept_retrieval(rows: Sequence[Row], traces: Sequence[QuestionTrace], calls: Calls) -> Retrieval:
    """Return the questions with the rankings and the traces that a result keeps of them."""
    questions = [stated_question(row) for row in rows]
    return Retrieval(
        calls,
        questions=questions,
        candidates=[row.candidates for row in rows],
        rankings=[
            placed_ranking(question, row.candidates, [(hit.id, hit.score) for hit in row.hits])
            for question, row in zip(questions, rows, strict=True)
        ],
        traces=list(traces),
    )
