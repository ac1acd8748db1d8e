"""A model answers from the segments that were retrieved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from recallbench.corpora.records import Question, Segment
from recallbench.escaping.terminal import shortened
from recallbench.retrieval.chat.options import chat_options, max_tokens
from recallbench.retrieval.chat.prompts import prompt
from recallbench.retrieval.stages.answer_words import ABSTENTION
from recallbench.retrieval.stages.answering import AnswerStage, GivenAnswer
from recallbench.retrieval.stages.chat_stage import ChatStage
from recallbench.retrieval.stages.stage import StageOption, positive

TOP = StageOption("top", "How many segments of the ranking it is given", default="5", parse=positive)
CHARACTERS = StageOption(
    "characters", "How many characters of these together at most; the last is cut there", parse=positive
)
MOST = max_tokens(128)
NOTHING = "(none)"


class ChatAnswerStage(ChatStage, AnswerStage):
    """Answers in a few words, and says that it can't where the segments do not hold the answer."""

    method: ClassVar[str] = "chat"
    summary: ClassVar[str] = "a model answers from the first segments of the ranking"
    options: ClassVar[tuple[StageOption, ...]] = (TOP, CHARACTERS, *chat_options(MOST))
    most: ClassVar[StageOption] = MOST
    prompts: ClassVar[tuple[str, ...]] = ("answer",)

    @classmethod
    def context_of(cls, options: Mapping[str, str]) -> int:
        top: int = TOP.read(options)
        return top

    def answer(self, question: Question, context: Sequence[Segment]) -> GivenAnswer:
        given = context[: self.context_of(self._options)]
        excerpts = in_words(given, CHARACTERS.read(self._options))
        asked = prompt("answer").messages(
            question=question.text,
            context="\n\n".join(excerpts) or NOTHING,
            when="" if question.asked_at is None else f" (asked on {question.asked_at:%d %B %Y})",
            abstention=ABSTENTION,
        )
        answer = self._client.ask(asked, f"answering {question.id}, `{shortened(question.text)}`")
        ids = tuple(segment.id for segment in given[: len(excerpts)])
        return GivenAnswer(answer.text, ids, answer.usage, answer.cut, self.asking([answer]))


def in_words(context: Sequence[Segment], characters: int | None = None) -> list[str]:
    """Return segments as a model reads them: numbered, dated, and no further than so many characters together."""
    excerpts, left = [], characters
    for number, segment in enumerate(context, start=1):
        when = "" if segment.occurred_at is None else f" ({segment.occurred_at:%d %B %Y})"
        text = segment.text if left is None else segment.text[:left]
        if not text and segment.text:
            break
        if left is not None:
            left -= len(text)
        excerpts.append(f"Excerpt {number}{when}:\n{text}")
    return excerpts
