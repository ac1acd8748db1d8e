"""Multi-query: a model asks the same question in other words, and all of them are searched for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from recallbench.errors import InputError
from recallbench.escaping.terminal import shortened
from recallbench.retrieval.chat.options import chat_options, max_tokens
from recallbench.retrieval.chat.prompts import prompt
from recallbench.retrieval.stages.chat_stage import ChatStage
from recallbench.retrieval.stages.stage import QuestionBatch, RewriteStage, StageOption, Variant, positive

COUNT = StageOption("n", "How many other wordings are asked for", default="3", parse=positive)
KEEP_ORIGINAL = StageOption(
    "keep_original", "Whether the question itself is searched for too", default="true", values=("true", "false")
)
MOST = max_tokens(256)
_MARK = re.compile(r"\s*(?:[-*•]+\s+|\(?\d{1,2}[.):]\s*|(?:question|query)\s*\d*\s*:\s*)", re.IGNORECASE)
_QUOTES = "\"'“”‘’`"


class MultiQueryStage(ChatStage, RewriteStage):
    """Searches for several wordings of a question; what a fusing stage makes of the lists is up to that."""

    method: ClassVar[str] = "multi-query"
    summary: ClassVar[str] = "a model words the question in other ways; all of them are searched for"
    options: ClassVar[tuple[StageOption, ...]] = (COUNT, KEEP_ORIGINAL, *chat_options(MOST))
    most: ClassVar[StageOption] = MOST
    prompts: ClassVar[tuple[str, ...]] = ("multi_query",)

    @classmethod
    def most_texts(cls, options: Mapping[str, str]) -> int:
        count: int = COUNT.read(options)
        return count + bool(KEEP_ORIGINAL.read(options) == "true")

    def rewrite(self, batch: QuestionBatch) -> list[list[Variant]]:
        return [self._variants(query.text, timed=batch.timed) for query in batch.queries]

    def _variants(self, question: str, *, timed: bool) -> list[Variant]:
        count = COUNT.read(self._options)
        doing = f"rewriting `{shortened(question)}`"
        asked = prompt("multi_query").messages(question=question, count=str(count))
        answer = self._client.ask(asked, doing, timed=timed)
        texts = list(dict.fromkeys(wordings(answer.text)))
        if not texts:
            raise InputError(
                f"a rewrite of nothing while {doing}",
                expected="other wordings of the question, one on each line",
                found=shortened(answer.text) or "nothing",
                remedy="ask another model, or leave the stage out",
            )
        others = [text for text in texts if text != question][:count]
        kept = [question] if KEEP_ORIGINAL.read(self._options) == "true" or not others else []
        return [Variant(text) for text in (*kept, *others)]


def wordings(answer: str) -> Iterator[str]:
    """Yield the texts of an answer's lines, without the numbers, bullets and quotes that models put round them."""
    for line in answer.splitlines():
        text = _MARK.sub("", line, count=1).strip().strip(_QUOTES).strip()
        if any(map(str.isalnum, text)):
            yield text
