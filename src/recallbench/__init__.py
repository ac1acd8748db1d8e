"""RecallBench measures how well a long-term memory finds the right memory, and proves its number.

    import recallbench
    from recallbench import Case

    report = recallbench.evaluate([Case("where does acme ship from?", ["d7"])], retrieve, k=10)

`evaluate` measures one or several retrievers on cases of one's own, and returns a `Report` or several side by side;
`precision`, `recall`, `ndcg` and `mrr` score one ranking. `run` measures a store under the protocol, `load` reads the
result of a run, `table` puts reports or results side by side; `Pipeline` is the stages between a question and its
ranking. Everything else is behind the program `recallbench`, and
may change without notice.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recallbench.cases.case import Case
    from recallbench.cases.evaluation import evaluate, evaluate_async
    from recallbench.cases.functions import mrr, ndcg, precision, recall
    from recallbench.cases.loaded_result import LoadedResult, load
    from recallbench.cases.report import Report
    from recallbench.cases.side_by_side import SideBySide, table
    from recallbench.cases.thresholds import BelowThreshold
    from recallbench.cli.in_python import run
    from recallbench.errors import RecallBenchError
    from recallbench.retrieval.pipeline.pipeline import Pipeline

__version__ = "0.2.0"

__all__ = [
    "BelowThreshold",
    "Case",
    "LoadedResult",
    "Pipeline",
    "RecallBenchError",
    "Report",
    "SideBySide",
    "__version__",
    "evaluate",
    "evaluate_async",
    "load",
    "mrr",
    "ndcg",
    "precision",
    "recall",
    "run",
    "table",
]

_HOMES = {
    "BelowThreshold": "cases.thresholds",
    "Case": "cases.case",
    "LoadedResult": "cases.loaded_result",
    "Pipeline": "retrieval.pipeline.pipeline",
    "RecallBenchError": "errors",
    "Report": "cases.report",
    "SideBySide": "cases.side_by_side",
    "evaluate": "cases.evaluation",
    "evaluate_async": "cases.evaluation",
    "load": "cases.loaded_result",
    "mrr": "cases.functions",
    "ndcg": "cases.functions",
    "precision": "cases.functions",
    "recall": "cases.functions",
    "run": "cli.in_python",
    "table": "cases.side_by_side",
}
"""The module of each public name; it is imported at first use, so that importing the package costs nothing."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
