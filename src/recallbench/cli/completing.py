"""The words that a shell completes: names that this program knows, where no choice of click's lists them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from click import Context, Parameter
from click.shell_completion import CompletionItem

Completer = Callable[[Context, Parameter, str], Sequence[CompletionItem]]
Names = Callable[[Context], Iterable[str]]


def completer_of(name: str) -> Completer | None:
    """Return what completes a parameter of this name; None for one whose values are no names of ours."""
    names = NAMES.get(name)
    if names is None:
        return None

    def complete(context: Context, _parameter: Parameter, typed: str) -> list[CompletionItem]:
        # The last of several that are separated by commas.
        before, comma, last = typed.rpartition(",")
        found = [CompletionItem(f"{before}{comma}{word}") for word in names(context) if word.startswith(last)]
        # Where no name begins so, it may be a folder or a file.
        return found or [CompletionItem(typed, type="file")]

    return complete


def _corpora(_context: Context) -> Iterable[str]:
    from recallbench.corpora.registry import CORPORA, GROUPS

    return [*CORPORA, *GROUPS]


def _own_sets(_context: Context) -> Iterable[str]:
    from recallbench.corpora.labelled_sets.hub_set import known_sets

    return [f"hub:{name}" for name in known_sets()]


def _stores(_context: Context) -> Iterable[str]:
    from recallbench.stores.registry import STORES

    return [*STORES, "python:"]


def _encoders(_context: Context) -> Iterable[str]:
    from recallbench.embedding.encoders import ENCODERS

    return [*ENCODERS, "hash", "hub:", "path:"]


def _downloads(_context: Context) -> Iterable[str]:
    from recallbench.corpora.registry import CORPORA
    from recallbench.embedding.encoders import ENCODERS

    return [*CORPORA, *ENCODERS]


def _measures(_context: Context) -> Iterable[str]:
    from recallbench.scoring.measures.registry import MEASURES

    return [f"{name}@10" for name in MEASURES]


def _stages(context: Context) -> Iterable[str]:
    """Return the stages of the result that stands on the command line already."""
    # An option that waits for its value keeps click from telling arguments apart.
    place = context.params.get("result") or next(iter(context.args), "")
    try:
        metrics = json.loads((Path(place) / "metrics.json").read_bytes())
        return [str(stage["name"]) for stage in metrics["pipeline"]["stages"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


NAMES: Mapping[str, Names] = {
    "corpus": _corpora,
    "corpora": _corpora,
    "target": _own_sets,
    "store": _stores,
    "against": _stores,
    "embedder": _encoders,
    "encoders": _encoders,
    "match-embedder": _encoders,
    "downloads": _downloads,
    "measure": _measures,
    "measures": _measures,
    "stage": _stages,
}
"""What completes the parameters of these names, in whichever command they are."""
