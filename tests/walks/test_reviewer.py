"""The walk of a reviewer: somebody's folder, somebody's text, somebody's number, by the README's words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documents.markdown import README
from documents.readers import checkout
from recallbench.audit.outcome import WORDS
from walks.walker import Walker, last_line, named

FOLDER = "benchmarks/locomo/results/pgvector_20261118"


def test_without_the_dataset_a_folder_is_not_checked_and_the_line_says_how_it_would_be(tmp_path: Path) -> None:
    checkout(tmp_path)
    walker = Walker(tmp_path, {"RECALLBENCH_LOCOMO_URL": "http://[::1]:9/none"})
    audited = walker.types(named(walker.reads("Somebody's claim"), FOLDER))
    said = last_line(audited)
    assert "not checked" in said
    assert "recallbench fetch locomo" in said


def test_a_forged_figure_does_not_hold(tmp_path: Path) -> None:
    checkout(tmp_path)
    walker = Walker(tmp_path)
    path = tmp_path / FOLDER / "metrics.json"
    path.write_text(path.read_text().replace("0.974268415741675", "0.984268415741675"))
    audited = walker.types(named(walker.reads("Somebody's claim"), FOLDER))
    assert "ended otherwise" in audited.stderr
    assert "does not hold" in audited.stdout


@pytest.mark.marked
@pytest.mark.real_data
def test_with_the_dataset_the_folder_holds_and_the_texts_are_right(
    tmp_path: Path, locomo_vectors: dict[str, str], realtalk_folder: Path, realmem_folder: Path
) -> None:
    checkout(tmp_path)
    corpora = {"REALTALK_DATA_DIR": str(realtalk_folder), "REALMEM_DATA_DIR": str(realmem_folder)}
    walker = Walker(tmp_path, locomo_vectors | corpora)
    _, audit, cite = walker.reads("Somebody's claim")
    audited = walker.types(audit)
    assert audited.returncode == 0
    assert audited.stdout.startswith(f"{FOLDER}: holds\n")
    checked = walker.types(cite)
    assert checked.returncode == 0
    assert re.match(r"README\.md: (\d+) figures: \1 right; ", last_line(checked))
    assert walker.types(cite, {"README.md": "README.md docs"}).returncode == 0


@pytest.mark.marked
def test_a_figure_of_the_readme_that_was_raised_is_told(tmp_path: Path) -> None:
    checkout(tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert text.count("| 0.9743 |") == 1
    (tmp_path / "README.md").write_text(text.replace("| 0.9743 |", "| 0.9843 |"))
    walker = Walker(tmp_path)
    checked = walker.types(named(walker.reads("Somebody's claim"), "cite"))
    assert "ended otherwise" in checked.stderr
    assert re.search(r"README\.md:\d+: wrong: recall_any@10 0\.9843", checked.stdout)


def test_the_five_words_of_the_readme_are_those_of_the_program() -> None:
    sentence = " ".join(README.split("says one of five things:")[1].split(". Of ")[0].split())
    assert re.findall(r"\*([a-z, ]+?)(?: \(what\))?\*", sentence) == list(WORDS)


def test_a_published_number_is_found_among_the_definitions(tmp_path: Path) -> None:
    checkout(tmp_path)
    walker = Walker(tmp_path)
    walker.opens("audit")
    line = walker.reads("Rankings: what could that number have counted?", "audit")
    done = walker.types(named(line, "multiverse"))
    assert done.returncode == 0
    assert "recall_any@10" in done.stdout
    assert "recall_frac@10" in done.stdout
