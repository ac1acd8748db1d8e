"""The questions of a sweep: what every point is asked, and which of them it is chosen by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recallbench.corpora.records import Corpus, Haystack, Question, Survey
from recallbench.retrieval.selection import select_haystacks
from recallbench.runs.options import Options
from recallbench.scoring.choice.split import Split, split_questions


@dataclass(slots=True)
class SweepQuestions:
    """What the points of a sweep are filled with and asked."""

    haystacks: Sequence[Haystack]
    survey: Survey
    """Of the whole corpus."""
    asked: Sequence[Question] = field(init=False)
    sizes: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.asked = [question for haystack in self.haystacks for question in haystack.questions]
        self.sizes = {haystack.scope: len(haystack.segments) for haystack in self.haystacks}

    @property
    def sha256(self) -> str:
        """The hash of the corpus."""
        return self.survey.sha256

    def at(self, places: Sequence[int]) -> list[Question]:
        """Return the questions at these places."""
        return [self.asked[place] for place in places]


@dataclass(frozen=True, slots=True)
class Parts:
    """The questions that count, at their places among all: those to choose by, and those held out."""

    tuning: tuple[int, ...]
    held_out: tuple[int, ...]
    split: Split | None
    """None where there is nothing to split; then all are for tuning."""

    @property
    def counted(self) -> list[int]:
        """Both together, in their order."""
        return sorted((*self.tuning, *self.held_out))


def open_questions(corpus: Corpus, options: Options) -> SweepQuestions:
    """Return the haystacks that every point is filled with; raises what is wrong with the corpus."""
    survey = corpus.survey()
    haystacks = select_haystacks(
        corpus.haystacks(), pool=options.pooled, limit=options.limit, ignore_time=options.time == "ignored"
    )
    return SweepQuestions(list(haystacks), survey)


def split_parts(questions: SweepQuestions) -> Parts:
    """Return the questions to tune by and those held out; only those with gold count."""
    counted = [place for place, question in enumerate(questions.asked) if question.gold]
    asked = questions.at(counted)
    clusters = [question.cluster for question in asked]
    if len({cluster or place for place, cluster in enumerate(clusters)}) < 2:
        return Parts(tuple(counted), (), None)
    split = split_questions(
        [question.id for question in asked],
        clusters if any(clusters) else None,
        [question.kind for question in asked],
    )
    drawn = dict(zip(counted, split.tuning.tolist(), strict=True))
    return Parts(
        tuple(place for place in counted if drawn[place]), tuple(place for place in counted if not drawn[place]), split
    )
