"""Code of the user's own that is called within a time limit; its failures show its own lines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from recallbench.addresses import STORE
from recallbench.errors import InputError, RecallBenchError
from recallbench.interruption import TimeLimitExceeded, time_limit
from recallbench.user_function import load_function, user_calls, user_traceback

EXAMPLE = "recallbench run … --store python:my_module:Memory, with add(id, text) and search(query, k)"
NO_VERSION = "no __version__"
"""The version of code that states none."""
T = TypeVar("T")


class OwnCode:
    """A function or class, named as `module:name`."""

    def __init__(self, name: str, patience: float) -> None:
        """`patience` is the number of seconds that one call may take."""
        self.name = name
        self.object: Any
        self.module, self.object = load_function(name, EXAMPLE, "function or class")
        self._patience = patience

    @property
    def noun(self) -> str:
        """Return what it is, in a word."""
        return "class" if isinstance(self.object, type) else "function"

    @property
    def filters_time(self) -> bool:
        """Return whether it says that a search returns nothing but what was there when the question was asked."""
        return getattr(self.object, "filters_time", False) is True

    @property
    def version(self) -> str:
        """Return its name, with the version that its module or package states."""
        package = sys.modules.get(self.module.__name__.partition(".")[0])
        stated = (getattr(module, "__version__", None) for module in (self.module, package))
        return f"{self.name} ({next(filter(None, stated), NO_VERSION)})"

    def call(self, doing: str, act: Callable[[], T], *, otherwise: str = "") -> T:
        """Return the result of `act`; raises InputError, with the lines of the user's code, where it fails or is late.

        `otherwise` is what else its user can do about it.
        """
        try:
            with time_limit(self._patience):
                return act()
        except (RecallBenchError, KeyboardInterrupt):
            raise
        except TimeLimitExceeded as late:
            raise InputError(
                f"`{self.name}` did not come back while {doing}",
                expected=f"an answer within {self._patience:g} s",
                found="none in that time",
                remedy=f"mend the {self.noun}, or allow more seconds with {STORE.patience}{otherwise}",
                traceback=user_calls(late),
            ) from late
        except BaseException as error:  # one that was cancelled or wants to leave has failed as well
            raise InputError(
                f"`{self.name}` failed while {doing}",
                found=f"{type(error).__name__}: {error}",
                remedy=f"mend the {self.noun}; nothing of this run was written{otherwise}",
                traceback=user_traceback(error),
            ) from error
