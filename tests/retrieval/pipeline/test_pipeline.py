"""A pipeline as its file states it: what is read, what is refused, and what its hash covers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recallbench.errors import InputError, UsageError
from recallbench.retrieval.pipeline.limits import deepest, limit_notes
from recallbench.retrieval.pipeline.pipeline import Pipeline

DENSE: dict[str, Any] = {"kind": "search", "method": "dense"}
LEXICAL: dict[str, Any] = {"kind": "search", "method": "lexical"}
RRF: dict[str, Any] = {"kind": "fuse", "method": "rrf"}
MMR: dict[str, Any] = {"kind": "diversify", "method": "mmr"}


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hybrid.toml"
    path.write_text(
        '[[stage]]\nkind = "search"\nset = {weights = "cosine"}\n'
        '[[stage]]\nkind = "search"\nmethod = "lexical"\nname = "words"\ndepth = 20\n'
        '[[stage]]\nkind = "fuse"\nmethod = "rrf"\nk = 20\n'
    )
    pipeline = Pipeline.read(path)
    assert pipeline.source == "hybrid.toml"
    assert pipeline.words() == "store(set.weights=cosine) + words(depth=20) > rrf(k=20)"
    assert pipeline.main_leg.store_options == {"weights": "cosine"}
    assert [spec.recorded() for spec in pipeline][1:] == [
        {"name": "words", "kind": "search", "method": "lexical", "options": {"depth": "20"}},
        {"name": "rrf", "kind": "fuse", "method": "rrf", "options": {"k": "20"}},
    ]


def test_the_hash_covers_what_stages_are_told_defaults_too() -> None:
    plain = Pipeline.of([DENSE, LEXICAL, RRF])
    assert plain.sha256 == Pipeline.of([DENSE, LEXICAL, {**RRF, "k": 60}], "another file").sha256
    assert plain.sha256 != Pipeline.of([DENSE, LEXICAL, {**RRF, "k": 61}]).sha256
    assert plain.sha256 != Pipeline.of([LEXICAL, DENSE, RRF]).sha256


def test_two_stages_of_one_method_have_names_of_their_own() -> None:
    assert [spec.name for spec in Pipeline.of([DENSE, DENSE, RRF, MMR, MMR])] == [
        "dense", "dense-2", "rrf", "mmr", "mmr-2",
    ]  # fmt: skip


def test_a_search_alone_is_no_pipeline_unless_its_depth_is_its_own() -> None:
    assert Pipeline.of([DENSE]).searches_alone
    assert Pipeline.of([{**DENSE, "depth": 50}]).searches_alone
    assert not Pipeline.of([{**DENSE, "depth": 49}]).searches_alone


@pytest.mark.parametrize(
    ("stages", "problem", "remedy"),
    [
        ([], "searches nothing", ""),
        ([RRF], "searches nothing", ""),
        ([{"kind": "serach"}], "stage 1: there is no kind of stage `serach`", "you may mean search"),
        ([{"kind": "search", "method": "lexcal"}], "no stage `search` with method `lexcal`", "you may mean lexical"),
        ([{"kind": "search", "method": "LEXICAL"}], "no stage `search` with method `LEXICAL`", "you may mean lexical"),
        ([DENSE, {"kind": "fuse", "method": "mmr"}], "no stage `fuse` with method `mmr`", "is a method of `diversify`"),
        ([DENSE, {**MMR, "lamda": 0.5}], "diversify mmr has no option `lamda`", "you may mean lambda"),
        ([DENSE, {**MMR, "lambda": 1.5}], "`lambda` 1.5 can't be read", ""),
        ([{**DENSE, "depth": 0}], "stage 1: `depth` 0 can't be read", ""),
        ([{**DENSE, "depth": True}], "stage 1: `depth` true can't be read", ""),
        ([{**DENSE, "depth": 10**20}], "stage 1: `depth` 100000000000000000000 can't be read", ""),
        ([DENSE, LEXICAL, {**RRF, "weights": [1]}], "stage 3: 1 weights don't fit 2 legs", ""),
        ([{**LEXICAL, "set": {"k1": 2}}], "the store `bm25` has no use for --set k1", "leave out --set k1"),
        ([DENSE, LEXICAL], "searches 2 times for a question and makes no single list of it", ""),
        ([DENSE, MMR, LEXICAL, RRF], "search can't come after diversify", ""),
        ([DENSE, LEXICAL, RRF, RRF], "has 2 stages of kind fuse", ""),
        ([{**DENSE, "name": "a"}, {**LEXICAL, "name": "a"}, RRF], "two stages are called a", ""),
        ([{**DENSE, "name": "a <b>"}], "the name of a stage holds no tags", ""),
    ],
)  # fmt: skip
def test_what_can_not_be_is_refused(stages: list[dict[str, Any]], problem: str, remedy: str) -> None:
    with pytest.raises(UsageError) as refused:
        Pipeline.of(stages, "p.toml")
    assert "p.toml" in refused.value.problem
    assert problem in refused.value.problem
    assert remedy in refused.value.remedy


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("stage = 3", "has no stages"),
        ("[stages]\n", ": a pipeline has no `stages`"),
        ("[[stage]", "is no TOML"),
        ("a = " + "[" * 20_000, "is no TOML"),
        (None, "can't be read"),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path: Path, text: str | None, problem: str) -> None:
    path = tmp_path / "p.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises((InputError, UsageError), match=rf"p\.toml ?{problem}"):
        Pipeline.read(path)


def test_what_can_not_change_the_set_at_k_is_told_before() -> None:
    after_the_cut = Pipeline.of([{**DENSE, "depth": 50}, LEXICAL, {**RRF, "keep": 10}, MMR])
    assert deepest(after_the_cut) == 10
    assert list(limit_notes(after_the_cut, 10, 50)) == [
        "mmr can't change which segments are in the top 10: it is handed no more than 10 candidates, "
        "so it runs after the cut",
        "the pipeline hands on at most 10 hits: nothing below place 10 can count",
    ]
    among_themselves = Pipeline.of([DENSE, {**MMR, "top": 8}])
    assert list(limit_notes(among_themselves, 10, 50)) == [
        "mmr can't change which segments are in the top 10: it moves no more than the first 8 among themselves"
    ]
    assert list(limit_notes(Pipeline.of([DENSE, MMR]), 10, 50)) == []
