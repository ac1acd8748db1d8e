"""Words that may be published: without secrets, and without the folders of the machine they were written on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from recallbench.confidential import sanitised
from recallbench.escaping.terminal import visible

_PATH = re.compile(
    r"(?:(?<=[\s=:,;'\"(\[<>])|^)(?:file://)?(?:~[\w.-]*)?/(?!/)(?:[^/\s'\",;:()<>|]+/)*([^/\s'\",;:()<>|]*)"
)
"""An absolute path, of which the last name is kept; an address on the web is none."""


def publishable(text: str) -> str:
    """Return a text in one line, each absolute path of it as its last name alone."""
    return _PATH.sub(lambda path: path[1] or "/", sanitised(visible(text)))


def without_places(value: Any) -> Any:
    """Return a JSON value, each absolute path in its texts as the last name alone."""
    if isinstance(value, str):
        return _PATH.sub(lambda path: path[1] or "/", sanitised(value)) if "/" in value else value
    if isinstance(value, dict):
        return {name: without_places(each) for name, each in value.items()}
    return [without_places(each) for each in value] if isinstance(value, (list, tuple)) else value


def command_line(environment: Any) -> str:
    """Return the command that made a folder, as its environment states it; empty where it does not."""
    words = environment.get("command") if isinstance(environment, dict) else None
    if not isinstance(words, Sequence) or isinstance(words, str) or not words:
        return ""
    return shlex.join(_published_word(str(word)) for word in words)


def _published_word(word: str) -> str:
    """Return an argument, which is a path to its end where it begins as one."""
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    path = value.removeprefix("file://")
    if path.startswith(("/", "~")):
        value = PurePosixPath(path).name
    return publishable(f"{option}{equals}{value}")
