"""Limits on what a peer may send besides the file: nothing without an end, and no order to wait for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from recallbench.waiting import SILENCE
from recallbench.web_client import web_client

if TYPE_CHECKING:
    import httpx2

_WAITS = ("retry-after", "ratelimit")
"""Headers by which a server says how long to wait before another try."""


def download_client(**options: Any) -> httpx2.Client:
    """Return a web client that is wary of all that is no file."""
    client = web_client(**options)
    client.event_hooks["response"].append(_bare)
    return client


def _bare(response: httpx2.Response) -> None:
    """Leave nothing of an answer that could stall or fill this machine before its body is looked at."""
    for name in _WAITS:
        # Whoever is asked for a longer wait tries a few times on its own terms, and then gives up.
        if any(
            len(number) > 4 or int(number) > SILENCE for number in re.findall(r"\d+", response.headers.get(name, ""))
        ):
            del response.headers[name]
    if not response.is_success:
        # Read whole by whoever tells of an error or follows a redirection, it may go on for ever, or unpack to that.
        response.stream = _nothing_of(response)
        response.headers.pop("content-encoding", None)


def _nothing_of(response: httpx2.Response) -> httpx2.SyncByteStream:
    import httpx2

    class Nothing(httpx2.SyncByteStream):
        def __init__(self, unread: httpx2.SyncByteStream) -> None:
            self._unread = unread

        def __iter__(self) -> Iterator[bytes]:
            return iter(())

        def close(self) -> None:
            self._unread.close()

    assert isinstance(response.stream, httpx2.SyncByteStream)
    return Nothing(response.stream)
