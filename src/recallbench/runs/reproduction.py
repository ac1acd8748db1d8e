"""A published figure measured again in its own way, beside the canonical figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from recallbench.corpora.pooled import pooled
from recallbench.corpora.records import Corpus, Haystack, Question, Segment, Survey
from recallbench.embedding.embedder import Embedder
from recallbench.progress import Progress
from recallbench.protocol.reproductions import Reproduction
from recallbench.reports.reproduction import QuestionPart
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.selection import select_questions
from recallbench.runs.fresh_retrieval import retrieve_afresh
from recallbench.runs.plan import Plan
from recallbench.scoring.bare_sessions import judge_by_session
from recallbench.scoring.judgement import Judged
from recallbench.scoring.measures.registry import parse


@dataclass(slots=True)
class ReshapedCorpus:
    """A corpus, cut and pooled as it was for a published figure."""

    reproduction: Reproduction
    corpus: Corpus
    limit: int | None
    sessions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Session names by position, of each scope that was read."""

    def haystacks(self) -> Iterator[Haystack]:
        """Each haystack in the published shape, with the questions that have gold."""
        shaped = (self._shaped(haystack) for haystack in self.corpus.haystacks())
        for haystack in select_questions(pooled(shaped) if self.reproduction.pooled else shaped, self.limit):
            self.sessions[haystack.scope] = tuple(segment.session for segment in haystack.segments)
            yield haystack

    def judged(self, retrieval: Retrieval) -> Judged:
        """Return the rankings, judged by the session's name alone."""
        return judge_by_session(
            [
                [self.sessions[question.scope][position] for position in ranking.positions]
                for question, ranking in zip(retrieval.questions, retrieval.rankings, strict=True)
            ],
            [self._gold(question) for question in retrieval.questions],
            self.reproduction.depth,
        )

    def _gold(self, question: Question) -> frozenset[str]:
        names = self.sessions[question.scope]
        return self.reproduction.gold.get(question.id, frozenset(names[position] for position in question.gold))

    def _shaped(self, haystack: Haystack) -> Haystack:
        return replace(haystack, segments=tuple(self._cut(segment) for segment in haystack.segments))

    def _cut(self, segment: Segment) -> Segment:
        text = segment.text if self.reproduction.dated else segment.text.partition("\n")[2]
        # The starts of labelled turns are known for the canonical text only.
        return replace(segment, text=text[: self.reproduction.characters], gold_turns=())


def reproduce(
    plan: Plan,
    reproduction: Reproduction,
    corpus: Corpus,
    embedder: Embedder | None,
    survey: Survey,
    progress: Progress,
) -> tuple[list[QuestionPart], Retrieval]:
    """Return the values of each question, when a store of the plan's kind is filled and asked the published way."""
    limit = plan.options.limit
    reshaped = ReshapedCorpus(reproduction, corpus, limit)
    retrieval = retrieve_afresh(
        plan,
        reshaped.haystacks,
        embedder,
        segments=survey.segments,
        expected=survey.asked if limit is None else limit,
        calls=Calls(reproduction.k, reproduction.depth),
        progress=progress,
    )
    judged = reshaped.judged(retrieval)
    recall, first = (parse(figure.measure).values(judged) for figure in reproduction.published)
    return [
        QuestionPart(id=question.id, recall=share, first=round(1 / reciprocal) if reciprocal else None)
        for question, share, reciprocal in zip(retrieval.questions, recall.tolist(), first.tolist(), strict=True)
    ], retrieval
