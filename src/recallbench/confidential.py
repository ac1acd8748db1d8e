"""The secrets this process was given, and what takes them out of whatever is written or printed.

How far it goes depends on the secret. One that is no word (six characters of two kinds, or twelve) is replaced wherever
it stands, also inside of other text, escaped, percent-encoded, as hexadecimal or base64. A shorter or plainer one, that
a name, a key or a number may hold by chance, is replaced as a whole word, and only in what others say: the answers of a
server, and errors. One of fewer than four characters would shred every text and hides nothing; it is taken out of the
addresses it stands in, as every user and password is.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote

MARK = "***"
SHORTEST = 4
"""Characters of a secret that is looked for."""
_LONG, _MIXED, _ENCODED = 12, 6, 8
_NAMES = re.compile(r"(TOKEN|PASSWORD|PASSWD|SECRET|PASSPHRASE|API_?KEY)$")
_SCHEME = r"\b(?:[A-Za-z][A-Za-z0-9+.-]{0,30}:/{1,3}|(?:https?|postgres(?:ql)?|bolt|neo4j):)"
_LOGIN = re.compile(
    # A password with a bare slash or @ goes on to the last @; a port in its place is none. Bounded: peers may send it.
    rf"({_SCHEME})(?!\*\*\*@)([^\s/@:'\"<>`]{{0,300}}:(?!\d+(?:/|\b))[^\s'\"<>`]{{0,300}}(?=@)"
    r"|[^\s/@'\"<>`]{1,300}(?=@))@"
)
_FIELD = re.compile(
    r"\b(password|sslpassword|passwd|oauth_client_secret|scram_client_key|scram_server_key|access_token|api_key)"
    r"(\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&;,'\"]+)",
    re.IGNORECASE,
)

_kept: set[str] = set()
_patterns: dict[str, re.Pattern[str]] = {}


def keep(*secrets: str | None) -> None:
    """Remember what must not be written or printed from now on."""
    new = {secret for secret in secrets if secret and len(secret) >= SHORTEST} - _kept
    if new:
        _kept.update(new)
        _patterns.update(_compiled(_kept))


def keep_from(texts: Iterable[str]) -> None:
    """Remember users and passwords of the addresses, and the fields of connection strings, in these texts."""
    for text in texts:
        for found in _LOGIN.finditer(text):
            user, colon, password = found[2].partition(":")
            keep(*(_both(password) if colon else _both(user)))
            keep(base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode())
        for found in _FIELD.finditer(text):
            keep(*_both(re.sub(r"\\(.)", r"\1", found[3].removeprefix("'").removesuffix("'"))))


def keep_environment(environ: Mapping[str, str]) -> None:
    """Remember what the variables hold: tokens and passwords by their names, and logins of every address."""
    keep(*(value.strip() for name, value in environ.items() if _NAMES.search(name.upper())))
    keep_from(environ.values())


def forget() -> None:
    """Forget all that was kept."""
    _kept.clear()
    _patterns.clear()


def concealed(text: str, *, words: bool = False) -> str:
    """The text without the secrets that are kept; with `words` also without those that are words."""
    if "anywhere" in _patterns:
        text = _patterns["anywhere"].sub(MARK, text)
    if words and "words" in _patterns:
        text = _patterns["words"].sub(MARK, text)
    return text


def said(text: str) -> str:
    """What others said, without any secret that is kept, nor the logins of addresses and connection strings."""
    text = concealed(text, words=True)
    if "@" in text:
        text = _LOGIN.sub(rf"\g<1>{MARK}@", text)
    return _FIELD.sub(rf"\g<1>\g<2>{MARK}", text) if "=" in text else text


def said_in(value: Any) -> Any:
    """The same for what a server said in JSON, keys and all."""
    if isinstance(value, str):
        return said(value)
    if isinstance(value, list):
        return [said_in(one) for one in value]
    if isinstance(value, dict):
        return {said(str(name)): said_in(one) for name, one in value.items()}
    return value


def concealed_lines(pieces: Iterable[str]) -> Iterable[str]:
    """Pieces of a file; what is no secret stays as it is."""
    return (concealed(piece) for piece in pieces) if _kept else pieces


def _both(given: str) -> tuple[str, str]:
    return given, unquote(given)


def _compiled(secrets: Iterable[str]) -> Iterator[tuple[str, re.Pattern[str]]]:
    """What is replaced anywhere, and what only as a word."""
    anywhere: set[str] = set()
    plain: set[str] = set()
    for secret in secrets:
        (anywhere if _is_no_word(secret) else plain).update(_spellings(secret))
        anywhere.update(form for form in _encodings(secret) if len(form) >= _ENCODED)
    if anywhere:
        yield "anywhere", re.compile(_any_of(anywhere))
    if plain:
        yield "words", re.compile(rf"(?<![^\W_])(?:{_any_of(plain)})(?![^\W_])")


def _any_of(forms: Iterable[str]) -> str:
    return "|".join(re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form)))


def _is_no_word(secret: str) -> bool:
    kinds = (str.isalpha, str.isdigit, lambda one: not one.isalnum())
    return len(secret) >= _LONG or (len(secret) >= _MIXED and sum(any(map(kind, secret)) for kind in kinds) > 1)


def _spellings(secret: str) -> Iterator[str]:
    yield secret
    for percent in (quote(secret, safe="", errors="replace"), quote(secret, errors="replace")):
        yield percent
        yield re.sub(r"%..", lambda code: code[0].lower(), percent)
    yield quote_plus(secret, errors="replace")
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield html.escape(secret)


def _encodings(secret: str) -> Iterator[str]:
    """Hexadecimal, and what base64 makes of it wherever it begins in the text that was encoded."""
    raw = secret.encode("utf-8", "replace")
    yield raw.hex()
    yield raw.hex().upper()
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + raw).decode()
        core = encoded[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
        yield core
        yield core.replace("+", "-").replace("/", "_")
