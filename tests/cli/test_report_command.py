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
from labelled_sets import beir

NOTHING = """
class Memory:
    def add(self, id, text):
        pass

    def search(self, query, k):
        return []



"""


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


def test_texts_are_shown_only_where_they_are_asked_for(folder: Path, tmp_path: Path) -> None:
    plain = page_of(folder, tmp_path / "plain.html", "bm25")
    assert "<details>" not in plain
    said = "To read them, make a page of your own: recallbench report FOLDER --with-text, where FOLDER is this"
    assert said in plain
    for name in ("texts", "bm25"):  # the one was written with them, of the other the corpus has them
        shown = page_of(folder, tmp_path / f"{name}.html", name, "--with-text")
        assert shown.count("<details>") > 100
        assert "What did" in shown
        assert said not in shown


def test_texts_that_are_nowhere_are_said_to_be(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    words = ("evaluate", "team", "--store", "python:nothing:Memory", "--folder", "result", "-q")
    (tmp_path / "nothing.py").write_text(NOTHING)
    assert recallbench(*words, cwd=tmp_path).returncode in (0, 1)
    shutil.move(tmp_path / "team", tmp_path / "gone")
    done = recallbench("report", "result", "--with-text", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == "result: no texts, since it has none and the file that was measured is not here\n"


def test_the_measures_stand_above_the_questions_that_failed(folder: Path, tmp_path: Path) -> None:
    page = page_of(folder, tmp_path / "page.html", "bm25")
    headings = re.findall("<h2>(.*?)</h2>", page)
    assert headings.index("All measures") < headings.index("Questions without a relevant hit among the first 10")
    assert headings[-3:] == [
        "Questions without a relevant hit among the first 10",
        "What was measured",
        "Under the protocol",
    ]


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
