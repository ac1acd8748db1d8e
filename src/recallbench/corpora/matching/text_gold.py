"""Gold from expected texts: a corpus whose questions have the text of an answer, and not its place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import overload

import numpy as np
import numpy.typing as npt

from recallbench.corpora.matching.method import SENSITIVITY, Matching, Step
from recallbench.corpora.matching.passages import Passages
from recallbench.corpora.matching.text_matching import (
    Likeness,
    ParsedText,
    likeness,
    random_matches,
    refuse_random_matches,
)
from recallbench.corpora.matching.tokens import words
from recallbench.corpora.records import Corpus, Haystack, NearSegments, Question, RandomMatches, Segment, Survey, ignore
from recallbench.errors import InputError
from recallbench.progress import Progress


def step_of(question: Question, position: int) -> Step | None:
    """Return the step by which hybrid took a segment for gold; None where it is none."""
    if position not in question.gold:
        return None
    if not question.expected or position in question.by_id:
        return "id"
    return "exact" if position in question.exact else "tokens"


def find_matching_segments(
    segments: Sequence[Segment], questions: Sequence[Question], matching: Matching
) -> Iterator[tuple[Question, frozenset[int]]]:
    """Yield each question that expects a text, with the positions of the segments of any scope that match it."""
    expecting = [question for question in questions if question.expected]
    index = _Index(segments, expecting, matching)
    for question in expecting if segments else ():
        # Gold known by id belongs to the question's own scope.
        yield question, _with_matches(replace(question, by_id=frozenset()), index, matching)[0].gold


class TextMatched:
    """A corpus whose gold is every segment of the question's scope that matches the expected text."""

    def __init__(
        self,
        corpus: Corpus,
        matching: Matching,
        progress: Progress,
        *,
        whole: bool = False,
        allow_random_matches: bool = True,
    ) -> None:
        self.name = corpus.name
        self.clarifications = corpus.clarifications
        self.matching = matching
        self._corpus = corpus
        self._progress = progress
        self._whole = whole
        self._allow_random_matches = allow_random_matches

    @property
    def clustered(self) -> bool:
        return self._corpus.clustered

    @property
    def unmatched(self) -> Corpus:
        """The corpus whose texts are matched, for whoever wants its texts and no gold."""
        return self._corpus

    @property
    def path(self) -> Path:
        return self._corpus.path

    @property
    def sha256(self) -> str:
        return self._corpus.sha256

    def survey(self, listen: Callable[[Haystack], None] = ignore) -> Survey:
        with_evidence = with_matches = 0
        expected: list[str] = []

        def count(haystack: Haystack) -> None:
            nonlocal with_evidence, with_matches
            matched = self._with_gold(haystack)
            with_evidence += sum(bool(question.gold) for question in matched.questions)
            with_matches += sum(bool(question.gold and question.expected) for question in matched.questions)
            expected.extend(question.expected for question in matched.questions if question.expected)
            listen(matched)

        survey = self._corpus.survey(count)
        if expected and not with_matches:
            raise InputError(
                f"{self.path}: no document matches what any query expects",
                expected=f"a document that matches, by {self.matching}",
                found=f"none for {len(expected)} queries",
                remedy=_remedy(self.matching, expected),
            )
        if not self._allow_random_matches:
            refuse_random_matches(self._matches.random, self.matching, str(self.path))
        if warning := self.matching.out_of_reach(expected):
            self._progress.note(f"warning: {warning}")
        return replace(survey, with_evidence=with_evidence, matching=self.matching, random_matches=self._matches.random)

    def haystacks(self) -> Iterator[Haystack]:
        return map(self._with_gold, self._corpus.haystacks())

    def _with_gold(self, haystack: Haystack) -> Haystack:
        matched = self._matches.by_question
        return replace(haystack, questions=tuple(matched.get(question.id, question) for question in haystack.questions))

    @cached_property
    def _matches(self) -> _Matches:
        by_question: dict[str, Question] = {}
        texts: list[str] = []
        expected: list[str] = []
        relevant: list[set[int]] = []
        searched: list[Passages | None] = []
        ends: list[int] = []
        for haystack in self._corpus.haystacks():
            questions = [question for question in haystack.questions if question.expected]
            index = _Index(haystack.segments, questions, self.matching, whole=self._whole)
            for question in questions:
                matched, nearest = _with_matches(question, index, self.matching)
                by_question[question.id] = matched
                expected.append(question.expected)
                relevant.append({len(texts) + position for position in {*matched.exact, *matched.by_id, nearest}})
            texts += [segment.text for segment in haystack.segments]
            searched.append(index.passages)
            ends.append(len(texts))
        answers, pool = _ParsedTexts(expected), _ParsedTexts(texts, self.matching.chunk, whole=self._whole)

        def near(i: int, drawn: int) -> Likeness:
            which = bisect_right(ends, drawn)
            passages, first = searched[which], ends[which - 1] if which else 0
            score = 0.0 if passages is None else float(passages.scores(expected[i])[drawn - first])
            return replace(likeness(answers[i], pool[drawn]), bm25=score)

        matching = self.matching
        random = random_matches(answers, pool, relevant, matching.thresholds, matching=matching, near=near)
        return _Matches(by_question, random)


@dataclass(frozen=True, slots=True)
class _Matches:
    by_question: Mapping[str, Question]
    random: RandomMatches
    """The match rates of random texts; the nearest and the exact ones are never drawn."""


class _ParsedTexts(Sequence[ParsedText]):
    """Texts, each parsed when it is drawn: few of a large set are."""

    def __init__(self, texts: Sequence[str], chunk: int | None = None, *, whole: bool = False) -> None:
        self._texts = texts
        self._chunk = chunk
        self._whole = whole

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, i: int) -> ParsedText: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[ParsedText]: ...
    def __getitem__(self, i: int | slice) -> ParsedText | Sequence[ParsedText]:
        if isinstance(i, slice):
            return _ParsedTexts(self._texts[i], self._chunk, whole=self._whole)
        return ParsedText(self._texts[i], self._chunk, whole=self._whole)


class _Index:
    """An index of the words of the expected texts in the segments of a haystack."""

    def __init__(
        self, segments: Sequence[Segment], questions: Sequence[Question], matching: Matching, *, whole: bool = False
    ) -> None:
        chunk = matching.chunk
        self._segments, self._whole = segments, whole
        self.passages = Passages([segment.text for segment in segments], chunk) if matching.method == "bm25" else None
        vocabulary = frozenset(chain.from_iterable(words(question.expected) for question in questions))
        places: dict[str, list[int]] = {word: [] for word in vocabulary}
        sizes: list[int] = []
        starts: list[int] = []
        for segment in segments if vocabulary else ():
            starts.append(len(sizes))
            for tokens in ParsedText(segment.text, chunk).chunks:
                for word in tokens & vocabulary:
                    places[word].append(len(sizes))
                sizes.append(len(tokens))
        self._places = {word: np.array(entries, dtype=np.int64) for word, entries in places.items()}
        self._sizes = np.array(sizes, dtype=np.int64)
        self._starts = np.array(starts, dtype=np.int64)
        self._owners = np.repeat(np.arange(len(starts)), np.diff([*starts, len(sizes)]))

    def near(self, question: Question) -> npt.NDArray[np.float64]:
        """Return the nearness of each segment: token F1, or relative BM25 where that decides."""
        if self.passages is not None:
            return self.passages.scores(question.expected)
        return self.f1(ParsedText(question.expected))

    def f1(self, expected: ParsedText) -> npt.NDArray[np.float64]:
        """Return the token F1 of each segment's best chunk."""
        answer_words = frozenset(expected.words)
        both = np.bincount(np.concatenate([self._places[word] for word in answer_words]), minlength=len(self._sizes))
        f1: npt.NDArray[np.float64] = np.maximum.reduceat(2.0 * both / (len(answer_words) + self._sizes), self._starts)
        return f1

    def exact(self, expected: ParsedText) -> frozenset[int]:
        """The segments that say it, word by word."""
        # Those that hold all its words are few, and only these are read.
        answer_words = frozenset(expected.words)
        owners = [np.unique(self._owners[self._places[word]]) for word in answer_words]
        holding = np.flatnonzero(
            np.bincount(np.concatenate(owners), minlength=len(self._segments)) == len(answer_words)
        )
        return frozenset(
            int(i) for i in holding if ParsedText(self._segments[int(i)].text, whole=self._whole).says(expected)
        )


def _with_matches(question: Question, index: _Index, matching: Matching) -> tuple[Question, int]:
    """Return the question with its gold, and the position of the nearest segment."""
    nearness, exact = index.near(question), index.exact(ParsedText(question.expected))
    near = np.flatnonzero(nearness >= min(SENSITIVITY[0], matching.threshold))
    enough = frozenset(np.flatnonzero(nearness >= matching.threshold).tolist())
    gold = {"exact": exact, "hybrid": question.by_id | exact | enough}.get(matching.method, enough)
    matched = replace(question, gold=gold, exact=exact, likeness=NearSegments(near.tolist(), nearness[near].tolist()))
    return matched, int(nearness.argmax())


def _remedy(matching: Matching, expected: Sequence[str]) -> str:
    if matching.method == "exact":
        return "--match tokens, which asks for enough of the same words in any order"
    if matching.method == "bm25":
        return "a lower --match-threshold"
    chunk = max(1, min(map(matching.longest_chunk, expected)))
    return f"a lower --match-threshold, or --match-chunk {chunk} where answers are short and documents long"
