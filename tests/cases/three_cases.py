"""Three cases, and retrievers that answer them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import recallbench
from recallbench import Case

CASES = [Case("work?", ["acme"]), Case("allergy?", ["shellfish"]), Case("plan?", ["q3", "acme"])]
RANKED = {
    "work?": ["acme", "portland", "python"],
    "allergy?": ["python", "portland", "shellfish"],
    "plan?": ["q3", "python", "acme"],
}


def retrieve(query: str, k: int) -> list[str]:
    """Return the ids of that query."""
    return RANKED[query][:k]


async def retrieve_async(query: str, k: int) -> list[str]:
    """Return the same, a little later."""
    await asyncio.sleep(0.001)
    return RANKED[query][:k]


def evaluate_in_a_loop(retriever: Callable[..., Any], **more: Any) -> recallbench.Report:
    """Return the report that `evaluate_async` makes at k = 3."""
    return asyncio.run(recallbench.evaluate_async(CASES, retriever, k=3, **more))
