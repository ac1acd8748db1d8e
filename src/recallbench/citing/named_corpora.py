"""The corpora that a text names for a figure, and those that commands measure."""

from __future__ import annotations

import re

from recallbench.citing.figure_grammar import CitedFigure, without_names
from recallbench.corpora.registry import ALL, CORPORA, GROUPS

_STEMS = {name.partition("-")[0] for name in CORPORA}
_WORDS: dict[str, set[str]] = {
    **{stem: {name for name in CORPORA if name.startswith(f"{stem}-")} for stem in _STEMS},
    **{name: set(members) for name, members in GROUPS.items() if name != ALL},
    **{name: {name} for name in CORPORA},
}
"""Each word that stands for corpora, with those; `beam` is any of its sizes."""
_EACH = re.compile(rf"(?<![\w-]){ALL}(?![\w-])")


def unmeasured(figure: CitedFigure, commands: str) -> list[str]:
    """Return the corpora that the nearest words name for a figure, and that none of these commands does."""
    measured = {name for members in _named(commands).values() for name in members}
    if _EACH.search(commands):
        measured.update(GROUPS[ALL])
    for words in (figure.row, figure.clause, figure.sentence, *figure.headings):
        if named := _named(words):
            return [word for word, members in named.items() if not members & measured]
    return []


def _named(text: str) -> dict[str, set[str]]:
    """Return what a text names; a longer name hides the shorter in it."""
    named = {}
    for word in sorted(_WORDS, key=len, reverse=True):
        shorter = without_names(text, [word])
        if shorter != text:
            named[word], text = _WORDS[word], shorter
    return named
