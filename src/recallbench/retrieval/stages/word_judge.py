"""A judge that compares the words of an answer with those of the right one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Self

from recallbench.corpora.records import Question, Segment
from recallbench.retrieval.stages.answer_words import declines, is_known
from recallbench.retrieval.stages.answering import Judgement, JudgeStage
from recallbench.retrieval.stages.stage import StageRequest


class WordJudge(JudgeStage):
    """Right where the words are alike; where the right answer is that there is none, right where it is declined."""

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        return cls()

    @staticmethod
    @abstractmethod
    def likeness(answer: str, gold: str) -> float:
        """Return how much the words of two texts are alike, from 0 to 1."""

    @classmethod
    def states(cls, options: Mapping[str, str]) -> Mapping[str, str]:
        return {"words": "without case, punctuation and articles", "declining": "by phrases"}

    def settings(self) -> Mapping[str, str]:
        return self.states({})

    def judge(self, question: Question, context: Sequence[Segment], answer: str) -> Judgement:
        return self.again(question, answer, {}) or Judgement()

    @classmethod
    def again(cls, question: Question, answer: str, raw: Mapping[str, str]) -> Judgement | None:
        if not is_known(question):
            return None
        if question.declined:
            return Judgement(correct=float(declines(answer)))
        return Judgement(correct=cls.likeness(answer, question.answer))
