"""Connections whose every wait counts against the limit in force."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from recallbench.waiting import limit_in_force

if TYPE_CHECKING:
    import httpcore2

PIECE = 16 << 10
"""Bytes that are sent at once: each piece may take no longer than the time left."""


def limited_backend() -> httpcore2.NetworkBackend:
    """Return a backend for httpcore2 whose sockets keep to the limit in force."""
    import socket

    import httpcore2

    inner = httpcore2.SyncBackend()

    class LimitedStream(httpcore2.NetworkStream):
        def __init__(self, stream: httpcore2.NetworkStream) -> None:
            self._stream = stream

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return _waited(lambda seconds: self._stream.read(max_bytes, seconds), timeout)

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            limit, view = limit_in_force(), memoryview(buffer)
            for start in range(0, len(view), PIECE):
                piece = bytes(view[start : start + PIECE])
                self._stream.write(piece, timeout if limit is None else limit.seconds_left())

        def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
            limit = limit_in_force()
            seconds = timeout if limit is None else limit.seconds_left()
            return LimitedStream(self._stream.start_tls(ssl_context, server_hostname, seconds))

        def get_extra_info(self, info: str) -> Any:
            return self._stream.get_extra_info(info)

        def close(self) -> None:
            self._stream.close()

    class LimitedBackend(httpcore2.NetworkBackend):
        def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Any = None,
        ) -> Any:
            options: dict[str, Any] = {"local_address": local_address, "socket_options": socket_options}
            limit = limit_in_force()
            if limit is None:
                return LimitedStream(inner.connect_tcp(host, port, timeout, **options))
            limit.connecting()
            try:
                addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except OSError as error:
                raise httpcore2.ConnectError(str(error)) from error
            # One by one: given the name, each of its addresses would be waited for as long.
            for place, (*_, address) in enumerate(addresses, 1):
                seconds = limit.seconds_left() if timeout is None else min(timeout, limit.seconds_left())
                began = time.monotonic()
                try:
                    stream = inner.connect_tcp(str(address[0]), port, seconds, **options)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                    if place == len(addresses):
                        raise
                    continue
                limit.note(time.monotonic() - began, 0)
                return LimitedStream(stream)
            raise httpcore2.ConnectError(f"{host} has no address")

        def sleep(self, seconds: float) -> None:
            inner.sleep(seconds)

    return LimitedBackend()


def _waited(read: Callable[[float | None], bytes], timeout: float | None) -> bytes:
    """Return the bytes that came within the limit in force; without one the client's own time counts."""
    import httpcore2

    limit = limit_in_force()
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
