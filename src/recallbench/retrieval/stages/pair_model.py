"""A cross-encoder as ONNX: reads a question and a text together, and says how well the text answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recallbench.errors import InputError
from recallbench.escaping.terminal import shortened

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

MODEL_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"
_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""What such a model may want, and what a tokenizer calls it."""


class Pair(NamedTuple):
    """A question and a text as the model reads them."""

    encoding: Encoding
    cut: bool
    """Whether the end of the text was left out."""


class PairModel:
    """A cross-encoder with its tokenizer. One pair at a time and no padding: int8 scores move with both."""

    def __init__(self, files: Mapping[str, Path], name: str, max_tokens: int) -> None:
        """`files` has the model and its tokenizer, `name` is how errors call it."""
        self._name = name
        self._tokenizer = _tokenizer(files[TOKENIZER_FILE])
        self._session = _session(files[MODEL_FILE], name)
        self._wanted = [wanted.name for wanted in self._session.get_inputs()]
        if not {"input_ids"} <= {*self._wanted} <= _INPUTS.keys():
            raise InputError(
                f"{name} is no cross-encoder",
                expected=f"a model that takes {', '.join(_INPUTS)}",
                found=", ".join(self._wanted) or "no inputs",
            )
        self._room = max_tokens - self._tokenizer.num_special_tokens_to_add(True)

    def pair(self, question: str, text: str) -> Pair:
        """Return the two as the model reads them: the end of the text is cut where they are too long together.

        A question gets half of the window at most.
        """
        asked = self._tokenizer.encode(question, add_special_tokens=False)
        if len(asked) > self._room // 2:
            asked.truncate(self._room // 2)
        read = self._tokenizer.encode(text, add_special_tokens=False)
        room = self._room - len(asked)
        cut = len(read) > room
        if cut:
            read.truncate(room)
        return Pair(self._tokenizer.post_process(asked, read), cut)

    def score(self, pair: Pair) -> float:
        """Return the model's score of a pair as it gives it, without bounds."""
        given = {name: np.array([getattr(pair.encoding, _INPUTS[name])], np.int64) for name in self._wanted}
        try:
            outcome = np.asarray(self._session.run(None, given)[0])
        except Exception as error:  # the library raises a dozen classes of its own that share nothing else
            raise InputError(
                f"{self._name} can't read a text of {len(pair.encoding)} tokens",
                expected="a score",
                found=shortened(str(error)),
                remedy="if that is more than the model was made for, set `max_tokens` lower",
            ) from error
        if outcome.size != 1:
            raise InputError(
                f"{self._name} is no reranker", expected="one score for a pair", found=f"{outcome.size} numbers"
            )
        return float(outcome.item())


def _tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer: Tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more specific on a malformed file
        raise InputError(f"{path.name} is no tokenizer", found=shortened(str(error))) from error
    # The file brings its own cut and padding (512 tokens for every pair): the window is ours to set.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _session(path: Path, name: str) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Between two pairs its threads would burn a core each waiting for the next.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # as above
        raise InputError(f"{path.name} of {name} is no ONNX model", found=shortened(str(error))) from error
