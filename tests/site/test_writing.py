"""The folder of a site: replaced at once, and only in the place of a site."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recallbench import whole_folder
from recallbench.confidential import forget, remember_secrets
from recallbench.errors import UsageError
from recallbench.site.writing import refuse_other, write_site


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("exchanging", [True, False])
def test_a_site_takes_the_place_of_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanging: bool
) -> None:
    if not exchanging:  # a system that can't exchange two names in one step
        monkeypatch.setattr(whole_folder.ctypes, "CDLL", lambda *words, **more: object())
    site = tmp_path / "new" / "site"
    write_site(site, {"index.html": "first", "old.html": "old"})
    write_site(site, {"index.html": "second"})
    assert names(site) == {"index.html", "site.json"}
    assert (site / "index.html").read_text() == "second"
    assert names(site.parent) == {"site"}
    assert set(json.loads((site / "site.json").read_text())["files"]) == {"index.html"}


@pytest.mark.parametrize("what", ["empty", "other", "strange", "file", "link", "folder"])
def test_anything_else_is_left_alone(tmp_path: Path, what: str) -> None:
    site = tmp_path / "site"
    if what in ("strange", "link", "folder"):
        write_site(tmp_path / ("real" if what == "link" else "site"), {"index.html": "a site"})
    if what in ("empty", "other"):
        site.mkdir()
    if what == "other":
        (site / "site.json").write_text('{"files": 3}')
    elif what == "strange":
        (site / "mine.txt").write_text("mine")
    elif what == "folder":
        (site / "mine").mkdir()
    elif what == "file":
        site.write_text("mine")
    elif what == "link":
        site.symlink_to(tmp_path / "real")
    before = sorted(map(str, tmp_path.rglob("*")))
    for refuse in (lambda: refuse_other(site), lambda: write_site(site, {"index.html": "new"})):
        with pytest.raises(UsageError, match="exists already, and is no site"):
            refuse()
    assert sorted(map(str, tmp_path.rglob("*"))) == before


def test_no_secret_is_written(tmp_path: Path) -> None:
    remember_secrets("hunter2-hunter2")
    try:
        write_site(tmp_path / "site", {"index.html": "it is hunter2-hunter2"})
    finally:
        forget()
    assert (tmp_path / "site/index.html").read_text() == "it is ***"
