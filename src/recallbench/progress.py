"""Progress of long work, reported without knowing who listens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeVar

Advance = Callable[[int], None]
T = TypeVar("T")


class Progress(Protocol):
    """Listens to stages of work."""

    def stage(self, name: str, total: int | None, unit: str) -> AbstractContextManager[Advance]:
        """Announce a stage; the yielded function is called with how many units were done."""

    def note(self, text: str) -> None:
        """Say one line."""

    def expect(self, left: Callable[[], float | None]) -> None:
        """Tell beside each stage what `left` returns: the seconds that all of the work still takes, where known."""


class Silent:
    """Listens and says nothing."""

    @contextmanager
    def stage(self, name: str, total: int | None, unit: str) -> Iterator[Advance]:
        yield lambda done: None

    def note(self, text: str) -> None:
        return None

    def expect(self, left: Callable[[], float | None]) -> None:
        return None


def counted(things: Iterable[T], advance: Advance) -> Iterator[T]:
    """Yield each of the things, and count it once the next one is asked for."""
    for thing in things:
        yield thing
        advance(1)
