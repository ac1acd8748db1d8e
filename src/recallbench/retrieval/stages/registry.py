"""The stages by kind and method: a new one is a module and a line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module

from recallbench.errors import UsageError
from recallbench.nearest_name import nearest_name
from recallbench.retrieval.stages.search import SearchStage
from recallbench.retrieval.stages.stage import KEEP, KINDS, Kind, Stage, StageOption
from recallbench.stores.registry import STORES

METHODS: Mapping[Kind, Mapping[str, str]] = {
    "rewrite": {
        "multi-query": "multi_query.MultiQueryStage",
        "hyde": "hyde.HydeStage",
    },
    "search": {
        "store": "search.SearchStage",
        "dense": "search.SearchStage",
        "lexical": "search.SearchStage",
    },
    "fuse": {
        "rrf": "rrf.RrfStage",
        "weighted": "weighted.WeightedStage",
        "combmnz": "combmnz.CombMnzStage",
    },
    "diversify": {"mmr": "mmr.MmrStage"},
    "rerank": {
        "cross-encoder": "cross_encoder.CrossEncoderStage",
        "endpoint": "endpoint_rerank.EndpointRerankStage",
    },
    "generate": {
        "chat": "chat_answer.ChatAnswerStage",
    },
    "judge": {
        "exact": "exact.ExactJudge",
        "token-f1": "token_f1.TokenF1Judge",
        "llm": "llm_judge.LlmJudge",
    },
}
"""The module and class of each method, below this package. The search stage also takes the name of any store."""
CUTTING: frozenset[Kind] = frozenset({"fuse", "diversify", "rerank"})
"""The kinds that take the option `keep`."""


def known_kind(kind: str) -> Kind:
    """Return the kind of that name; raises UsageError where there is none."""
    for known in KINDS:
        if known == kind:
            return known
    raise UsageError(f"there is no kind of stage `{kind}`", expected=", ".join(KINDS), remedy=nearest(kind, KINDS))


def stage_class(kind: Kind, method: str) -> type[Stage]:
    """Return the class of a stage; raises UsageError where there is none."""
    methods = METHODS[kind]
    if kind == "search" and SearchStage.exists(method):
        return SearchStage
    if method not in methods:
        known = [*methods, *(STORES if kind == "search" else ())]
        others = [other for other, theirs in METHODS.items() if method in theirs]
        meant = f"{method} is a method of `{others[0]}`" if others else nearest(method, known)
        raise UsageError(f"there is no stage `{kind}` with method `{method}`", expected=", ".join(known), remedy=meant)
    return _loaded(methods[method])


def options_of(kind: Kind, method: str) -> tuple[StageOption, ...]:
    """Return the options that a stage takes."""
    return (*stage_class(kind, method).options, *((KEEP,) if kind in CUTTING else ()))


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a hint at the word that was meant, and where all are listed."""
    near = nearest_name(word, known)
    return (f"you may mean {near}; " if near else "") + "`recallbench stages` lists stages and options"


@cache
def _loaded(path: str) -> type[Stage]:
    module, _, name = path.rpartition(".")
    kind: type[Stage] = getattr(import_module(f"recallbench.retrieval.stages.{module}"), name)
    return kind
