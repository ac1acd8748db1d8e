"""A user's code for mypy --strict to check; it is never run."""

import recallbench
from recallbench import Case, Report


async def find(query: str, k: int) -> list[tuple[str, float]]:
    return []


report: Report = recallbench.evaluate([Case("q", ["a"])], find, k=3)
value: float = report.recall
slices: dict[str, Report] = report.by("kind")
gain: float = recallbench.ndcg(["a"], {"a": 2}, k=3)
