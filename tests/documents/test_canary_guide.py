"""The guide to canaries: its table of drops is what the code works out."""

from __future__ import annotations

import re

import pytest

from documents.markdown import ROOT
from recallbench.scoring.planning.detectable import detectable_drop

GUIDE = (ROOT / "docs" / "canary.md").read_text("utf-8")


@pytest.mark.parametrize("n", [100, 200, 300])
def test_the_table_of_drops_is_the_codes(n: int) -> None:
    stated = re.search(rf"^\| {n} \| (\S+) \| (\S+) \| (\S+) \|$", GUIDE, re.MULTILINE)
    assert stated
    assert [float(cell) for cell in stated.groups()] == [
        pytest.approx(detectable_drop(n, 0.9, differing), abs=0.0006) for differing in (0.05, 0.1, 0.18)
    ]


@pytest.mark.parametrize("scopes", [6, 7, 8, 10, pytest.param(20, marks=pytest.mark.marked)])
def test_the_table_of_scopes_is_the_codes(scopes: int) -> None:
    stated = re.search(rf"^\| {scopes} \| (\S+) \| (\S+) \| (\S+) \|$", GUIDE, re.MULTILINE)
    assert stated
    sizes = [200 // scopes + (i < 200 % scopes) for i in range(scopes)]
    assert [float(cell) for cell in stated.groups()] == [
        pytest.approx(detectable_drop(200, 0.9, 0.1, sizes, effect), abs=0.0006) for effect in (1.0, 2.0, 4.0)
    ]
