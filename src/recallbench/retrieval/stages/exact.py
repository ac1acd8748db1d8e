"""The judge that wants the right answer word by word."""

from __future__ import annotations

from typing import ClassVar

from recallbench.retrieval.stages.answer_words import same_words
from recallbench.retrieval.stages.word_judge import WordJudge


class ExactJudge(WordJudge):
    """Right is what has the same words in the same order, whatever its case, punctuation and articles."""

    method: ClassVar[str] = "exact"
    summary: ClassVar[str] = "the right answer, word by word, whatever its case, punctuation and articles"
    likeness = staticmethod(same_words)
