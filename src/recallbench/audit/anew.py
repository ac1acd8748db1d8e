"""The command that measures what a result states once more."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from recallbench.confidential import MARK, sanitised, without_secrets
from recallbench.corpora.registry import CORPORA
from recallbench.errors import RecallBenchError
from recallbench.results.result import Result
from recallbench.stores.registry import options_of_record

DEPTH = 50
"""The depth that a run has of itself."""


def command_anew(result: Result) -> str:
    """Return the command, as a shell takes it; empty where the files of its corpus are not those of a registered one.

    It holds no secret. The file of a pipeline is for its user to name: a result does not hold it.
    """
    metrics = result.metrics
    if metrics.corpus.name not in CORPORA:
        return ""
    recorded = _recorded(result)
    words = ["recallbench", "run", metrics.corpus.name]
    if metrics.pipeline is None or recorded.get("store"):
        words += ["--store", metrics.store.name]
    if metrics.pipeline is not None:
        words += ["--pipeline", "FILE"]
    if metrics.embedder is not None:
        words += ["--embedder", str(recorded.get("embedder") or metrics.embedder.name)]
    if metrics.retrieval.depth != DEPTH:
        words += ["--depth", str(metrics.retrieval.depth)]
    if metrics.retrieval.limit is not None:
        words += ["--limit", str(metrics.retrieval.limit)]
    if metrics.retrieval.scope == "pooled":
        words += ["--scope", "pooled"]
    if metrics.time is not None and metrics.time.way == "ignored":
        words += ["--time", "ignored"]
    if metrics.control_static is not None:
        words += ["--controls", "bm25,static"]
    for name in ("max_tokens", "dtype", "version"):
        if recorded.get(name) is not None:
            words += [f"--{name.replace('_', '-')}", str(recorded[name])]
    for name, value in without_secrets(options_of_record(recorded)).items():
        words += ["--set", f"{name}={'VALUE' if MARK in value else value}"]
    return shlex.join(map(sanitised, words))


def _recorded(result: Result) -> Mapping[str, Any]:
    """Return the options as the run was given them; none where its record can't be read."""
    try:
        options = result.environment.get("options")
    except (RecallBenchError, OSError):
        return {}
    return options if isinstance(options, dict) else {}
