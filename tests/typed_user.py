"""A user's code for mypy --strict to check; it is never run."""

import recallbench
from recallbench import Case, Report


async def find(query: str, k: int) -> list[tuple[str, float]]:
    return []


report: Report = recallbench.evaluate([Case("q", ["a"])], find, k=3)
value: float = report.recall
slices: dict[str, Report] = report.by("kind")
gain: float = recallbench.ndcg(["a"], {"a": 2}, k=3)


def plain(query: str, k: int) -> list[str]:
    return []


def nearest(query: str, k: int, vector: object) -> list[str]:
    return []


reports = recallbench.evaluate({"q": ["a"]}, {"plain": plain, "again": plain}, k=3)
best: Report = reports[reports.best]
vectors: Report = recallbench.evaluate([("q", ["a"])], nearest, embed=lambda texts: [[1.0]] * len(texts))
rows: Report = recallbench.evaluate([{"query": "q", "relevant": ["a"]}], retrieve=plain, params={"alpha": 0.3})


async def several() -> Report:
    asked = await recallbench.evaluate_async("gold.jsonl", {"find": find})
    return asked["find"]


class Memory:
    def add(self, id: str, text: str) -> None:
        pass

    def search(self, query: str, k: int) -> list[str]:
        return []


made: recallbench.LoadedResult = recallbench.run("canary-locomo", store=Memory, limit=3)
found: float = recallbench.load("results/one").value("mrr@10")
one: recallbench.LoadedResult = recallbench.table({"made": made, "old": "results/one"})["made"]
again: Report = recallbench.table({"report": report}, ["mrr@3"])["report"]
made.compare("results/one", allow=["store"])
