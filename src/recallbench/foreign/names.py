"""Names of measures as folders write them, such as Recall_at_10, hit rate or ndcg_cut_10, and their meaning."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from recallbench.foreign.universes import DEFINITIONS, VARIANTS, Definition
from recallbench.scoring.measures.registry import (
    MEASURES,
    OTHERS,
    PRIMARY,
    family,
    measure_names,
    measures_called,
    name_pattern,
)

_WORDS = (*measure_names(), *OTHERS, *VARIANTS)
_LONG, _LETTERS = [word for word in _WORDS if len(word) > 1], [word for word in _WORDS if len(word) == 1]
_NAME = re.compile(rf"(?P<word>{name_pattern(_WORDS)})(?:[@_]?(?P<k>[0-9]{{1,9}}))?")
_AT = re.compile(r"(_at_|\s+at\s+|\s*@\s*)(?=[0-9])")
_WITHOUT_DEPTH = {measure.name: measure.k for measure in PRIMARY if measure.ordered}
"""Depths of measures that are published without one: the protocol's MRR."""
_FIGURES = ("score", "figure", "result", "quality", "accuracy")
"""Words for figures that are no names of measures."""
MENTION = re.compile(
    rf"(?<![\w.])(?:(?:{name_pattern(_LONG)})"
    r"(?:(?:\s*@\s*|_at_|\s+at\s+|_?)[0-9]+(?![.\w]))?(?![\w(])"
    rf"|(?:{'|'.join(_LETTERS)})\s?@\s?[0-9]+(?![.\w]))",
    re.IGNORECASE,
)
"""A measure's name in the cell of a table; a single letter is one only with a depth."""


@dataclass(frozen=True, slots=True)
class PublishedName:
    """The meaning of a published name; without a family where it is no measure that is known here."""

    family: str
    k: int | None
    protocol: Definition | None = None
    """The definition that the protocol, or this tool, means by the name."""

    def follows(self, definition: Definition) -> bool:
        """Return whether people use this name for a definition."""
        same = family(MEASURES[definition.kind]) == self.family
        return same and (self.k is None or definition.k == self.k)


def plain(name: str) -> str:
    """Return a name in plain spelling: Recall_at_10 is recall@10, and Hit Rate is hit_rate."""
    text = _AT.sub("@", unicodedata.normalize("NFKC", name).strip().lower())
    return re.sub(r"[ -]", "_", text)


def label_key(label: str) -> str:
    """Return the letters and digits of a label, in which two spellings of it agree."""
    return "".join(letter for letter in label.lower() if letter.isalnum())


def meaning_of(name: str) -> PublishedName:
    """Return the family, the depth and the protocol's meaning of a published name."""
    match = _NAME.fullmatch(plain(name))
    word = match["word"] if match else ""
    k = int(match["k"]) if match and match["k"] else None
    kind, variant = VARIANTS.get(word, ("", ""))
    kind = kind or next((measure.name for measure in measures_called(word) if measure.name in DEFINITIONS), "")
    depth = k or _WITHOUT_DEPTH.get(kind)
    if not kind or depth is None or not 1 <= depth <= 100:
        return PublishedName("", k)
    return PublishedName(family(MEASURES[kind]), k, Definition(kind, depth, variant))


def is_measure_name(name: str) -> bool:
    """Return whether a field's name is that of a figure, such as recall@10 or mrr."""
    match = _NAME.fullmatch(plain(name))
    return match is not None and (len(match["word"]) > 1 or match["k"] is not None)


def mentions_measure(text: str) -> bool:
    """Return whether a text names a measure, or has another word for a figure."""
    words = [word if word in _LONG else word.rstrip("0123456789") for word in re.findall(r"[a-z]+[0-9]*", plain(text))]
    phrase = f"_{'_'.join(words)}_"
    return any(f"_{name}_" in phrase for name in (*_LONG, *_FIGURES)) or re.search(r"\b[a-z]@[0-9]", text) is not None
