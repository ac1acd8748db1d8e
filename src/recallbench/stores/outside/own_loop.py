"""The event loop in which the user's asynchronous methods are awaited: one for all calls, as their clients need it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class OwnLoop:
    """A loop of its own; where this thread runs one already, as in a notebook, on a thread of its own."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._thread = None
        else:
            self._thread = ThreadPoolExecutor(1, "recallbench-loop")

    def result(self, awaitable: Awaitable[Any]) -> Any:
        """Return what comes of it."""
        return self._do(lambda: self._runner.run(_awaited(awaitable)))

    def close(self) -> None:
        """End the loop."""
        self._do(self._runner.close)
        if self._thread is not None:
            self._thread.shutdown(wait=False)

    def _do(self, act: Callable[[], T]) -> T:
        return act() if self._thread is None else self._thread.submit(act).result()


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
