"""`recallbench report`: a page beside a result's folder."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from commandline import recallbench


@pytest.fixture
def folder(results_to_compare: Path) -> Path:
    return results_to_compare


def page_of(folder: Path, target: Path, *words: str) -> str:
    done = recallbench("report", *words, "--save", target, cwd=folder)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, str(target))
    return target.read_text(encoding="utf-8")


def test_a_page_opens_with_a_sentence_and_a_picture(folder: Path, tmp_path: Path) -> None:
    page = page_of(folder, tmp_path / "page.html", "bm25")
    opening = page.index("bm25 finds something relevant among its first 10 hits for 83.5% of 158 questions (95%")
    assert opening < page.index("<svg") < page.index("<h2>By kind</h2>")
    assert "chance would for 47.7%" in page
    assert "26 of 158." in page  # 83.54% of 158 are 132
    assert page.count('<tr data-kind="') == 26
    assert "<h2>Where the first relevant hit landed</h2>" in page


def test_the_page_asks_for_nothing_and_runs_its_own_script_alone(folder: Path, tmp_path: Path) -> None:
    page = page_of(folder, tmp_path / "page.html", "bm25")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page
    assert not re.search(r"<(link|img|iframe|object|embed|base)\b|url\(|@import|\bsrc=", page)


def test_texts_are_shown_only_where_they_are_asked_for_and_there(folder: Path, tmp_path: Path) -> None:
    plain = page_of(folder, tmp_path / "plain.html", "texts")
    shown = page_of(folder, tmp_path / "shown.html", "texts", "--with-text")
    none = page_of(folder, tmp_path / "none.html", "bm25", "--with-text")
    assert "<details>" not in plain
    assert "<details>" not in none
    assert shown.count("<details>") > 100


def test_the_page_lies_beside_the_folder_by_default(folder: Path, tmp_path: Path) -> None:
    done = recallbench("report", folder / "few", cwd=tmp_path)
    page = folder / "few.html"
    assert done.stdout == (
        f"{page}\n\nThe page of {folder / 'few'} is written: what was found, kind by kind, and what was missed; each "
        f"file is as the manifest says; next: open {page}\n"
    )
    assert (folder / "few.html").exists()
    (folder / "few.html").unlink()


def test_it_ends_with_its_last_line_in_every_format(folder: Path, tmp_path: Path) -> None:
    words = ("report", folder / "few", "--save", "few.html", "--format")
    stated = json.loads(recallbench(*words, "json", cwd=tmp_path).stdout)
    last = stated["conclusion"]["text"]
    assert last.endswith("; each file is as the manifest says; next: open few.html")
    assert stated["pages"] == [{"result": str(folder / "few"), "page": "few.html"}]
    assert recallbench(*words, "markdown", cwd=tmp_path).stdout.splitlines()[-1] == f"**{last}**"
    assert f"<p><strong>{last}</strong></p>" in recallbench(*words, "html", cwd=tmp_path).stdout
    sheet = recallbench(*words, "csv", cwd=tmp_path)
    assert sheet.stdout == f"result,page\n{folder / 'few'},few.html\n"
    assert sheet.stderr == f"\n{last}\n"


def test_a_folder_that_was_edited_is_told_of(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "few", tmp_path / "edited")
    with (tmp_path / "edited" / "report.md").open("a") as report:
        report.write("more\n")
    done = recallbench("report", "edited", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.endswith(
        "; edited is not as its manifest says, so its figures may not be; next: recallbench audit edited\n"
    )


def test_refusals(folder: Path, tmp_path: Path) -> None:
    done = recallbench("report", "bm25", "exact", "--save", tmp_path / "page.html", cwd=folder)
    assert (done.returncode, "--save names one page" in done.stderr) == (2, True)
    assert recallbench("report", "nowhere", cwd=folder).returncode == 2
