"""Which published files are the configurations of a set, and what they become."""

from __future__ import annotations

import pytest

from recallbench.corpora.labelled_sets.hub_configs import find_configs, made_files
from recallbench.errors import UsageError


def test_configurations_are_found_by_their_folders() -> None:
    names = [
        "README.md",
        "corpus/corpus-00000-of-00002.parquet",
        "corpus/corpus-00001-of-00002.parquet",
        "queries/queries-00000-of-00001.parquet",
        "data/test-00000-of-00001.parquet",
        "data/train-00000-of-00001.parquet",
    ]
    found = find_configs("mteb/some", names, "test")
    assert found is not None
    assert found.files == {
        "corpus.jsonl": ("corpus/corpus-00000-of-00002.parquet", "corpus/corpus-00001-of-00002.parquet"),
        "queries.jsonl": ("queries/queries-00000-of-00001.parquet",),
        "qrels.tsv": ("data/test-00000-of-00001.parquet",),
    }
    with pytest.raises(UsageError, match="mteb/some has no split dev"):
        find_configs("mteb/some", names, "dev")
    assert find_configs("mteb/some", names[:3], "test") is None
    assert find_configs("mteb/some", ["README.md"], "test") is None


def test_subsets_go_before_their_configuration() -> None:
    roles = ("corpus", "queries", "qrels", "top_ranked")
    names = [f"{s}-{role}/test-00000-of-00001.parquet" for s in ("multi_hop", "open_domain") for role in roles]
    found = find_configs("mteb/LoCoMo", [*names, "odd-corpus/test-00000-of-00001.parquet"], "test")
    assert found is not None
    assert sorted(found.files) == [
        f"{subset}/{name}"
        for subset in ("multi_hop", "open_domain")
        for name in ("candidates.jsonl", "corpus.jsonl", "qrels.tsv", "queries.jsonl")
    ]
    assert made_files([*found.files, *names]) == list(found.files)


@pytest.mark.parametrize("subset", ["..", ".", "-", "_x"])
def test_a_subset_begins_with_a_letter_or_a_digit(subset: str) -> None:
    names = [f"{subset}-{role}/test.parquet" for role in ("corpus", "queries", "qrels")]
    assert find_configs("some/set", names, "test") is None


def test_two_folders_for_one_configuration_are_refused() -> None:
    names = ["corpus/test.parquet", "queries/test.parquet", "default/test.parquet", "data/train.parquet"]
    with pytest.raises(UsageError, match=r"some/set has qrels\.tsv twice") as caught:
        find_configs("some/set", names, "test")
    assert caught.value.found == "data/ and default/"
