"""Words that may be published: without secrets, and without the folders of the machine they were written on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from typing import Any

from recallbench.confidential import sanitised
from recallbench.escaping.paths import last_names
from recallbench.escaping.terminal import visible
from recallbench.escaping.web import address, html
from recallbench.site.places import Place


class _Folders:
    """The folders of this machine that a site knows of, and what stands in their place."""

    def __init__(self, names: Mapping[str, str], parents: Iterable[str]) -> None:
        self._names = dict(names)
        every = sorted({*names, *parents}, key=len, reverse=True)
        self._plain = _any_of(every)
        self._shown = {
            write(folder): write(self._names.get(folder, _last(folder)))
            for write in (str, html, address)
            for folder in every
        }
        # "</p>" is no folder of the machine.
        self._written = _any_of(sorted(self._shown, key=len, reverse=True), "<")

    def inside(self, text: str) -> str:
        """Return a text with the places by their names; what lies elsewhere in a known folder begins with a slash."""
        return self._plain.sub(lambda known: self._names.get(known[0], "" if known[1] else _last(known[0])), text)

    def outside(self, page: str) -> str:
        """Return a page in which no known folder stands, written plainly, as markup or as an address."""
        return self._written.sub(lambda known: self._shown[known[0]], page)


_known: ContextVar[_Folders | None] = ContextVar("known folders", default=None)


@contextmanager
def folders_of(places: Iterable[Place], *others: Path) -> Iterator[Callable[[str], str]]:
    """Know the folders of places, by their names, and of others; yields what takes the last of them out of a page."""
    names, parents = dict[str, str](), set[str]()
    for place in places:
        for path in (place.path.absolute(), place.path.resolve()):
            names[str(path)] = place.name
            parents |= set(map(str, path.parents))
    for other in (*others, Path.cwd(), Path.home()):
        for path in (other.absolute(), other.resolve()):
            parents |= set(map(str, (path, *path.parents)))
    folders = _Folders(names, parents - {"/", *names})
    token = _known.set(folders)
    try:
        yield folders.outside
    finally:
        _known.reset(token)


def publishable(text: str) -> str:
    """Return a text in one line, each absolute path of it as its last name alone."""
    return _without_paths(sanitised(visible(text)))


def without_places(value: Any) -> Any:
    """Return a JSON value, each absolute path in its texts and names as the last name alone."""
    if isinstance(value, str):
        return _without_paths(sanitised(value)) if "/" in value else value
    if isinstance(value, dict):
        cleaned = dict[Any, Any]()
        for name, each in value.items():
            kept, count = without_places(name), 2
            while kept in cleaned:  # two files of one name
                kept, count = f"{without_places(name)} ({count})", count + 1
            cleaned[kept] = without_places(each)
        return cleaned
    return [without_places(each) for each in value] if isinstance(value, (list, tuple)) else value


def _without_paths(text: str) -> str:
    if "/" not in text:
        return text
    known = _known.get()
    return last_names(known.inside(text) if known else text)


def _any_of(folders: Iterable[str], not_after: str = "") -> re.Pattern[str]:
    """Return a pattern of these folders, the first that fits; its group says whether the path goes on."""
    either = "|".join(map(re.escape, folders))
    # "results/tmp" is no folder of the root.
    return re.compile(rf"(?<![\w.%{not_after}-])(?:{either})(?!\w|[.-]\w)(?=(/)?)")


def _last(folder: str) -> str:
    return PurePosixPath(folder).name


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
