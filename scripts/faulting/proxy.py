"""A proxy in front of a server, as a balancer or a tunnel is one: it can stall, drop what is idle, and cut a stream."""

from __future__ import annotations

import select
import socket
import threading
import time
from contextlib import suppress

HOST = "127.0.0.1"


class Proxy:
    """Hands bytes on in both directions, in a thread of its own for each connection."""

    def __init__(self, port: int, *, idle: float | None = None) -> None:
        """`port` is the server's; a connection without traffic for `idle` seconds is dropped without a word."""
        self._server, self._idle = port, idle
        self._listener = socket.create_server((HOST, 0))
        self.port = int(self._listener.getsockname()[1])
        self.stalled = threading.Event()
        """While it is set, nothing is handed on, and nobody is told."""
        self.dropped = 0
        """Connections that were dropped since they were idle."""
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._over = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Drop every connection there is."""
        for pair in list(self._pairs):
            for end in pair:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._over = True
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while not self._over:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection((HOST, self._server))
        except OSError:
            client.close()
            return
        self._pairs.append((client, server))
        others = {client: server, server: client}
        last = time.monotonic()
        with client, server, suppress(OSError):
            while not self._over:
                if self.stalled.is_set():
                    time.sleep(0.01)
                    continue
                ready, _, _ = select.select([client, server], [], [], 0.05)
                if self._idle is not None and not ready and time.monotonic() - last > self._idle:
                    self.dropped += 1
                    return
                for end in ready:
                    piece = end.recv(1 << 16)
                    if not piece:
                        return
                    others[end].sendall(piece)
                    last = time.monotonic()
