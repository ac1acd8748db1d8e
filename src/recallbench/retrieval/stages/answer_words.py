"""Answers compared by their words, as SQuAD (Rajpurkar et al. 2016) does: no case, punctuation or articles."""

from __future__ import annotations

from collections import Counter

from recallbench.corpora.matching.tokens import words
from recallbench.corpora.records import Question

ARTICLES = frozenset({"a", "an", "the"})
ABSTENTION = "not mentioned"
"""What a model is told to answer where nothing answers the question."""
DECLINING = (
    ABSTENTION,
    "no information",
    "not enough information",
    "information provided is not enough",
    "did not mention",
    "does not mention",
    "not specified",
    "not stated",
    "not known",
    "unknown",
    "dont know",
    "do not know",
    "cannot be answered",
    "cant be answered",
    "cannot be determined",
)
"""Words by which an answer declines to answer."""


def answer_words(text: str) -> list[str]:
    """Return the words that count; all of them where there are none but articles."""
    spoken = words(text)
    return [word for word in spoken if word not in ARTICLES] or spoken


def declines(answer: str) -> bool:
    """Return whether an answer says that there is none."""
    spoken = f" {' '.join(words(answer))} "
    return any(f" {phrase} " in spoken for phrase in DECLINING)


def is_known(question: Question) -> bool:
    """Return whether it is known what the right answer is."""
    return question.declined or bool(question.answer)


def same_words(answer: str, gold: str) -> float:
    """Return 1 where both have the same words in the same order; texts without a word are held to each other as they
    stand."""
    right = answer_words(gold)
    return float(answer_words(answer) == right if right else answer.strip() == gold.strip())


def word_f1(answer: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall of the answer's words, each counted as often as it comes."""
    given, right = Counter(answer_words(answer)), Counter(answer_words(gold))
    both = (given & right).total()
    return 2.0 * both / (given.total() + right.total()) if both else 0.0
