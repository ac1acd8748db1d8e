"""The pages of a site beside the first one."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from recallbench.errors import InputError
from recallbench.progress import Silent
from recallbench.results.costs.prices import read_prices
from recallbench.scoring.measures.registry import parse
from recallbench.site.board import Board, make_board
from recallbench.site.choices import SiteChoices
from recallbench.site.folder_state import folder_state
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
