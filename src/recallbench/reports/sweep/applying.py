"""The command that measures a point of a sweep by itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.escaping.shell import command
from recallbench.results.sweep.document import SweepDocument, SweepPointPart
from recallbench.stores.registry import options_of_record

OF_STORE = "set."
K = "k"
PIPELINE = "pipeline"
TOKENS = " at "
"""Behind the name of an encoder that reads another number of tokens than is registered."""


def applied(document: SweepDocument, point: SweepPointPart, corpus: tuple[str, ...], file: Path) -> str:
    """Return the command that measures a point; `file` is the sweep's, where its pipelines count from.

    `corpus` are the words that name it. What a point changes within a pipeline is named for its user to write into the
    pipeline's file: no option has it.
    """
    words = ["evaluate" if is_set_name(document.corpus) else "run", *corpus]
    stated: Mapping[str, Any] = document.environment.get("options", {})
    within = {name: value for name, value in point.parameters.items() if not _is_option(name)}
    if within or (point.pipeline and PIPELINE not in point.parameters):
        told = ", ".join(f"{name} = {value}" for name, value in within.items())
        changed = f", where its file has {told}" if told else ""
        return f"{command(*words, '--pipeline', 'FILE')}{changed}"
    set_options = {n.removeprefix(OF_STORE): value for n, value in point.parameters.items() if n.startswith(OF_STORE)}
    searched = True
    if PIPELINE in point.parameters:
        named = Path(point.parameters[PIPELINE])
        words += ["--pipeline", str(named) if named.is_absolute() else os.path.relpath(file.parent / named)]
        # Legs of its own have no use for a store: a sweep drops the one that is stated.
        searched = point.store == point.parameters.get("store", stated.get("store"))
    if searched:
        words += ["--store", point.store]
        set_options = options_of_record(stated) | set_options
    if point.embedder is not None:
        name, _, tokens = point.embedder.removesuffix(" tokens").partition(TOKENS)
        words += ["--embedder", name, *(["--max-tokens", tokens] if tokens else [])]
    assigned = [word for name, value in set_options.items() for word in ("--set", f"{name}={value}")]
    return command(*words, *assigned)


def _is_option(parameter: str) -> bool:
    return parameter in ("store", PIPELINE, "embedder", "max_tokens", K) or parameter.startswith(OF_STORE)
