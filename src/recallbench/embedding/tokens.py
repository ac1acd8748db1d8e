"""Texts to token ids, with the true length and the end of the window from the same pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from recallbench.errors import InputError
from recallbench.reading import parsed

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

TokenIds = npt.NDArray[np.int32]
BLOCK = 128
"""Texts tokenised at a time: whole encodings are large, and only ids, length and cut are kept."""


class TokenisedText(NamedTuple):
    """One text as an encoder reads it."""

    ids: TokenIds
    """At most the window, special tokens included."""
    tokens: int
    """Special tokens and the whole text, before anything is cut."""
    cut: int
    """The character at which the window ends."""


class EncoderTokenizer:
    """The tokenizer of an encoder, cutting at `max_tokens`."""

    def __init__(self, source: Mapping[str, Path] | Tokenizer, max_tokens: int, *, special: bool = True) -> None:
        """`source` is the tokenizer, or its files by name; `special` whether its own tokens go around a text."""
        self._tokenizer = _load_tokenizer(source) if isinstance(source, Mapping) else source
        # The files bring their own cut and padding (MiniLM's: 128); the window is ours to set.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._special = self._tokenizer.num_special_tokens_to_add(False) if special else 0
        self._room = max_tokens - self._special

    def tokenise(self, texts: Sequence[str], prefix: str = "") -> Iterator[TokenisedText]:
        """Tokenise each text, in order."""
        for start in range(0, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            encodings = self._tokenizer.encode_batch([prefix + text for text in block], add_special_tokens=False)
            for text, encoding in zip(block, encodings, strict=True):
                yield self._window(text, encoding, len(prefix))

    def _window(self, text: str, encoding: Encoding, prefix: int) -> TokenisedText:
        length = len(encoding)
        cut = len(text)
        if length > self._room:
            # One token's place alone, since `offsets` would build a list of all.
            last = encoding.token_to_chars(self._room - 1)
            cut = max(0, last[1] - prefix) if last else 0
            encoding.truncate(self._room)
        ids = self._tokenizer.post_process(encoding, add_special_tokens=self._special > 0).ids
        return TokenisedText(np.array(ids, np.int32), length + self._special, cut)


def _load_tokenizer(paths: Mapping[str, Path]) -> Tokenizer:
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    tokenizer: Tokenizer
    if "vocab.txt" not in paths:
        path = next(iter(paths.values()))
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises nothing more specific on a malformed file
            raise InputError(f"{path} is not a tokenizer file", found=str(error)) from error
    else:
        settings = parsed(paths["tokenizer_config.json"].read_bytes(), paths["tokenizer_config.json"])
        lowercase = bool(settings.get("do_lower_case", True))
        wordpiece = BertWordPieceTokenizer(str(paths["vocab.txt"]), lowercase=lowercase)
        # Its written form is the public way from the ready-made class to what it is made of.
        tokenizer = Tokenizer.from_str(wordpiece.to_str())
    return tokenizer
