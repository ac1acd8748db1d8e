"""A model judges an answer, by a pinned prompt: whether it is right, and whether the context supports it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from recallbench.corpora.records import Question, Segment
from recallbench.errors import Blocked, InputError
from recallbench.escaping.terminal import shortened
from recallbench.retrieval.chat.kept_answers import ChatAnswer
from recallbench.retrieval.chat.options import chat_options, max_tokens
from recallbench.retrieval.chat.prompts import Message, prompt
from recallbench.retrieval.stages.answer_words import is_known
from recallbench.retrieval.stages.answering import CORRECT, FAITHFUL, Judgement, JudgeStage
from recallbench.retrieval.stages.chat_answer import CHARACTERS, NOTHING, in_words
from recallbench.retrieval.stages.chat_stage import ChatStage
from recallbench.retrieval.stages.stage import StageOption
from recallbench.usage import Usage

FAITHFULNESS = StageOption(
    "faithfulness",
    "Whether it also judges if the context supports the answer",
    default="true",
    values=("true", "false"),
)
MOST = max_tokens(200)
_VERDICT = re.compile(r"\bverdict\W{0,9}(yes|no)\b", re.IGNORECASE)
_ALONE = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


class LlmJudge(ChatStage, JudgeStage):
    """Asks for a reason and a verdict; where the right answer is that there is none, whether the answer declines."""

    method: ClassVar[str] = "llm"
    summary: ClassVar[str] = "a model compares the answer with the right one, and with the context"
    options: ClassVar[tuple[StageOption, ...]] = (FAITHFULNESS, CHARACTERS, *chat_options(MOST))
    most: ClassVar[StageOption] = MOST
    prompts: ClassVar[tuple[str, ...]] = ("correctness", "abstention", "faithfulness")

    def judge(self, question: Question, context: Sequence[Segment], answer: str) -> Judgement:
        asked: dict[str, ChatAnswer] = {}
        failures: dict[str, InputError | Blocked] = {}
        for name, messages, doing in self._requests(question, context, answer):
            try:
                asked[name] = self._client.ask(messages, doing)
            except (InputError, Blocked) as error:  # the other verdict stands by itself
                failures[name] = error
        if failures and not asked:
            raise next(iter(failures.values()))
        costs = [given.usage for given in asked.values() if given.usage is not None]
        found = _judgement({name: given.text for name, given in asked.items()}, sum(costs, Usage()) if costs else None)
        return replace(found, failures=failures, asking=self.asking(asked.values()))

    def _requests(
        self, question: Question, context: Sequence[Segment], answer: str
    ) -> Iterator[tuple[str, Sequence[Message], str]]:
        """Yield what the model is asked: what it is about, the messages, and what is being done, for errors."""
        shown = f"{question.id}, `{shortened(question.text)}`"
        if question.declined:
            messages = prompt("abstention").messages(question=question.text, answer=answer)
            yield CORRECT, messages, f"judging the answer to {shown}"
        elif is_known(question):
            messages = prompt("correctness").messages(question=question.text, answer=answer, gold=question.answer)
            yield CORRECT, messages, f"judging the answer to {shown}"
        if FAITHFULNESS.read(self._options) == "true":
            excerpts = "\n\n".join(in_words(context, CHARACTERS.read(self._options))) or NOTHING
            messages = prompt("faithfulness").messages(question=question.text, answer=answer, context=excerpts)
            yield FAITHFUL, messages, f"holding the answer to {shown} against its context"

    @classmethod
    def again(cls, question: Question, answer: str, raw: Mapping[str, str]) -> Judgement | None:
        return _judgement(raw, None)


def verdict_of(text: str) -> float | None:
    """Return 1 for yes and 0 for no, by the last verdict of a text or its bare word; None where it has neither."""
    found = _VERDICT.findall(text)
    if not found and (alone := _ALONE.match(text)) and len(text.split()) <= 3:
        found = [alone[1]]
    return float(found[-1].lower() == "yes") if found else None


def _judgement(raw: Mapping[str, str], usage: Usage | None) -> Judgement:
    correct, faithful = (verdict_of(raw[name]) if name in raw else None for name in (CORRECT, FAITHFUL))
    return Judgement(correct, faithful, raw, usage)
