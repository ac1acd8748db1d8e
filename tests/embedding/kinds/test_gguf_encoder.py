"""llama.cpp reads the tokens that were counted here, each text by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.registry import default_cache_dir, open_embedder
from recallbench.embedding.wheels import unpacked_folder

pytestmark = pytest.mark.marked


def test_tokens_given_to_nomic_are_those_it_counts_itself(tmp_path: Path) -> None:
    files = ENCODERS["nomic"].passage
    folder = unpacked_folder(files, default_cache_dir())
    if not (folder / files.model_file).is_file():
        pytest.skip("the weights of nomic are not here: recallbench fetch nomic")
    (tmp_path / "weights").symlink_to(folder.parent)
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(folder / files.model_file)
    settings.embedding = True
    settings.n_ctx = settings.n_batch = settings.n_ubatch = 512
    settings.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    settings.verbosity = -1
    server = xllamacpp.Server(settings)
    texts = ["When did Melanie paint a sunrise?", "Ünïcode naïve café – “quotes” 日本語 😀"]
    embedder = open_embedder("nomic", cache_dir=tmp_path, environ={}, max_tokens=256)
    for role in ("passage", "query"):
        prefix = "search_query: " if role == "query" else "search_document: "
        answers = [server.handle_embeddings({"input": [prefix + text], "model": "n"}) for text in texts]
        found = embedder.lookup(texts, role)  # type: ignore[arg-type]
        np.testing.assert_allclose(found.vectors, [answer["data"][0]["embedding"] for answer in answers], atol=1e-6)
        assert found.tokens.tolist() == [answer["usage"]["prompt_tokens"] for answer in answers]
    assert embedder.fingerprint["backend"] == "llama.cpp/cpu"
    embedder.close()
