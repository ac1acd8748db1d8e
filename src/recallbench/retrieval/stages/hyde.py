"""HyDE (Gao et al. 2022): a model invents a passage that would answer the question, and that is searched for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from recallbench.errors import InputError
from recallbench.escaping.terminal import shortened
from recallbench.retrieval.chat.options import chat_options, max_tokens
from recallbench.retrieval.chat.prompts import prompt
from recallbench.retrieval.stages.chat_stage import ChatStage
from recallbench.retrieval.stages.multi_query import KEEP_ORIGINAL
from recallbench.retrieval.stages.stage import QuestionBatch, RewriteStage, StageOption, Variant

WITH_QUESTION = replace(KEEP_ORIGINAL, default="false")
MOST = max_tokens(200)


class HydeStage(ChatStage, RewriteStage):
    """Searches for an invented passage, embedded as what is searched; beside the question, where that is kept."""

    method: ClassVar[str] = "hyde"
    summary: ClassVar[str] = "a model invents a passage that answers the question; that is searched for"
    options: ClassVar[tuple[StageOption, ...]] = (WITH_QUESTION, *chat_options(MOST))
    most: ClassVar[StageOption] = MOST
    prompts: ClassVar[tuple[str, ...]] = ("hyde",)

    @classmethod
    def most_texts(cls, options: Mapping[str, str]) -> int:
        return 1 + bool(WITH_QUESTION.read(options) == "true")

    def rewrite(self, batch: QuestionBatch) -> list[list[Variant]]:
        return [self._variants(query.text, timed=batch.timed) for query in batch.queries]

    def _variants(self, question: str, *, timed: bool) -> list[Variant]:
        doing = f"inventing a passage for `{shortened(question)}`"
        passage = self._client.ask(prompt("hyde").messages(question=question), doing, timed=timed).text
        if not any(map(str.isalnum, passage)):
            raise InputError(
                f"a rewrite of nothing while {doing}",
                expected="a passage with words in it",
                found=shortened(passage),
                remedy="ask another model, or leave the stage out",
            )
        kept = [Variant(question)] if WITH_QUESTION.read(self._options) == "true" else []
        return [*kept, Variant(passage, as_passage=True)]
