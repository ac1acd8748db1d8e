"""Every case put to a retriever: sync or async, one after another or several at a time, each within its time."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from recallbench.cases.answer import Answer, check_answer, failure_of, first_hits
from recallbench.cases.case import Case
from recallbench.interruption import TimeLimitExceeded, call_timer, can_interrupt

Retrieve = Callable[..., Any]
"""A function of a query, k and, where it has such a parameter, a vector; returns a ranking or something to await."""
GRACE = 1.0
"""Seconds beyond its limit after which an async retriever is taken to block its own event loop."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The way in which cases are put to a retriever."""

    retrieve: Retrieve
    k: int
    timeout: float | None
    """Seconds that one case may take. A call that can't be stopped, as one into C, or that goes on when it is, is late
    once it returns."""
    concurrency: int
    keep_going: bool
    repeats: bool
    """The hits are texts, of which two may be the same."""
    vectors: Mapping[str, Any] | None = None
    """The vector of each case by its name, for a retriever that takes it."""
    vector_first: bool = False
    """The retriever takes the vector before k, as `retrieve(query, vector, k)`."""
    name: str = ""
    """The retriever's name in errors, where there are several."""

    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        """Return an answer for each case; raises InputError at the first that fails, unless `keep_going`."""
        if _is_async(self.retrieve):
            return _Pool(self, cases, asynchronous=True).answers()
        try:
            if self.concurrency == 1 and (self.timeout is None or can_interrupt()):
                return self._call_in_turn(cases)
            return _Pool(self, cases, asynchronous=False).answers()
        except _Awaitable:  # only the first answer tells; nothing of it was started
            return _Pool(self, cases, asynchronous=True).answers()

    async def answers_async(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the same from within the event loop that is running."""
        left = deque(range(len(cases)))
        answered: dict[int, Answer] = {}

        async def lane() -> None:
            while left:
                number = left.popleft()
                answered[number] = await self._attempt_async(cases[number])

        lanes = [asyncio.ensure_future(lane()) for _ in range(min(self.concurrency, len(cases)))]
        try:
            await asyncio.gather(*lanes)
        finally:
            for task in lanes:
                task.cancel()
        return [answered[number] for number in range(len(cases))]

    def _call_in_turn(self, cases: Sequence[Case]) -> list[Answer]:
        answers: list[Answer] = []
        try:
            self._call_each(answers, cases)
        except TimeLimitExceeded:  # the alarm met the few steps between two calls
            raise self._late_error(cases[min(len(answers), len(cases) - 1)]) from None
        return answers

    def _call_each(self, answers: list[Answer], cases: Sequence[Case]) -> None:
        k, monotonic = self.k, time.monotonic
        most = math.inf if self.timeout is None else self.timeout
        with call_timer(self.timeout) as limit:
            for case in cases:
                try:
                    limit.started = began = monotonic()
                    returned = self._ask(case)
                    if type(returned) is not list:
                        if inspect.isawaitable(returned):
                            raise _not_awaited(returned)
                        returned = self._read_hits(returned)  # what takes its time here does so within the limit
                    limit.started = None
                    took = monotonic() - began
                    if took > most:  # its own `except:` may have swallowed the alarm
                        raise TimeLimitExceeded
                    answer = check_answer(case, returned, k, repeats=self.repeats, ms=1000 * took)
                except TimeLimitExceeded:
                    answer = self._fail(case, self._late_error(case))
                except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the retriever raises
                    limit.started = None
                    answer = self._fail(case, error)
                answers.append(answer)

    def _ask(self, case: Case) -> Any:
        if self.vectors is None:
            return self.retrieve(case.query, self.k)
        if self.vector_first:
            return self.retrieve(case.query, self.vectors[case.name], self.k)
        return self.retrieve(case.query, self.k, vector=self.vectors[case.name])

    def _read_hits(self, returned: Any) -> Any:
        """Read the hits of an answer that does its work only while it is read; return any other answer unchanged."""
        lazy = isinstance(returned, Iterable) and not isinstance(returned, (list, tuple, str, bytes, Mapping, Set))
        return iter(first_hits(returned, self.k)) if lazy else returned

    def attempt(self, case: Case) -> Answer:
        """Ask one case in this thread; a call that takes too long counts as late once it returns."""
        try:
            began = time.monotonic()
            returned = self._ask(case)
            if inspect.isawaitable(returned):
                raise _not_awaited(returned)
            returned = self._read_hits(returned)
            took = time.monotonic() - began
            self._refuse_late(case, took)
            return check_answer(case, returned, self.k, repeats=self.repeats, ms=1000 * took)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the retriever raises
            return self._fail(case, error)

    async def _attempt_async(self, case: Case) -> Answer:
        began: list[float] = []
        task = asyncio.ensure_future(self._call(case, began))
        left = self.timeout
        try:
            finished, _ = await asyncio.wait({task}, timeout=left)
            # Another call that blocked the event loop may have delayed its start.
            while not finished and (left := self._seconds_left(began)) > 0:
                finished, _ = await asyncio.wait({task}, timeout=left)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not finished:
            task.cancel()  # and not waited for: it may not listen
            return self._fail(case, self._late_error(case))
        if task.cancelled():
            return self._fail(case, RuntimeError("it was cancelled from within"))
        return task.result()

    def _seconds_left(self, began: Sequence[float]) -> float:
        """Return the seconds that an async call may still take, from its own start."""
        limit = self.timeout or 0.0
        return limit - (time.monotonic() - began[0]) if began else limit

    async def _call(self, case: Case, began: list[float]) -> Answer:
        try:
            began.append(time.monotonic())
            returned = self._ask(case)
            busy = time.monotonic() - began[0]
            if inspect.iscoroutine(returned):
                steps = _Steps(returned)
                returned = await steps
                busy += steps.seconds
            elif inspect.isawaitable(returned):
                returned = await returned
            walking = time.monotonic()
            returned = self._read_hits(returned)
            now = time.monotonic()
            self._refuse_late(case, busy + now - walking)
            return check_answer(case, returned, self.k, repeats=self.repeats, ms=1000 * (now - began[0]))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the retriever raises
            return self._fail(case, error)

    def _refuse_late(self, case: Case, seconds: float) -> None:
        if self.timeout is not None and seconds > self.timeout:
            raise self._late_error(case)

    def _fail(self, case: Case, error: BaseException) -> Answer:
        if isinstance(error, _Awaitable):
            raise error
        failure = failure_of(case, error)
        if self.name and not failure.problem.startswith(f"{self.name}: "):
            failure.problem = f"{self.name}: {failure.problem}"
        if not self.keep_going:
            raise failure
        return Answer((), None, failure)

    def _late_error(self, case: Case) -> BaseException:
        return case.wrong(
            "the retriever does not answer",
            f"a ranking within {self.timeout:g} s",
            "none in that time",
            "mend it, or give it more time with timeout=SECONDS",
        )


class _Pool:
    """Threads that take cases until none is left; one that hangs is left to itself, and another takes its place."""

    def __init__(self, caller: Caller, cases: Sequence[Case], *, asynchronous: bool) -> None:
        self.caller, self.cases, self.asynchronous = caller, cases, asynchronous
        self.left = deque(range(len(cases)))
        self.answered: dict[int, Answer] = {}
        self.error: BaseException | None = None
        self.changed = threading.Condition()
        self.limit = None if caller.timeout is None else caller.timeout + (GRACE if asynchronous else 0.0)
        # All lanes of an async retriever share one event loop, so that its connections can.
        self.size = 1 if asynchronous else min(caller.concurrency, len(cases))

    def answers(self) -> list[Answer]:
        workers = [_Worker(self) for _ in range(self.size)]
        with self.changed:
            while self.error is None and len(self.answered) < len(self.cases):
                self.changed.wait(None if self.limit is None else min(self.limit / 4, 1.0))
                for number, worker in enumerate(workers):
                    if self.limit is not None and worker.overdue(self.limit):
                        workers[number] = self._replace(worker, self.limit)
            for worker in workers:
                worker.abandoned = True
        if self.error is not None:
            raise self.error
        return [self.answered[number] for number in range(len(self.cases))]

    def _replace(self, worker: _Worker, limit: float) -> _Worker:
        late = worker.overdue(limit)
        worker.abandoned = True
        self.left.extendleft(number for number in worker.started if number not in late)
        for number in late:
            case = self.cases[number]
            try:
                self.answered[number] = self.caller._fail(case, self.caller._late_error(case))
            except BaseException as error:  # noqa: BLE001 - raised again by answers()
                self.error = self.error or error
        return _Worker(self)


class _Worker(threading.Thread):
    def __init__(self, pool: _Pool) -> None:
        super().__init__(daemon=True, name="recallbench-retriever")
        self.pool = pool
        self.started: dict[int, float] = {}
        self.abandoned = False
        self._context = contextvars.copy_context()
        self.start()

    def overdue(self, limit: float) -> list[int]:
        now = time.monotonic()
        return [number for number, at in list(self.started.items()) if now - at > limit]

    def run(self) -> None:
        try:
            self._context.run(self._work)
        except BaseException as error:  # noqa: BLE001 - raised again where the pool was asked
            with self.pool.changed:
                if not self.abandoned:
                    self.pool.error = self.pool.error or error
                    self.pool.changed.notify()

    def _work(self) -> None:
        if self.pool.asynchronous:
            asyncio.run(self._lanes())
            return
        while (number := self._next()) is not None:
            self._record(number, self.pool.caller.attempt(self.pool.cases[number]))

    async def _lanes(self) -> None:
        async def lane() -> None:
            while (number := self._next()) is not None:
                self._record(number, await self.pool.caller._attempt_async(self.pool.cases[number]))

        await asyncio.gather(*(lane() for _ in range(self.pool.caller.concurrency)))

    def _next(self) -> int | None:
        try:
            number = None if self.abandoned or self.pool.error else self.pool.left.popleft()
        except IndexError:
            return None
        if number is not None:
            self.started[number] = time.monotonic()
        return number

    def _record(self, number: int, answer: Answer) -> None:
        pool = self.pool
        with pool.changed:
            if self.abandoned:
                return
            del self.started[number]
            pool.answered[number] = answer
            if len(pool.answered) == len(pool.cases):
                pool.changed.notify()


class _Steps:
    """A coroutine whose own steps are timed; the time of others in the event loop does not count."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self.coroutine = coroutine
        self.seconds = 0.0
        """The time that its own steps took."""

    def __await__(self) -> Generator[Any, Any, Any]:
        thrown: BaseException | None = None
        while True:
            began = time.monotonic()
            try:
                awaited = self.coroutine.send(None) if thrown is None else self.coroutine.throw(thrown)
            except StopIteration as end:
                return end.value
            finally:
                self.seconds += time.monotonic() - began
            thrown = None
            try:
                yield awaited
            except BaseException as error:  # noqa: BLE001 - a cancellation, which is the coroutine's to hear
                thrown = error


class _Awaitable(Exception):
    """A retriever that does not look it turns out to be async."""


def _not_awaited(awaitable: Any) -> _Awaitable:
    if inspect.iscoroutine(awaitable):
        awaitable.close()
    return _Awaitable()


def _is_async(retrieve: Retrieve) -> bool:
    return inspect.iscoroutinefunction(retrieve) or inspect.iscoroutinefunction(getattr(retrieve, "__call__", None))  # noqa: B004
