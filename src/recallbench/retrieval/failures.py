"""Questions that a store fails on: the first one ends a run, unless it is to keep going."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from recallbench.errors import Blocked, InputError
from recallbench.model_endpoint import ModelAway
from recallbench.retrieval.ranking import FromTheFuture, Ranking
from recallbench.stores.outside.answer import GO_ON

UNREACHED = 3
"""The times in a row that a store may be out of reach before a run with --keep-going ends."""

_T = TypeVar("_T")


class Failures:
    """The questions that got no answer, and why."""

    def __init__(self, *, keep_going: bool = False) -> None:
        self.keep_going = keep_going
        self.reasons: dict[str, InputError | Blocked] = {}
        """The failures by question id, in the order in which they came."""
        self.untimed: dict[str, InputError | Blocked] = {}
        """Questions that failed when they were timed on their own, whatever they answered otherwise."""
        self.seconds: dict[str, float] = {}
        """The seconds that each took to fail."""
        self._unreached = 0

    def attempt(
        self,
        questions: Iterable[str],
        act: Callable[[], _T],
        otherwise: _T,
        *,
        timing: bool = False,
        seconds: float | None = None,
    ) -> _T:
        """Return the result of `act`; with `keep_going` a failure is noted by question, and gives `otherwise`.

        Where `act` only tells what came of something before, `seconds` are what that took.
        """
        started = time.perf_counter()
        try:
            result = act()
        except FromTheFuture:
            raise
        except (InputError, Blocked) as error:
            away = isinstance(error, Blocked) and not isinstance(error, ModelAway)
            self._unreached = self._unreached + 1 if away else 0
            if not self.keep_going or self._unreached >= UNREACHED:
                raise
            for question in questions:
                (self.untimed if timing else self.reasons).setdefault(question, error)
                self.seconds[question] = time.perf_counter() - started if seconds is None else seconds
            return otherwise
        self._unreached = 0
        return result

    def empty_failed(self, rankings: Sequence[Ranking]) -> list[Ranking]:
        """Return the rankings, with empty ones for failed questions, also where one of two calls succeeded."""
        return [
            Ranking(ranking.question_id, (), ()) if ranking.question_id in self.reasons else ranking
            for ranking in rankings
        ]

    def refuse_all_failed(self, questions: int) -> None:
        """Raise the first failure where not one question was answered: nothing was measured then."""
        if self.reasons and len(self.reasons) >= questions:
            first = next(iter(self.reasons.values()))
            raise type(first)(
                f"not one of {questions} questions was answered; the first: {first.problem}",
                expected=first.expected,
                found=first.found,
                remedy=first.remedy.removesuffix(f"; {GO_ON}"),
                traceback=first.traceback,
            )
