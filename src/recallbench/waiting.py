"""How long a peer may keep a request waiting, counted at the socket: headers that drip count as much as a body does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import httpx2

SILENCE = 60.0
"""Seconds of a download in which not a byte came, after which none is waited for."""
SLOWEST = 10_000
"""Bytes a second that a download must bring."""
WINDOW = 60.0
"""Seconds of waiting over which that is judged."""
PAUSE = 10.0
"""Seconds before a new connection that count as waited for at most: longer, something else was being done."""
PIECE = 16 << 10
"""Bytes that are sent at once: each piece may take no longer than what is left."""


class TooSlow(Exception):
    """The peer was given its time; the text says how much of the answer came."""


class Limit(Protocol):
    """What may still be waited; all methods raise TooSlow when it is used up."""

    def seconds_left(self) -> float: ...

    def connecting(self) -> None: ...

    def note(self, seconds: float, received: int) -> None: ...


class Deadline:
    """All of an exchange, from connecting to the last byte of the body, within so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._received = 0

    def seconds_left(self) -> float:
        """The seconds until the end."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TooSlow(f"{self._received} bytes of it" if self._received else "none")
        return seconds

    def connecting(self) -> None:
        """A new connection gets no time of its own."""
        self.seconds_left()

    def note(self, seconds: float, received: int) -> None:
        """Count what came."""
        self._received += received
        if not received:
            self.seconds_left()


class Pace:
    """No long silence, and a least speed: of all connections of one download together, however often one is lost."""

    def __init__(self, silence: float, slowest: float, window: float) -> None:
        self._silence, self._slowest, self._window = silence, slowest, window
        self._silent = self._waited = 0.0
        self._received = 0
        self._last = time.monotonic()

    def seconds_left(self) -> float:
        """The seconds that the next byte may take."""
        return min(self._silence - self._silent, self._window - self._waited)

    def connecting(self) -> None:
        """Count the pause before it: a peer that hangs up after each byte would cost no other time."""
        self.note(min(time.monotonic() - self._last, PAUSE), 0)

    def note(self, seconds: float, received: int) -> None:
        """Count what came, and what was waited for it: time spent on this machine is not the peer's."""
        self._last = time.monotonic()
        self._waited += seconds
        self._received += received
        self._silent = 0.0 if received else self._silent + seconds
        if self._silent >= self._silence:
            raise TooSlow(f"not a byte in {self._silence:g} s")
        if self._waited >= self._window:
            if self._received < self._slowest * self._waited:
                raise TooSlow(
                    f"{self._received} bytes in {self._waited:.3g} s, where at least "
                    f"{self._slowest / 1000:g} kB/s are expected"
                )
            self._waited, self._received = 0.0, 0


def download_pace() -> Pace:
    """The pace that every download must keep."""
    return Pace(SILENCE, SLOWEST, WINDOW)


_limit: ContextVar[Limit | None] = ContextVar("limit of waiting", default=None)


@contextmanager
def limit_waiting(limit: Limit) -> Iterator[None]:
    """Hold what `watched` clients do in this block to a limit."""
    before = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(before)


def watched(client: httpx2.Client) -> httpx2.Client:
    """The client itself, whose connections from now on keep to the limit they are used under."""
    import httpx2

    # httpx2 offers no other way that keeps the proxies of the environment: a transport handed to it would replace them.
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx2.HTTPTransport):
            pool: Any = transport._pool
            pool._network_backend = _backend(pool._network_backend)
    return client


def _backend(inner: Any) -> Any:
    import socket

    import httpcore2

    class Watched(httpcore2.NetworkStream):
        def __init__(self, stream: httpcore2.NetworkStream) -> None:
            self._stream = stream

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return _waited(lambda seconds: self._stream.read(max_bytes, seconds), timeout)

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            limit, view = _limit.get(), memoryview(buffer)
            for start in range(0, len(view), PIECE):
                piece = bytes(view[start : start + PIECE])
                self._stream.write(piece, timeout if limit is None else limit.seconds_left())

        def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
            limit = _limit.get()
            seconds = timeout if limit is None else limit.seconds_left()
            return Watched(self._stream.start_tls(ssl_context, server_hostname, seconds))

        def get_extra_info(self, info: str) -> Any:
            return self._stream.get_extra_info(info)

        def close(self) -> None:
            self._stream.close()

    class Backend(httpcore2.NetworkBackend):
        def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Any = None,
        ) -> Any:
            options: dict[str, Any] = {"local_address": local_address, "socket_options": socket_options}
            limit = _limit.get()
            if limit is None:
                return Watched(inner.connect_tcp(host, port, timeout, **options))
            limit.connecting()
            try:
                found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except OSError as error:
                raise httpcore2.ConnectError(str(error)) from error
            # One by one: given the name, each of its addresses would be waited for as long.
            for place, (*_, address) in enumerate(found, 1):
                seconds = limit.seconds_left() if timeout is None else min(timeout, limit.seconds_left())
                began = time.monotonic()
                try:
                    stream = inner.connect_tcp(str(address[0]), port, seconds, **options)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                    if place == len(found):
                        raise
                    continue
                limit.note(time.monotonic() - began, 0)
                return Watched(stream)
            raise httpcore2.ConnectError(f"{host} has no address")

        def sleep(self, seconds: float) -> None:
            inner.sleep(seconds)

    return Backend()


def _waited(read: Callable[[float | None], bytes], timeout: float | None) -> bytes:
    """What came, within the limit in force; the client's own time counts where there is none."""
    import httpcore2

    limit = _limit.get()
    if limit is None:
        return read(timeout)
    while True:
        seconds, began = limit.seconds_left(), time.monotonic()
        try:
            received = read(seconds)
        except httpcore2.ReadTimeout:
            # A clock that is a hair behind must not make this loop spin.
            limit.note(max(time.monotonic() - began, seconds), 0)
            continue
        limit.note(time.monotonic() - began, len(received))
        return received
