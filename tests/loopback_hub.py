"""A hub on the loopback interface: real HTTP, the parts of the hub's API that downloads need."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import unquote, urlsplit

RESOLVE = re.compile(r"/(?P<repo>(?:datasets/)?[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")
API = re.compile(r"/api/(?P<kind>models|datasets)/(?P<repo>[^/]+/[^/]+)(?P<rest>/.*)?")
COMMIT = re.compile(r"[0-9a-f]{40}")
MAIN = "1" * 40
LARGE = 100_000
"""From this size on a file is served as the hub serves large ones: its sha256 as the linked etag."""


class LoopbackHub:
    """Serves files while the context is open.

    `files` maps `org/name/path` (a model) or `datasets/org/name/path` (a dataset) to the body; every 40-hex revision
    holds the same files unless `revisions` names the ones that exist. A key that starts with `/` is a plain web file.

        with LoopbackHub({"datasets/org/set/data.json": b"[]"}) as hub:
            monkeypatch.setenv("HF_ENDPOINT", hub.url)
            monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    """

    def __init__(self, files: Mapping[str, bytes], *, revisions: tuple[str, ...] = ()) -> None:
        self.plain = {key: body for key, body in files.items() if key.startswith("/")}
        self.repos: dict[str, dict[str, bytes]] = {}
        for key, body in files.items():
            if not key.startswith("/"):
                parts = key.split("/")
                cut = 3 if parts[0] == "datasets" else 2
                self.repos.setdefault("/".join(parts[:cut]), {})["/".join(parts[cut:])] = body
        self.revisions = revisions
        self.requests: list[str] = []
        """`METHOD /path` of every request, in order."""

    @property
    def url(self) -> str:
        """The endpoint, without a slash at its end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> LoopbackHub:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._reply(body_too=False)

            def do_GET(self) -> None:
                self._reply(body_too=True)

            def log_message(self, format: str, *args: object) -> None:
                return None

            def _reply(self, *, body_too: bool) -> None:
                path = unquote(urlsplit(self.path).path)
                hub.requests.append(f"{self.command} {path}")
                status, headers, body = hub.answer(path)
                byte_range = re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")
                if status == 200 and body_too and byte_range:
                    start = int(byte_range[1])
                    headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
                    status, body = 206, body[start:]
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if body_too:
                    self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for one path."""
        if path in self.plain:
            return 200, {"Content-Type": "application/octet-stream"}, self.plain[path]
        if match := RESOLVE.fullmatch(path):
            return self._resolve(match["repo"], match["revision"], match["path"])
        if match := API.fullmatch(path):
            repo = match["repo"] if match["kind"] == "models" else f"datasets/{match['repo']}"
            return self._describe(repo, match["repo"], match["rest"] or "/revision/main")
        return self._missing("EntryNotFound", f"nothing at {path}")

    def _resolve(self, repo: str, revision: str, path: str) -> tuple[int, dict[str, str], bytes]:
        if repo not in self.repos:
            return self._missing("RepoNotFound", f"no repository {repo}")
        commit = self._commit(revision)
        if commit is None:
            return self._missing("RevisionNotFound", f"no revision {revision}")
        body = self.repos[repo].get(path)
        if body is None:
            return self._missing("EntryNotFound", f"no file {path}", commit)
        digest = hashlib.sha256(body).hexdigest()
        headers = {
            "ETag": f'"{digest[:40]}"',
            "X-Repo-Commit": commit,
            "Accept-Ranges": "bytes",
            "Content-Type": "application/octet-stream",
        }
        if len(body) >= LARGE:
            headers |= {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(body))}
        return 200, headers, body

    def _describe(self, repo: str, name: str, rest: str) -> tuple[int, dict[str, str], bytes]:
        """Answer `model_info`, `dataset_info` and `list_repo_tree`."""
        if repo not in self.repos:
            return self._missing("RepoNotFound", f"no repository {repo}")
        what, _, tail = rest.lstrip("/").partition("/")
        revision, _, folder = tail.partition("/")
        commit = self._commit(revision)
        if commit is None:
            return self._missing("RevisionNotFound", f"no revision {revision}")
        files = self.repos[repo]
        if what == "tree":
            under = {path: body for path, body in files.items() if not folder or path.startswith(f"{folder}/")}
            if folder and not under:
                return self._missing("EntryNotFound", f"no folder {folder}", commit)
            rows = [
                {"type": "file", "oid": hashlib.sha1(body).hexdigest(), "size": len(body), "path": path}
                for path, body in under.items()
            ]
            return 200, {"Content-Type": "application/json", "X-Repo-Commit": commit}, json.dumps(rows).encode()
        info = {
            "id": name,
            "modelId": name,
            "sha": commit,
            "private": False,
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "siblings": [{"rfilename": path} for path in files],
        }
        return 200, {"Content-Type": "application/json", "X-Repo-Commit": commit}, json.dumps(info).encode()

    def _commit(self, revision: str) -> str | None:
        if self.revisions:
            return revision if revision in self.revisions else self.revisions[0] if revision == "main" else None
        return revision if COMMIT.fullmatch(revision) else MAIN if revision == "main" else None

    @staticmethod
    def _missing(code: str, message: str, commit: str = MAIN) -> tuple[int, dict[str, str], bytes]:
        headers = {"X-Error-Code": code, "X-Error-Message": message, "X-Repo-Commit": commit}
        return 404, headers | {"Content-Type": "application/json"}, json.dumps({"error": message}).encode()
