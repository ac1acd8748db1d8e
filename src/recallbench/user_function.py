"""A function of the user's own, as `module:function`."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

from recallbench.errors import RecallBenchError, UsageError


def load_function(call: str, example: str) -> tuple[Any, Callable[..., Any]]:
    """Return the module and the function of `module:function`; raises UsageError, with this example, for any other."""
    module_name, _, function_name = call.partition(":")
    if not module_name or not function_name:
        raise UsageError(f"`{call}` names no function", expected="module:function", remedy=example)
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except RecallBenchError:
        raise  # it says itself what it lacks, and what to do
    except Exception as error:
        raise UsageError(
            f"the module `{module_name}` can't be imported",
            found=f"{type(error).__name__}: {error}",
            remedy=f"run from its folder, or install it; then {example}",
        ) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        description = "no such name" if function is None else f"a {type(function).__name__}"
        raise UsageError(
            f"`{function_name}` of the module `{module_name}` is no function", found=description, remedy=example
        )
    return module, function
