"""What lies in folders, and the names by which a board tells it apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallbench.errors import InputError, UsageError
from recallbench.site.places import find_places, kind_of


def made(folder: Path, *files: str) -> Path:
    folder.mkdir(parents=True)
    for name in files:
        (folder / name).write_text("{}")
    return folder


def test_a_folder_is_known_by_what_it_holds(tmp_path: Path) -> None:
    kinds = {
        ("metrics.json", "raw_retrievals.jsonl", "manifest.json"): "result",
        ("BLOCKED.md", "manifest.json"): "result",
        ("sweep.json", "manifest.json"): "sweep",
        ("latency.json", "manifest.json"): "latency",
        ("site.json", "metrics.json"): None,
        ("notes.txt",): None,
    }
    for number, (files, kind) in enumerate(kinds.items()):
        assert kind_of(made(tmp_path / str(number), *files)) == kind


def test_results_are_found_below_a_folder_and_told_apart_by_the_ends_of_their_paths(tmp_path: Path) -> None:
    result = ("metrics.json", "manifest.json")
    for path in ("a/results/one", "b/results/one", "b/results/two", "b/.hidden/three", "b/site/four"):
        made(tmp_path / path, *result)
    (tmp_path / "b/site/site.json").write_text("{}")
    (tmp_path / "theirs.trec").write_text("")
    found = find_places([tmp_path, tmp_path / "theirs.trec", tmp_path / "b"])
    assert [(place.name, place.kind) for place in found] == [
        ("a/results/one", "result"),
        ("b/results/one", "result"),
        ("theirs.trec", "run"),
        ("two", "result"),
    ]


def test_folders_too_deep_are_not_looked_into(tmp_path: Path) -> None:
    made(tmp_path / "1/2/3/4", "metrics.json", "manifest.json")
    assert len(find_places([tmp_path])) == 1
    made(tmp_path / "other/2/3/4/5", "metrics.json", "manifest.json")
    assert len(find_places([tmp_path])) == 1


def test_nothing_and_nowhere_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is nothing to show"):
        find_places([tmp_path])
    with pytest.raises(UsageError, match="there is no"):
        find_places([tmp_path / "missing"])
