"""Whatever setting runs an encoder, and with torch too, questions find the same ten, in the same order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recallbench.corpora.registry import open_corpus
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.engines.setting import Setting
from recallbench.embedding.loaded_weights import load_weights
from recallbench.embedding.tokens import EncoderTokenizer
from recallbench.embedding.torch_engine import pad_batch
from recallbench.embedding.weights import FileResolver
from recallbench.progress import Silent
from recallbench.protocol.frozen import load

TIE = 1e-6


@pytest.mark.marked
def test_every_setting_finds_the_ten_that_torch_finds(tmp_path: Path) -> None:
    haystack = next(iter(open_corpus("canary-locomo", rules=load(), environ={}).haystacks()))
    spec = ENCODERS["minilm"].with_length(128)
    resolver = FileResolver(spec.name, {}, tmp_path, Silent())
    weights = load_weights(spec, spec.passage, resolver.verified_paths(spec.passage))
    texts = [each.text for each in (*haystack.segments, *haystack.questions[:20])]
    tokenizer = EncoderTokenizer(resolver.verified_paths(spec.tokenizer), spec.max_tokens)
    batch = pad_batch([text.ids for text in tokenizer.tokenise(texts)], weights.pad_id)
    count = len(haystack.segments)
    expected = weights.reference()(batch).astype(np.float64)
    scores = expected[count:] @ expected[:count].T
    for setting in (Setting(), Setting(1), Setting(1, fixed=True)):
        vectors = weights.openvino(setting)(batch).astype(np.float64)
        others = vectors[count:] @ vectors[:count].T
        for row, other in zip(scores, others, strict=True):
            lists = np.argsort(-row, kind="stable")[:10], np.argsort(-other, kind="stable")[:10]
            assert np.abs(row[lists[0]] - row[lists[1]]).max() <= TIE
