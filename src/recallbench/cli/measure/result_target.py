"""A result folder in the place of a corpus: the same corpus, store and options again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recallbench.cli.command import is_given, typed
from recallbench.errors import UsageError


def take_result(named: str, others: dict[str, Any]) -> str:
    """Return the corpus of the result that is named, and fill in what its run was given; another name stays as it is.

    What the command line says goes before what the result says.
    """
    from recallbench.corpora.labelled_sets.set_name import is_set_name
    from recallbench.results.folder import is_result
    from recallbench.results.result import open_result
    from recallbench.stores.registry import options_of_record

    folder = Path(named)
    if not is_result(folder):
        return named
    result = open_result(folder)
    metrics, recorded = result.metrics, result.environment.get("options")
    run = recorded if isinstance(recorded, dict) else {}
    if "@" in metrics.corpus.name or is_set_name(metrics.corpus.name):
        raise UsageError(
            f"{folder} was made from files that it does not hold",
            expected="a result on a registered corpus",
            found=metrics.corpus.name,
            remedy="name the folder of the set, and --store",
        )
    if metrics.pipeline is not None and not is_given("pipeline"):
        raise UsageError(
            f"{folder} was made by a pipeline, whose file it does not hold",
            expected="--pipeline FILE",
            found=metrics.pipeline.words,
            remedy="name the file, or measure the store alone on the corpus: recallbench latency CORPUS --store NAME",
        )
    same_store = typed("store") is None or others["store"] == metrics.store.name
    if typed("store") is None:
        others["store"] = metrics.store.name
    if metrics.embedder is not None and not is_given("embedder") and same_store:
        others["embedder"] = str(run.get("embedder") or metrics.embedder.name)
    if same_store and not is_given("set"):
        others["set"] = tuple(f"{name}={value}" for name, value in options_of_record(run).items())
    for name in ("limit", "depth"):
        if not is_given(name) and run.get(name) is not None:
            others[name] = run[name]
    if run.get("pooled") and not is_given("scope"):
        others["scope"] = "pooled"
    if metrics.time is not None and metrics.time.way == "ignored" and not is_given("time"):
        others["time"] = "ignored"
    return metrics.corpus.name
