"""The secrets this process was given, taken out of all that is written or printed.

How much is taken out depends on the secret. One that is no word (six characters of two kinds, or twelve) is replaced
wherever it stands, also inside of other text, escaped, percent-encoded, as hexadecimal or base64. A shorter or plainer
one, that a name, a key or a number may hold by chance, is replaced as a whole word, and only in what others say: the
answers of a server, and errors. One of fewer than four characters would shred every text and hides nothing; it is taken
out of the addresses it stands in, as every user and password is.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import unquote

MARK = "***"
SHORTEST = 4
"""Characters of a secret that is looked for."""
_LONG, _MIXED, _ENCODED = 12, 6, 8
_NAMES = re.compile(r"(TOKEN|AUTHORIZATION|PASSWORD|PASSWD|_PASS|SECRET|PASSPHRASE|(API|ACCESS|SECRET|PRIVATE)_?KEY)$")
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

_NESTED = re.compile(
    r"""(?P<before>(?<![\w-])(["']?)(?P<name>[\w-]+)\2\s*[=:]\s*)"""
    r"""(?P<quote>["'])(?P<value>(?:\\.|(?!(?P=quote))[^\\])+)(?P=quote)"""
)
"""A text by its name inside a value of several, as TOML, JSON and Python write it."""
_ESCAPED = re.compile(r"%[2-7]|\\(?:u00|x)[3-7]|&#")
"""The marks of a text in which a letter or figure is escaped."""


class _Spelled(NamedTuple):
    anywhere: bool
    """Else only as a word."""
    unescaped: str
    """The part of every spelling that leaves letters and figures as they are, in small letters."""
    secret: str


_secrets: set[str] = set()
_spellings: list[_Spelled] = []


def remember_secrets(*secrets: str | None) -> None:
    """Remember secrets that must not be written or printed from now on."""
    # A secret of several lines, as a private key, may come back line by line.
    lines = {line.strip() for secret in secrets if secret for line in secret.splitlines()}
    new = {line for line in lines if len(line) >= SHORTEST} - _secrets
    if new:
        _secrets.update(new)
        # The longer first, should one hold another.
        _spellings[:] = map(_spelled, sorted(_secrets, key=lambda secret: (-len(secret), secret)))
        _encoded.cache_clear()


def remember_logins(texts: Iterable[str]) -> None:
    """Remember users and passwords of the addresses, and the fields of connection strings, in these texts."""
    for text in texts:
        for match in _LOGIN.finditer(text):
            user, colon, password = match[2].partition(":")
            remember_secrets(*(_with_decoded(password) if colon else _with_decoded(user)))
            remember_secrets(base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode())
        for match in _FIELD.finditer(text):
            remember_secrets(*_with_decoded(re.sub(r"\\(.)", r"\1", match[3].removeprefix("'").removesuffix("'"))))


def remember_environment(environ: Mapping[str, str]) -> None:
    """Remember the secrets of variables: tokens and passwords by their names, and logins of every address."""
    remember_secrets(*(value.strip() for name, value in environ.items() if _is_secret(name)))
    remember_logins(environ.values())


def without_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings as they may be written: a password or token by its name is remembered, and left out.

    So are those inside a value that holds several by name.
    """
    remember_secrets(*(value.strip() for name, value in settings.items() if _is_secret(name)))
    return {name: MARK if _is_secret(name) else _NESTED.sub(_left_out, value) for name, value in settings.items()}


def _left_out(nested: re.Match[str]) -> str:
    if not _is_secret(nested["name"]):
        return nested[0]
    remember_secrets(nested["value"])
    return f"{nested['before']}{nested['quote']}{MARK}{nested['quote']}"


def _is_secret(name: str) -> bool:
    return _NAMES.search(name.upper().replace("-", "_")) is not None


def forget() -> None:
    """Forget every secret."""
    _secrets.clear()
    _spellings.clear()
    _encoded.cache_clear()


def concealed(text: str, *, words: bool = False) -> str:
    """The text without the secrets that are remembered; with `words` also without those that are words."""
    if not _spellings:
        return text
    everything, small = _ESCAPED.search(text) is not None, text.lower()
    for spelled in _spellings:
        if (spelled.anywhere or words) and (everything or spelled.unescaped in small):
            text = _form(spelled.secret).sub(MARK, text)
    return _encoded().sub(MARK, text)


def sanitised(text: str) -> str:
    """Return what others wrote without remembered secrets, or the logins in addresses and connection strings."""
    text = without_logins(concealed(text, words=True))
    return _FIELD.sub(rf"\g<1>\g<2>{MARK}", text) if "=" in text else text


def without_logins(text: str) -> str:
    """Return a text whose addresses have no user and no password."""
    return _LOGIN.sub(rf"\g<1>{MARK}@", text) if "@" in text else text


def sanitised_json(value: Any) -> Any:
    """Return a JSON value with every text and key sanitised."""
    if isinstance(value, str):
        return sanitised(value)
    if isinstance(value, list):
        return [sanitised_json(item) for item in value]
    if isinstance(value, dict):
        return {sanitised(str(name)): sanitised_json(item) for name, item in value.items()}
    return value


def concealed_lines(pieces: Iterable[str]) -> Iterable[str]:
    """Yield the pieces of a file without secrets."""
    return (concealed(piece) for piece in pieces) if _secrets else pieces


def _with_decoded(secret: str) -> tuple[str, str]:
    return secret, unquote(secret)


def _is_no_word(secret: str) -> bool:
    kinds = (str.isalpha, str.isdigit, lambda character: not character.isalnum())
    return len(secret) >= _LONG or (len(secret) >= _MIXED and sum(any(map(kind, secret)) for kind in kinds) > 1)


def _spelled(secret: str) -> _Spelled:
    longest = max(re.findall(r"[A-Za-z0-9]*", secret), key=len).lower()
    return _Spelled(_is_no_word(secret), longest, secret)


@cache
def _form(secret: str) -> re.Pattern[str]:
    """The secret, each character as it is or escaped in whatever way; no word also in capitals or small letters.

    Made when it may be needed: of a long secret it takes half a second.
    """
    forms = "".join(map(_spelling, secret))
    return re.compile(f"(?i:{forms})" if _is_no_word(secret) else rf"(?<![^\W_]){forms}(?![^\W_])")


@cache
def _encoded() -> re.Pattern[str]:
    """Return a pattern that finds every remembered secret in an encoding."""
    return re.compile("|".join(form for spelling in _spellings for form in _encodings(spelling.secret)) or r"(?!)")


def _spelling(character: str) -> str:
    # All repetitions are bounded: what is searched may come from a peer who means to stall it.
    number, raw = ord(character), character.encode("utf-8", "replace")
    slash, literal = r"\\{1,8}", re.escape(character)
    units = character.encode("utf-16-be", "replace").hex()
    escaped = [
        "".join(rf"%(?:25){{0,4}}{byte:02x}" for byte in raw),
        "".join(rf"{slash}u{units[i : i + 4]}" for i in range(0, len(units), 4)),
        "".join(rf"{slash}x{byte:02x}" for byte in raw),
        rf"&#(?:0{{0,4}}{number}|x0{{0,4}}{number:x});",
    ]
    if number > 0x7F:
        escaped.append(rf"{slash}x{number:02x}" if number <= 0xFF else rf"{slash}U{number:08x}")
    if (named := html.escape(character)) != character:
        escaped.append(re.escape(named))
    if character == " ":
        escaped.append(r"\+")
    plain = literal if character.isalnum() else slash if character == "\\" else rf"\\{{0,8}}{literal}"
    return f"(?:{plain}|(?i:{'|'.join(escaped)}))"


def _encodings(secret: str) -> Iterator[str]:
    """Yield patterns for hexadecimal, and for base64 at each offset in the text that was encoded."""
    raw = secret.encode("utf-8", "replace")
    if len(raw) * 2 >= _ENCODED:
        yield "[: -]?".join(f"{byte:02x}" for byte in raw)
        yield "[: -]?".join(f"{byte:02X}" for byte in raw)
    for before in range(3):
        start, end = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        encoded = base64.b64encode(bytes(before) + raw).decode()
        if end - start >= _ENCODED:
            for written in dict.fromkeys((encoded, encoded.replace("+", "-").replace("/", "_"))):
                # Some write it in lines, of four characters or a multiple of that.
                groups = (written[max(start, i) : min(end, i + 4)] for i in range(0, end, 4))
                yield r"(?:\s|\\[rn]){0,4}".join(re.escape(group) for group in groups if group)
