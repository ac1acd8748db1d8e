"""The nearness of any text to an expected one, by all that the method looks at: words, passages, vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from recallbench.cases.text_vectors import encoded
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.matching.passages import Passages
from recallbench.corpora.matching.text_matching import Likeness, ParsedText, likeness

Near = Callable[[str, str], Likeness]
"""An expected text and another."""


def nearness(
    expected: Sequence[str],
    returned: Sequence[Sequence[str]],
    matching: Matching,
    texts: Mapping[Any, str] | Callable[[Any], str] | None,
) -> Near:
    """Return how near texts come to expected ones; BM25's statistics are of all `texts` where these are listed."""
    returned_texts = list(dict.fromkeys(chain.from_iterable(returned)))
    read: dict[str, ParsedText] = {text: ParsedText(text, matching.chunk) for text in returned_texts}
    parsed_expected = {text: ParsedText(text) for text in expected}

    def by_words(answer: str, text: str) -> Likeness:
        return likeness(parsed_expected[answer], read[text])

    if matching.method == "bm25":
        return _with_bm25(by_words, known_texts(texts) or returned_texts, matching)
    if matching.cosine is not None:
        return _with_cosine(by_words, [text for text in dict.fromkeys(expected) if text], returned_texts, matching)
    return by_words


def known_texts(texts: Mapping[Any, str] | Callable[[Any], str] | None) -> list[str]:
    """Return all texts that are known; a hit whose text is none is refused later."""
    return [text for text in texts.values() if isinstance(text, str)] if isinstance(texts, Mapping) else []


def _with_bm25(by_words: Near, searched: Sequence[str], matching: Matching) -> Near:
    passages = Passages(searched, matching.chunk)
    # A text that stands there twice counts twice, as it does in a folder.
    places = {text: place for place, text in enumerate(searched)}

    def near(answer: str, text: str) -> Likeness:
        return replace(by_words(answer, text), bm25=float(passages.scores(answer)[places[text]]))

    return near


def _with_cosine(by_words: Near, expected: Sequence[str], returned_texts: Sequence[str], matching: Matching) -> Near:
    every = list(dict.fromkeys([*expected, *(text for text in returned_texts if text.strip())]))
    # Both sides are statements: what an answer says, and what a memory says.
    vectors = encoded(matching.encoder, every, "passage").astype(np.float64) if every else np.empty((0, 1))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = dict(zip(every, vectors / np.where(lengths > 0, lengths, 1.0), strict=True))

    def near(answer: str, text: str) -> Likeness:
        cosine = float(units[answer] @ units[text]) if answer in units and text in units else 0.0
        return replace(by_words(answer, text), cosine=cosine)

    return near
