"""A memory server for `recallbench run … --store http://127.0.0.1:8900/`, with nothing but the standard library.

    python examples/http_memory.py --port 8900

It ranks by cosine where vectors are sent, and by shared words where none are (start it with --words for that). Replace
`Memory` by your own system and keep the four routes. Port 0 takes a free one; the address is the first line printed.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

LARGEST = 64 << 20


class Memory:
    """Items by scope: what came last under an id counts, so that a request may be sent again."""

    def __init__(self, words: bool, filters_time: bool) -> None:
        self.words, self.filters_time = words, filters_time
        self._scopes: dict[str, dict[int, dict[str, Any]]] = {}
        self._lock = Lock()

    def ingest(self, scope: str, items: list[dict[str, Any]]) -> None:
        with self._lock:
            self._scopes.setdefault(scope, {}).update({item["id"]: item for item in items})

    def search(
        self, scope: str, query: str, k: int, vector: list[float] | None, last: int | None
    ) -> list[dict[str, Any]]:
        with self._lock:
            items = [item for item in self._scopes.get(scope, {}).values() if last is None or item["id"] <= last]
        scored = [(self._score(item, query, vector), item["id"]) for item in items]
        best = sorted(scored, key=lambda hit: (-hit[0], hit[1]))[:k]
        return [{"id": id, "score": score} for score, id in best]

    def forget(self, scope: str) -> None:
        with self._lock:
            self._scopes.pop(scope, None)

    def _score(self, item: dict[str, Any], query: str, vector: list[float] | None) -> float:
        if vector is not None:
            own = item["vector"]
            return _dot(own, vector) / math.sqrt(_dot(own, own) * _dot(vector, vector))
        return float(len(_words(query) & _words(item["text"])))


def _dot(left: list[float], right: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


class Handler(BaseHTTPRequestHandler):
    """The four routes of the contract."""

    protocol_version = "HTTP/1.1"
    # Answers are small and waited for: none is to lie in a buffer until another one comes.
    disable_nagle_algorithm = True
    memory: Memory

    def do_GET(self) -> None:
        if self.path != "/version":
            self._answer(404, {"error": "no such route"})
            return
        about = {"version": "http_memory/1", "needs_vectors": not self.memory.words}
        about["filters_time"] = self.memory.filters_time
        self._answer(200, {**about, "settings": {"ranking": "words" if self.memory.words else "cosine"}})

    def do_POST(self) -> None:
        try:
            length = int(self.headers.get("Content-Length") or 0)
            if not 0 <= length <= LARGEST:
                raise ValueError("too large")
            body = json.loads(self.rfile.read(length))
            if self.path == "/ingest":
                self.memory.ingest(body["scope"], body["items"])
                self._answer(200, {})
            elif self.path == "/search":
                vector, last = body.get("vector"), body.get("last_visible_id")
                hits = self.memory.search(body["scope"], body["query"], body["k"], vector, last)
                self._answer(200, {"hits": hits})
            elif self.path == "/forget":
                self.memory.forget(body["scope"])
                self._answer(200, {})
            else:
                self._answer(404, {"error": "no such route"})
        except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            self._answer(400, {"error": f"{type(error).__name__}: {error}"})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *arguments: object) -> None:
        """Log no request."""


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8900)
    parser.add_argument("--words", action="store_true", help="rank by words; no vectors are asked for")
    parser.add_argument(
        "--filters-time", action="store_true", help="be told what a question may see, where that counts"
    )
    options = parser.parse_args()
    Handler.memory = Memory(options.words, options.filters_time)
    with ThreadingHTTPServer(("127.0.0.1", options.port), Handler) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            sys.exit(0)


if __name__ == "__main__":
    main()
