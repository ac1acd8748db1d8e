"""Absolute paths in a text, which lead nowhere on another machine."""

from __future__ import annotations

import re

_STOP = r"/\s'\",;:()<>|`“”‘’{}"
"""What ends the last name of a path."""
_FOLDER = rf"[^{_STOP}]+(?: (?!--)[^{_STOP}=~]+){{0,8}}/+"
"""A folder's name may have blanks: a word after one belongs to it where a slash follows."""
_START = r"(?<![\w./~*%+)\]-])"
_PATH = re.compile(
    rf"(?:(?<=')(?=/)[^'\n]*/([^'/\n]+)(?='))"
    rf"|(?:(?<=\")(?=/)[^\"\n]*/([^\"/\n]+)(?=\"))"
    rf"|{_START}(?:file://)?(?:~[\w.-]*)?(?:(?<!:)/+|/(?!/))(?:{_FOLDER})*([^{_STOP}]*)"
)
"""An absolute path, of which the last name is kept; an address on the web is none. In quotes it ends with them."""


def last_names(text: str) -> str:
    """Return a text with each absolute path of it as its last name alone."""
    return _PATH.sub(lambda path: path[1] or path[2] or path[3] or "/", text)
