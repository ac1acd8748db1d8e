"""JSON over HTTP to a server that may be slow, busy, broken or hostile."""

from __future__ import annotations

import json
import math
import random
import re
import time
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from recallbench.addresses import STORE, Part, recorded_name, web_address
from recallbench.confidential import remember_logins, remember_secrets, sanitised, sanitised_json
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.patience import patience_of
from recallbench.waiting import Deadline, TooSlow, limit_waiting
from recallbench.web_client import web_client

if TYPE_CHECKING:
    import httpx2

TRIES = 5
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 10.0
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers that another try may better."""
WORTH: Mapping[str, float] = {"absent": TRIES, "cut": TRIES, "busy": TRIES, "slow": 2}
"""The tries that a failure is worth; one, where it is not named. A hanging server takes its whole time with each."""
WORTH_IN_TIME: Mapping[str, float] = {**dict.fromkeys(WORTH, math.inf), "useless": 3}
"""The same where all tries together have their time. An answer that can't be used may have to be paid for."""
LARGEST = 16 << 20
"""Bytes of an answer: 50 hits are two thousand."""

HEAD = 1 << 18
"""Bytes read of an answer that is no JSON, far more than are shown: a secret cut off at their end is never among those
shown, however often others before it were shortened."""


class AnswerLate(InputError):
    """Raised where no whole answer came in the time that it had."""


class Web:
    """One server; every request is one that may be sent again. Several threads may ask it."""

    def __init__(self, address: str, environ: Mapping[str, str], part: Part = STORE) -> None:
        """User and password of the address go along with each request, else the token of the environment."""
        self._part = part
        self._name = recorded_name(address, part)
        self._patience = patience_of(environ, part)
        self._client = _client(address, environ, self._patience, self._name, part)
        self.sent = 0
        self.again = 0
        self._counting = Lock()

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | bytes | None,
        doing: str,
        *,
        missing: tuple[int, ...] = (),
        empty: bool = False,
        tries: int | None = None,
        seconds: float | None = None,
        lacking: Callable[[Any], str] | None = None,
    ) -> tuple[int, Any]:
        """Status and JSON of the answer; `missing` are statuses that are answers too, `empty` allows no JSON.

        A server that can't be reached, or stays busy, raises Blocked; one that answers otherwise, or not in time,
        InputError. Both say what was being done.

        No more than `tries` are made, where these are given. `seconds` are the time of all tries and pauses together;
        what comes and can't be used is then asked for again too. `lacking` tells what an answer lacks, in words: empty
        where it can be used. A `body` may be `encoded` before.
        """
        content = encoded(body) if isinstance(body, Mapping) else body
        end = math.inf if seconds is None else time.monotonic() + seconds
        worth = WORTH if seconds is None else WORTH_IN_TIME
        if tries is not None:
            worth = {kind: min(n, tries) for kind, n in worth.items()}
        attempt = 0
        while True:
            attempt += 1
            limit = min(self._patience, end - time.monotonic())
            with self._counting:
                self.sent += 1
                self.again += attempt > 1
            try:
                status, text, pause = self._send(method, path, content, limit)
                if status in missing or 200 <= status < 300:
                    return status, None if status in missing or empty else self._parsed(text, doing, lacking)
                kind, failure = "busy" if status in BUSY else "refused", self._refused(status, text, doing, attempt)
            except _Unanswered as fault:
                more = "`seconds`" if limit < self._patience else f"seconds with {self._part.patience}"
                kind, pause, failure = (
                    fault.kind,
                    None,
                    fault.error(self._name, doing, attempt, limit, more, self._part),
                )
            except InputError as error:
                kind, failure = "useless", error
            wait = _pause(attempt, pause, longest=LONGEST_PAUSE if seconds is None else seconds)
            if attempt >= worth.get(kind, 1) or time.monotonic() + wait >= end:
                raise failure
            time.sleep(wait)

    def close(self) -> None:
        """Release the connections."""
        self._client.close()

    def _send(self, method: str, path: str, content: bytes | None, seconds: float) -> tuple[int, bytes, str | None]:
        import httpx2

        try:
            # The client's own limit counts anew with every byte: a slow drip would never end.
            with (
                limit_waiting(Deadline(seconds)),
                self._client.stream(method, path.lstrip("/"), content=content) as answer,
            ):
                coding = answer.headers.get("content-encoding", "identity")
                if coding != "identity":
                    raise _Unanswered("strange", f"content-encoding {sanitised(coding)[:40]}")
                text = bytearray()
                for piece in answer.iter_raw():
                    text += piece
                    if len(text) > LARGEST:
                        raise _Unanswered("huge", f"more than {LARGEST >> 20} MiB")
                return answer.status_code, bytes(text), answer.headers.get("retry-after")
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise _Unanswered("absent", _ERRNO.sub("", str(error)) or type(error).__name__) from error
        except TooSlow as error:
            raise _Unanswered("slow", str(error)) from error
        except httpx2.TimeoutException as error:
            raise _Unanswered("slow", "none") from error
        except httpx2.TransportError as error:
            raise _Unanswered("cut", str(error) or type(error).__name__) from error

    def _parsed(self, text: bytes, doing: str, lacking: Callable[[Any], str] | None) -> Any:
        try:
            # A server that echoes what it was sent would get the token into every artefact.
            answer = sanitised_json(json.loads(text, parse_constant=_not_a_number))
        except (ValueError, RecursionError) as error:
            shown = sanitised(text[:HEAD].decode("utf-8", "replace"))[:80]
            raise InputError(
                f"{self._name} gave no JSON while {doing}",
                expected="JSON in UTF-8, whole",
                found=f"{shown!r} ({error})" if text else "an empty answer",
                remedy="mend the server",
            ) from error
        if lacking is not None and (lack := lacking(answer)):
            raise InputError(
                f"{self._name} gave no answer that can be used while {doing}",
                expected=lack,
                found=repr(answer)[:200],
                remedy="look at the server's own log",
            )
        return answer

    def _refused(self, status: int, text: bytes, doing: str, attempt: int) -> Blocked | InputError:
        shown = " ".join(sanitised(text[:HEAD].decode("utf-8", "replace"))[:200].split())
        tried = f", {attempt} times" if attempt > 1 else ""
        description = f"status {status}{tried}" + (f": {shown}" if shown else "")
        if status in (401, 403):
            return Blocked(
                f"{self._name} lets nobody in while {doing}",
                found=description,
                remedy=f"name user and password in the address, or a bearer token in {self._part.token}",
            )
        kind = Blocked if status in (429, 502, 503, 504) else InputError
        return kind(
            f"{self._name} refused while {doing}", expected="status 200", found=description, remedy="mend the server"
        )


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return the body of a request as it is sent."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode(errors="replace")


_ERRNO = re.compile(r"^\[Errno -?\d+\] ")
"""What the system puts before the words of an error."""


class _Unanswered(Exception):
    def __init__(self, kind: str, found: str) -> None:
        super().__init__(found)
        self.kind = kind
        self.found = found

    def error(
        self, name: str, doing: str, attempt: int, patience: float, more: str, part: Part
    ) -> Blocked | InputError:
        tried = f" ({attempt} {'try' if attempt == 1 else 'tries'})"
        if self.kind == "absent":
            return Blocked(
                f"{name} does not answer while {doing}",
                found=self.found + tried,
                remedy=f"start the server, or name another {part.option}",
            )
        kind, expected, remedy = InputError, "a whole answer", "mend the server"
        if self.kind == "slow":
            kind, expected = AnswerLate, f"an answer within {round(patience, 1):g} s"
            remedy = f"mend the server, or allow more {more}"
        elif self.kind == "strange":
            expected = "an answer as it is: nothing else was asked for"
        problem = f"{name} gave no answer that can be read while {doing}"
        return kind(problem, expected=expected, found=self.found + tried, remedy=remedy)


def _client(address: str, environ: Mapping[str, str], patience: float, base: str, part: Part) -> httpx2.Client:
    import httpx2

    remember_logins([address])
    remember_secrets(environ.get(part.token))
    parts, headers = urlsplit(address), {"accept": "application/json", "accept-encoding": "identity"}
    headers["content-type"] = part.content_type
    login = None
    if parts.username is not None:
        login = httpx2.BasicAuth(unquote(parts.username), unquote(parts.password or ""))
    elif token := environ.get(part.token):
        if not re.fullmatch(r"[!-~]+", token):
            raise UsageError(
                f"{part.token} can't be sent", expected="printable ASCII without blanks", found="something else"
            )
        headers["authorization"] = f"Bearer {token}"
    host, _, _ = web_address(address, part)
    try:
        return web_client(
            base_url=base + "/",
            auth=login,
            headers=headers,
            timeout=patience,
            # A proxy that the environment names is for the world outside.
            trust_env=not _loopback(host),
            follow_redirects=False,
        )
    except (ValueError, httpx2.InvalidURL, ImportError) as error:
        raise UsageError(
            "the proxy that the environment names can't be used",
            expected="such as HTTPS_PROXY=http://proxy:3128",
            found=str(error),
            remedy=f"mend HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or name {host} in NO_PROXY",
        ) from None


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _pause(attempt: int, retry_after: str | None, longest: float) -> float:
    """Return the seconds before the next try; a server that names them is granted as many as the `longest` pause."""
    usual = min(FIRST_PAUSE * 4.0 ** min(attempt - 1, 9), LONGEST_PAUSE)
    try:
        seconds = float(retry_after or "")
    except ValueError:
        seconds = 0.0
    if not (math.isfinite(seconds) and seconds > 0):
        # Many clients that were refused together should not come back together.
        return usual * random.uniform(0.5, 1.0)
    return min(seconds, longest)


def _not_a_number(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")
