"""Stores that are named by where they are: `python:module:factory`, `http://host:port/path`."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from recallbench.errors import UsageError

PYTHON = "python"
WEB = ("http", "https")
EXAMPLES = "python:my_module:open_memory, http://127.0.0.1:8900/"


def scheme_of(name: str) -> str:
    """The scheme a store's name begins with, empty for the name of a registered store."""
    scheme = re.match(r"(python):|(https?)://", name, re.IGNORECASE)
    return scheme[0].rstrip(":/").lower() if scheme else ""


def recorded_name(name: str) -> str:
    """The name as results may hold it: of a web address no user, password, query or fragment; else unchanged."""
    scheme = scheme_of(name)
    if scheme not in WEB:
        return f"{PYTHON}:{name.partition(':')[2]}" if scheme else name
    host, port, path = web_address(name)
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}{'' if port is None else f':{port}'}{path.rstrip('/')}"


def web_address(name: str) -> tuple[str, int | None, str]:
    """Return host, port and path of a web address; raises UsageError, without possible secrets, for any other."""
    try:
        parts = urlsplit(name)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    # Whoever put blanks or quotes there meant something else, and paths and reports would carry them on.
    if not host or not re.fullmatch(r"[\w.:-]+", host) or not re.fullmatch(r"[\w.~%/+:@,=-]*", parts.path):
        raise UsageError(
            "the store's address can't be read",
            expected="such as http://127.0.0.1:8900/",
            found=f"{scheme_of(name)}:// and no host, port and path behind it",
            remedy="name the address that POST /ingest and POST /search lie below",
        )
    if parts.query or parts.fragment:
        raise UsageError(
            "the store's address has more than host, port and path",
            expected="such as http://127.0.0.1:8900/",
            found="a query or fragment behind it",
            remedy="leave out what follows ? or #; a token goes into RECALLBENCH_STORE_TOKEN",
        )
    return host, port, parts.path
