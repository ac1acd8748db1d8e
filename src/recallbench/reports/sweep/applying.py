"""The command that measures a point of a sweep by itself."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import join

from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.results.sweep.document import SweepDocument, SweepPointPart
from recallbench.stores.registry import options_of_record

OF_STORE = "set."
K = "k"
PIPELINE = "pipeline"
TOKENS = " at "
"""Behind the name of an encoder that reads another number of tokens than is registered."""


def applied(document: SweepDocument, point: SweepPointPart, corpus: str, file: Path) -> str:
    """Return the command that measures a point on this corpus; `file` is the sweep's, where its pipelines count from.

    What a point changes within a pipeline is named for its user to write into the pipeline's file: no option has it.
    """
    words = ["recallbench", "evaluate" if is_set_name(document.corpus) else "run", corpus]
    if point.pipeline:
        within = {name: value for name, value in point.parameters.items() if not _is_option(name)}
        if PIPELINE not in point.parameters or within:
            told = ", ".join(f"{name} = {value}" for name, value in within.items())
            changed = f", where its file has {told}" if told else ""
            return f"{join(words)} --pipeline FILE{changed}"
        named = Path(point.parameters[PIPELINE])
        words += ["--pipeline", str(named) if named.is_absolute() else os.path.relpath(file.parent / named)]
    words += ["--store", point.store]
    if point.embedder is not None:
        name, _, tokens = point.embedder.removesuffix(" tokens").partition(TOKENS)
        words += ["--embedder", name, *(["--max-tokens", tokens] if tokens else [])]
    set_options = options_of_record(document.environment.get("options", {}))
    set_options |= {
        name.removeprefix(OF_STORE): value for name, value in point.parameters.items() if name.startswith(OF_STORE)
    }
    return join(words + [word for name, value in set_options.items() for word in ("--set", f"{name}={value}")])


def _is_option(parameter: str) -> bool:
    return parameter in ("store", PIPELINE, "embedder", "max_tokens", K) or parameter.startswith(OF_STORE)
