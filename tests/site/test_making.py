"""The pages of a site beside the first one."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.audit.folder_state import folder_state
from recallbench.errors import InputError
from recallbench.escaping.web import html
from recallbench.progress import Silent
from recallbench.results import manifest
from recallbench.results.costs.prices import read_prices
from recallbench.scoring.measures.registry import parse
from recallbench.site.board import Board, make_board
from recallbench.site.choices import SiteChoices
from recallbench.site.making import copies_of
from recallbench.site.places import find_places


def test_the_copy_of_a_page_has_no_path_and_is_of_the_bytes_that_were_audited(audited: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(audited / "exact", tmp_path / "exact"))
    board = make_board(find_places([folder]), SiteChoices((parse("recall_any@10"),), read_prices(), {}), Silent())
    (entry,) = board.groups[0].entries
    metrics = json.loads((folder / "metrics.json").read_text())
    metrics["guc_state"] = {"library": "/srv/elsewhere/own.so", "/srv/elsewhere/set": "on"}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    with pytest.raises(InputError, match="exact changed while it was read"):
        copies_of(board)
    changed = replace(board.groups[0], entries=[replace(entry, state=folder_state(folder))])
    ((name, page),) = copies_of(Board([changed], [])).values()
    assert name == "exact"
    assert "setting library" in page
    assert "own.so" in page
    assert "elsewhere" not in page


def test_no_page_names_a_folder_above_the_results_whatever_it_is_called(audited: Path, tmp_path: Path) -> None:
    results = tmp_path / "One Drive - Acme {Corp}, Ltd; x" / "Project (Falcon) & more" / "res"
    for name in ("bm25", "exact"):
        shutil.copytree(audited / name, results / name)
    shutil.copytree(audited / "bm25", results / "bad")
    (results / "bad/metrics.json").write_text("{")
    environment = json.loads((results / "exact/environment.json").read_text())
    places = [f"{start}{results}/x.py" for start in ("", "`", "{", "|", "“", "--out=", "a,")]
    (results / "exact/environment.json").write_text(json.dumps(environment | {"command": ["recallbench", *places]}))
    (results / "exact/manifest.json").write_text(manifest.build(results / "exact"))
    done = recallbench("site", results, "--folder", tmp_path / "made", "--copy", "-q", cwd=tmp_path)
    assert "2 results with an audit that holds; 1 kept out" in done.stdout
    pages = {file.name: file.read_text("utf-8") for file in (tmp_path / "made").iterdir()}
    assert "<td>bad is a damaged result: metrics.json " in pages["index.html"]
    for folder in (*results.parents[:2], tmp_path):
        assert not [name for name, text in pages.items() if folder.name in text or html(folder.name) in text]
