"""What stands outside of this project and is named by where it is: `python:module:name`, `http://host:port/path`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from recallbench.errors import UsageError

PYTHON = "python"
WEB = ("http", "https")
EXAMPLES = "python:my_module:Memory, http://127.0.0.1:8900/"


@dataclass(frozen=True, slots=True)
class Part:
    """What a run uses of the user's own: in words, and by the names of its option and variables."""

    noun: str
    option: str
    example: str
    """An address of it."""
    paths: str
    """What lies below the address."""
    token: str
    """The variable that holds a bearer token."""
    patience: str
    """The variable that says how many seconds a call may take."""
    content_type: str = "application/json"
    """Of what is sent to it."""


STORE = Part(
    "store",
    "--store",
    "http://127.0.0.1:8900/",
    "POST /ingest and POST /search lie",
    "RECALLBENCH_STORE_TOKEN",
    "RECALLBENCH_STORE_TIMEOUT",
)
ENCODER = Part(
    "encoder",
    "--embedder",
    "http://127.0.0.1:8080/v1",
    "POST /embeddings lies",
    "RECALLBENCH_EMBEDDER_TOKEN",
    "RECALLBENCH_EMBEDDER_TIMEOUT",
)
CHAT = Part(
    "chat model",
    "endpoint",
    "http://127.0.0.1:8080/v1",
    "POST /chat/completions lies",
    "RECALLBENCH_CHAT_TOKEN",
    "RECALLBENCH_CHAT_TIMEOUT",
)
RERANKER = Part(
    "reranker",
    "endpoint",
    "http://127.0.0.1:8080/v1",
    "POST /rerank lies",
    "RECALLBENCH_RERANK_TOKEN",
    "RECALLBENCH_RERANK_TIMEOUT",
)
PUSH_GATEWAY = Part(
    "push gateway",
    "--push-gateway",
    "http://127.0.0.1:9091",
    "PUT /metrics/job/NAME lies",
    "RECALLBENCH_PUSH_TOKEN",
    "RECALLBENCH_PUSH_TIMEOUT",
    "text/plain; version=0.0.4; charset=utf-8",
)


def scheme_of(name: str) -> str:
    """The scheme a name begins with, empty for the name of something registered."""
    scheme = re.match(r"(python):|(https?)://", name, re.IGNORECASE)
    return scheme[0].rstrip(":/").lower() if scheme else ""


def recorded_name(name: str, part: Part = STORE) -> str:
    """The name as results may hold it: of a web address no user, password, query or fragment; else unchanged."""
    scheme = scheme_of(name)
    if scheme not in WEB:
        return f"{PYTHON}:{name.partition(':')[2]}" if scheme else name
    host, port, path = web_address(name, part)
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}{'' if port is None else f':{port}'}{path.rstrip('/')}"


def web_address(name: str, part: Part = STORE) -> tuple[str, int | None, str]:
    """Return host, port and path of a web address; raises UsageError, without possible secrets, for any other."""
    try:
        parts = urlsplit(name)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    # Whoever put blanks or quotes there meant something else, and paths and reports would carry them on.
    if not host or not re.fullmatch(r"[\w.:-]+", host) or not re.fullmatch(r"[\w.~%/+:@,=-]*", parts.path):
        raise UsageError(
            f"the {part.noun}'s address can't be read",
            expected=f"such as {part.example}",
            found=f"{scheme_of(name)}:// and no host, port and path behind it",
            remedy=f"name the address that {part.paths} below",
        )
    if parts.query or parts.fragment:
        raise UsageError(
            f"the {part.noun}'s address has more than host, port and path",
            expected=f"such as {part.example}",
            found="a query or fragment behind it",
            remedy=f"leave out what follows ? or #; a token goes into {part.token}",
        )
    return host, port, parts.path
