"""The judge that counts the words which an answer shares with the right one."""

from __future__ import annotations

from typing import ClassVar

from recallbench.retrieval.stages.answer_words import word_f1
from recallbench.retrieval.stages.word_judge import WordJudge


class TokenF1Judge(WordJudge):
    """The harmonic mean of the share of its words that are right and the share of the right ones that it has."""

    method: ClassVar[str] = "token-f1"
    summary: ClassVar[str] = "the words that answer and right answer share: F1, as SQuAD counts it"
    in_steps: ClassVar[bool] = False
    likeness = staticmethod(word_f1)
