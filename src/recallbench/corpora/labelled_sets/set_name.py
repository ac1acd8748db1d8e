"""`labelled/<name>@<sha256>+<method>`: the name of a labelled set in results."""

from __future__ import annotations

import re
from typing import NamedTuple

from recallbench.corpora.matching.method import Matching, parse_code
from recallbench.errors import UsageError

PREFIX = "labelled/"
OWN_PREFIX = "own/"
"""The start of the name of a corpus file of one's own."""
_IN_TEXT = re.compile(rf"((?:{PREFIX}|{OWN_PREFIX})[^@\s]+)@[0-9a-f]{{64}}")

_SET_IN_TEXT = re.compile(rf"(?<![\w/]){PREFIX}([^@\s]+)@[0-9a-f]{{64}}")


class SetName(NamedTuple):
    """The name of a folder, and one hash over all that decides the measurement.

    A set whose gold follows from texts is another set than the one judged by ids, so the method is part of its name.
    """

    folder: str
    sha256: str
    matching: Matching | None = None
    """None where gold is known by id."""

    def __str__(self) -> str:
        method = f"+{self.matching.code}" if self.matching else ""
        return f"{PREFIX}{self.folder}@{self.sha256}{method}"


def is_set_name(name: str) -> bool:
    """Tell whether the name is one of a labelled set, and not of a corpus of the registry."""
    return name.startswith(PREFIX)


def parse_set_name(name: str) -> SetName:
    """Return the parts of a name; raises UsageError for a text that is none."""
    folder, at, rest = name.removeprefix(PREFIX).rpartition("@")
    sha256, plus, code = rest.partition("+")
    matching = parse_code(code)
    if not at or not folder or not re.fullmatch("[0-9a-f]{64}", sha256) or bool(plus) != bool(matching):
        raise UsageError(
            f"{name} names no set of questions and answers",
            expected=f"{PREFIX}<name>@<sha256>, with +exact, +tokens-0.3, +hybrid-0.3, +bm25-0.5-60 where texts decide",
            found=name,
            remedy="recallbench evaluate DIR works the name out",
        )
    return SetName(folder, sha256, matching)


def short_names(text: str) -> str:
    """Return a text for people, in which one's own data goes by its name alone: its hash is in metrics.json."""
    return _IN_TEXT.sub(r"\1", text)


def plain_names(text: str) -> str:
    """Return a text for a screen, in which a set of one's own goes by the name of its folder."""
    return short_names(_SET_IN_TEXT.sub(r"\1", text))


def folder_word(name: str) -> str:
    """Return the name of a folder as a set's name may hold it."""
    return re.sub(r"[^A-Za-z0-9.+_-]+", "-", name).strip("-") or "set"
