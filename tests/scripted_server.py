"""A real HTTP server on the loopback interface that answers as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Scripted:
    """Its address, the requests it got, and its answers: status and body (an object, or bytes as they are)."""

    def __init__(self) -> None:
        self.address = ""
        self.requests: list[tuple[str, str, Any, dict[str, str]]] = []
        self.answer: Callable[[str, Any], Any] = lambda path, body: {}

    def requested(self, path: str) -> list[Any]:
        """The bodies that came to a path."""
        return [body for _, to, body, _ in self.requests if to == path]


@contextmanager
def scripted_server() -> Iterator[Scripted]:
    """The server runs as long as the block."""
    script = Scripted()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._serve(None)

        def do_POST(self) -> None:
            self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _serve(self, body: Any) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            script.requests.append((self.command, self.path, body, headers))
            answer = script.answer(self.path, body)
            if answer is None:  # hang up without a word
                self.close_connection = True
                return
            if callable(answer):
                answer(self)
                self.close_connection = True
                return
            status, content, more = answer if isinstance(answer, tuple) else (200, answer, {})
            text = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(text)), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)
            self.close_connection = more.get("Connection") == "close"

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: object, client_address: object) -> None:
            """Clients that hang up are what some tests are about."""

    with Server(("127.0.0.1", 0), Handler) as server:
        script.address = f"http://127.0.0.1:{server.server_address[1]}/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()
