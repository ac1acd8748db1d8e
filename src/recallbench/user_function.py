"""A function or class of the user's own, as `module:name`, and the lines of it that failed."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recallbench.errors import RecallBenchError, UsageError

_OURS = str(Path(__file__).parent)
_LIBRARY = Path(importlib.__file__).parents[1]
_CALLING = ("<frozen importlib", str(_LIBRARY / "importlib"), str(_LIBRARY / "asyncio"))
"""Where the calls between this project and the user's code lie."""
_OBJECTS: dict[str, Any] = {}
"""Objects that were given as such, by name: one of a notebook or a function can't be imported."""
_CHAINED = 10
"""The most errors shown of those that led to one another."""


@contextmanager
def name_of(own: Any) -> Iterator[str]:
    """Yield `module:name`, by which `load_function` returns this object of the process until the block ends."""
    named = own if hasattr(own, "__qualname__") else type(own)
    name = f"{named.__module__}:{named.__qualname__}"
    _OBJECTS[name] = own
    try:
        yield name
    finally:
        _OBJECTS.pop(name, None)


def load_function(call: str, example: str, noun: str = "function") -> tuple[Any, Callable[..., Any]]:
    """Return the module and the function of `module:function`; raises UsageError, with this example, for any other."""
    if call in _OBJECTS:
        return sys.modules.get(call.partition(":")[0], sys.modules["__main__"]), _OBJECTS[call]
    module_name, function_name = module_and_name(call, example, noun)
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except RecallBenchError:
        raise  # it says itself what it lacks, and what to do
    except (Exception, SystemExit) as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name == module_name.partition(".")[0]
        missing = f"install {error.name}" if isinstance(error, ModuleNotFoundError) else "mend the module"
        raise UsageError(
            f"the module `{module_name}` can't be imported",
            found=f"{type(error).__name__}: {error}",
            remedy=f"{'run from its folder, or install it' if absent else missing}; then {example}",
            traceback="" if absent else user_traceback(error),
        ) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise UsageError(
            f"`{function_name}` of the module `{module_name}` is no {noun}",
            found=_described(module, function),
            remedy=example,
        )
    return module, function


def module_and_name(call: str, example: str, noun: str = "function") -> tuple[str, str]:
    """Return both parts of `module:name`; raises UsageError, with this example, for any other text."""
    module_name, _, function_name = call.partition(":")
    if not module_name or not function_name:
        raise UsageError(f"`{call}` names no {noun}", expected="module:name", remedy=example)
    if module_name.endswith(".py") or "/" in module_name:
        raise UsageError(
            f"`{module_name}` is a file, not a module",
            expected=f"the module's name, as {Path(module_name).stem}:{function_name}",
            found=module_name,
            remedy="leave out folder and .py, and run from the folder of the file",
        )
    return module_name, function_name


def user_traceback(error: BaseException) -> str:
    """Return the traceback of an error in the user's code, with what led to it, without any line of RecallBench."""
    parts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(parts) < _CHAINED:
        last = "".join(traceback.format_exception_only(current)).rstrip()
        parts.append("\n".join(filter(None, (user_calls(current), last))))
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n\nand then, while that was handled:\n".join(reversed(parts))


def user_calls(error: BaseException) -> str:
    """Return the calls of the user's code that led to an error, the last one last."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((_OURS, *_CALLING))]
    return "".join(traceback.StackSummary.from_list(own).format()).rstrip()


def _described(module: Any, found: Any) -> str:
    if found is None:
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        return f"no such name in {getattr(module, '__file__', 'it')}" + (f", which has {', '.join(own)}" if own else "")
    kind = type(found).__name__
    return f"a {kind}" + (f"; its class is {module.__name__}:{kind}" if hasattr(found, "search") else "")
