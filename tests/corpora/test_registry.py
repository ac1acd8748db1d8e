"""Opening a corpus by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recallbench.corpora import stream
from recallbench.corpora.registry import CORPORA, GROUPS, facts, names, open_corpus, write_miniature
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.protocol import load

RULES = load()


def test_names_and_groups_are_registered() -> None:
    protocols, canary = ["longmemeval", "locomo"], ["canary-locomo", "canary-longmemeval"]
    others = ["realtalk", "realtalk-turns", "beam-100k", "beam-500k", "realmem"]
    assert list(CORPORA) == [*protocols, *canary, *others]
    assert names("all") == (*protocols, *others)
    assert names("canary") == ("canary-locomo", "canary-longmemeval") == GROUPS["canary"]
    assert names("locomo") == ("locomo",)
    assert facts("locomo", RULES).sha256.startswith("79fa87e9")
    with pytest.raises(UsageError, match=r"(?s)no corpus is called lokomo.*longmemeval, locomo, canary-locomo"):
        names("lokomo")


def test_an_unknown_name_is_told_what_it_may_mean(tmp_path: Path) -> None:
    (tmp_path / "chats.json").write_text("[]")
    for name, meant in (
        ("lokomo", "you may mean locomo"),
        (str(tmp_path), f"recallbench evaluate {tmp_path}"),
        (str(tmp_path / "chats.json"), f"--corpus-shape SHAPE --corpus-file {tmp_path}/chats.json"),
    ):
        with pytest.raises(UsageError) as caught:
            names(name)
        assert caught.value.remedy.endswith(meant)


@pytest.mark.parametrize("name", [*CORPORA, f"labelled/mine@{'0' * 64}", f"own/mine@{'0' * 64}+locomo"])
def test_every_corpus_brings_a_miniature_that_its_own_reader_reads(tmp_path: Path, name: str) -> None:
    write_miniature(name, tmp_path / "miniature")
    corpus = open_corpus(name, rules=RULES, environ={}, file=tmp_path / "miniature", allow_dataset_deviation=True)
    assert corpus.survey().with_evidence >= 12
    if name in CORPORA:
        assert corpus.clustered == CORPORA[name].clustered


def test_a_corpus_that_is_missing_blocks(tmp_path: Path) -> None:
    with pytest.raises(Blocked, match="recallbench fetch longmemeval"):
        open_corpus("longmemeval", rules=RULES, environ={"RECALLBENCH_DATA_DIR": str(tmp_path)})


def test_another_file_is_refused_with_both_hashes_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "locomo10.json"
    path.write_text("not even JSON")
    with pytest.raises(InputError) as refused:
        open_corpus("locomo", rules=RULES, environ={}, file=path)
    assert refused.value.expected.endswith("79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4")
    assert refused.value.found.endswith("5f6b918a346f51962698b5a0774bb17d0171dd4fa0bbbc35cab7a7eebcb5aa16")
    assert "--allow-deviation dataset" in refused.value.remedy
    assert "recallbench fetch locomo" in refused.value.remedy


def test_another_file_is_read_where_that_is_allowed(tmp_path: Path, locomo: Any) -> None:
    path = locomo().path
    corpus = open_corpus("locomo", rules=RULES, environ={}, file=path, allow_dataset_deviation=True)
    survey = corpus.survey()
    assert not survey.registered
    assert (survey.segments, survey.questions) == (2, 4)


def test_the_file_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[Path] = []
    real = stream.sha256_of

    def counted(path: Path) -> str:
        hashed.append(path)
        return real(path)

    monkeypatch.setattr(stream, "sha256_of", counted)
    corpus = open_corpus("canary-locomo", rules=RULES, environ={})
    corpus.survey()
    list(corpus.haystacks())
    assert len(hashed) == 1
