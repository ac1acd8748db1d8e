"""An instance of the user's own as a memory: used as it is where its methods take a scope, else copied for each."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from typing import Any

from recallbench.errors import UsageError
from recallbench.stores.outside.method import SCOPES

_STATED = ("needs_vectors", "scores_depend_on_k", "several_callers", "settings")


def class_of(instance: Any) -> type:
    """Return a class whose instances stand for this one; it takes what `parameters_of` has, and ignores it."""
    kind = type(instance)
    shared = any(name in SCOPES for name in inspect.signature(kind.search).parameters)

    def new(_kind: type, **_parameters: Any) -> Any:
        return _Shared(instance) if shared else _copied(instance)

    stated = {name: getattr(instance, name) for name in _STATED if hasattr(instance, name)}
    known = [
        parameter.replace(kind=parameter.KEYWORD_ONLY, default=value) for parameter, value in _attributes(instance)
    ]
    body = {"__module__": kind.__module__, "__new__": new, "__signature__": inspect.Signature(known), **stated}
    return type(kind.__name__, (kind,), body)


def parameters_of(instance: Any) -> dict[str, Any]:
    """Return the values that are no defaults among what the instance was made with.

    They are known as far as an attribute has the name of a parameter, and is a number, a text or a list.
    """
    return {
        parameter.name: value
        for parameter, value in _attributes(instance)
        if isinstance(value, (bool, int, float, str, list)) and value != parameter.default
    }


def _attributes(instance: Any) -> Iterator[tuple[inspect.Parameter, Any]]:
    """Yield the parameters of the constructor whose values are attributes of that name."""
    for name, parameter in inspect.signature(type(instance)).parameters.items():
        attribute = next((known for known in (name, f"_{name}") if hasattr(instance, known)), None)
        if attribute is not None:
            yield parameter, getattr(instance, attribute)


class _Shared:
    """The user's own instance, which stays open when a run has done with it."""

    def __init__(self, instance: Any) -> None:
        self._instance = instance

    def __getattr__(self, name: str) -> Any:
        if name == "close":
            raise AttributeError(name)
        return getattr(self._instance, name)


def _copied(instance: Any) -> Any:
    try:
        return copy.deepcopy(instance)
    except Exception as error:
        kind = type(instance).__name__
        raise UsageError(
            f"a {kind} can't be copied, and each haystack needs a memory of its own",
            expected=f"the class {kind}, or a `scope` that both of its methods take",
            found=f"{type(error).__name__}: {error}",
            remedy=f"give the class, with its parameters: store={kind}, set={{…}}",
        ) from error
