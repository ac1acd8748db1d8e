"""A push gateway's contract on the loopback interface: PUT replaces the group of a job.

A real one is a program that can't be had here. As it does, this one refuses what is not in the text format, samples
that stand there twice, and time stamps, and answers 200 without a body.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client.parser import text_string_to_metric_families


class PushGateway:
    """Its address, the text of each group, and the headers of the last request."""

    def __init__(self) -> None:
        self.address = ""
        self.groups: dict[str, str] = {}
        self.headers: dict[str, str] = {}
        self.status = 0
        """What it answers in place of 200, where it is not 0."""

    def put(self, path: str, text: str) -> int:
        seen = set()
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                key = (sample.name, tuple(sorted(sample.labels.items())))
                if key in seen or sample.timestamp is not None:
                    return 400
                seen.add(key)
        self.groups[path] = text
        return 200


@contextmanager
def push_gateway() -> Iterator[PushGateway]:
    """The gateway runs as long as the block."""
    gateway = PushGateway()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            gateway.headers = {name.lower(): value for name, value in self.headers.items()}
            self.send_response(gateway.status or gateway.put(self.path, text))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *words: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    gateway.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield gateway
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
