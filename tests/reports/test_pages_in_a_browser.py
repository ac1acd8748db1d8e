"""The pages in a real browser, by day, by night, on a phone and on paper: whole, quiet and without a request."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from commandline import recallbench
from recallbench.reports.versions_page import render
from reports.test_versions_page import TWO

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

pytestmark = pytest.mark.marked

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
LOOKS: dict[str, dict[str, Any]] = {
    "day": {"color_scheme": "light"},
    "night": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 400, "height": 850}, "is_mobile": True, "device_scale_factor": 2},
    "paper": {},
}
COLOURS = {
    "day": {"ground": (255, 255, 255), "ink": (29, 29, 31), "line": (11, 87, 164), "band": (185, 214, 242)},
    "night": {"ground": (23, 24, 26), "ink": (232, 232, 234), "line": (125, 184, 245), "band": (39, 72, 107)},
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"no browser is here: none of {', '.join(NAMES)} is on the PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind, as commands write them."""
    folder = tmp_path_factory.mktemp("pages")
    words = ("run", "canary-locomo", "--quiet", "--with-text")
    for store in (("exact", "--embedder", "hash"), ("bm25",)):
        assert recallbench(*words, "--store", *store, "--folder", store[0], cwd=folder).returncode == 0
    (folder / "pipeline.toml").write_text(
        "".join(
            f'[[stage]]\nkind = "{kind}"\nmethod = "{method}"\n'
            for kind, method in (("search", "dense"), ("search", "lexical"), ("fuse", "rrf"), ("diversify", "mmr"))
        )
    )
    piped = ("--embedder", "hash", "--pipeline", "pipeline.toml", "--folder", "pipeline")
    assert recallbench(*words, *piped, cwd=folder).returncode == 0
    # Of the failures' rows, each alike, axe looks at every one, in every look.
    few = ("--embedder", "hash", "--limit", "24", "--folder")
    for name, more in (("few", ("--store", "exact")), ("piped", ("--pipeline", "pipeline.toml"))):
        assert recallbench(*words, *few, name, *more, cwd=folder).returncode == 0
    (folder / "table.html").write_text(
        recallbench("table", "exact", "bm25", "--format", "html", cwd=folder).stdout, encoding="utf-8"
    )
    shutil.copytree(folder / "exact", folder / "exact-again")
    site = ("site", "exact", "exact-again", "bm25", "pipeline", "bm25/run.trec", "--gate", "p95 < 1000ms", "--copy")
    assert recallbench(*site, "--out", "site", "--quiet", cwd=folder).returncode == 0
    (folder / "versions.html").write_text(render(TWO, {"0.1": "../0.1_20261118/report.md"}), encoding="utf-8")
    return {
        "failures": folder / "exact/report.html",
        "result": folder / "few/report.html",
        "pipeline": folder / "piped/report.html",
        "table": folder / "table.html",
        "versions": folder / "versions.html",
        "site": folder / "site/index.html",
        "history": folder / "site/history-1.html",
    }


def opened(browser: Browser, path: Path, look: str) -> tuple[Page, list[str]]:
    """Open a file; the list takes what the console says and what is requested beside the file."""
    page = browser.new_context(**LOOKS[look], offline=True).new_page()
    noticed: list[str] = []

    def requested(request: Request) -> None:
        if request.url != path.as_uri():
            noticed.append(f"requested {request.url}")

    page.on("request", requested)
    page.on("console", lambda message: noticed.append(message.text))
    page.on("pageerror", lambda error: noticed.append(str(error)))
    page.goto(path.as_uri())
    if look == "paper":
        page.emulate_media(media="print")
    return page, noticed


def scrolls_sideways(page: Page) -> bool:
    # Not innerWidth: a phone widens it to what does not fit.
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", ["result", "pipeline", "table", "versions", "site", "history"])
def test_a_page_is_whole_in_every_look(browser: Browser, pages: dict[str, Path], name: str, look: str) -> None:
    page, noticed = opened(browser, pages[name], look)
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    assert [(found["id"], [node["html"][:80] for node in found["nodes"]]) for found in violations] == []
    assert noticed == []
    assert not scrolls_sideways(page)
    page.context.close()


def test_a_long_name_is_broken_on_a_phone_and_no_failure_needs_no_filter(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "memories_of_my_own.py").write_text(
        "class LastComesFirst:\n"
        "    def __init__(self): self.ids = []\n"
        "    def add(self, id, text): self.ids.insert(0, id)\n"
        "    def search(self, query, k): return self.ids[:k]\n"
    )
    (tmp_path / "team").mkdir()
    (tmp_path / "team/corpus.jsonl").write_text('{"_id": "d1", "text": "The ferry leaves at nine."}\n')
    (tmp_path / "team/gold.jsonl").write_text('{"query": "When does the ferry leave?", "relevant": ["d1"]}\n')
    store = ("--store", "python:memories_of_my_own:LastComesFirst")
    recallbench("evaluate", "team", *store, "--folder", "own", "--quiet", cwd=tmp_path)
    page, noticed = opened(browser, tmp_path / "own/report.html", "phone")
    assert noticed == []
    assert not scrolls_sideways(page)
    page.context.close()


def test_the_filter_shows_the_failures_of_a_kind_and_of_words(browser: Browser, pages: dict[str, Path]) -> None:
    page, noticed = opened(browser, pages["failures"], "day")
    rows, shown = page.locator("#failures tbody tr"), page.locator("#failures tbody tr:visible")
    count = rows.count()
    assert shown.count() == count > 10
    assert page.locator("#shown").inner_text() == f"{count} of {count}"

    kind = rows.first.get_attribute("data-kind")
    of_kind = page.locator(f'#failures tbody tr[data-kind="{kind}"]').count()
    page.select_option("#kind", kind)
    assert shown.count() == of_kind < count
    assert page.locator("#shown").inner_text() == f"{of_kind} of {count}"

    page.select_option("#kind", "")
    question = rows.first.locator("th").inner_text().splitlines()[0]
    page.fill("#words", question.upper())
    assert shown.locator("th").all_inner_texts()[0].startswith(question)
    page.fill("#words", "no text says this")
    assert (shown.count(), page.locator("#shown").inner_text()) == (0, f"0 of {count}")
    page.fill("#words", "")
    assert shown.count() == count

    page.locator("#failures details").first.click()
    assert page.locator("#failures details[open]").count() == 1
    assert noticed == []
    page.context.close()


@pytest.mark.parametrize("look", ["day", "night"])
def test_a_plot_has_its_colours_by_day_and_by_night(
    browser: Browser, pages: dict[str, Path], tmp_path: Path, look: str
) -> None:
    page, _ = opened(browser, pages["versions"], look)
    shot = tmp_path / "page.png"
    page.screenshot(path=shot, full_page=True)
    page.context.close()
    painted = Counter(Image.open(shot).convert("RGB").get_flattened_data())
    colours, other = COLOURS[look], COLOURS["night" if look == "day" else "day"]
    assert painted.most_common(1)[0][0] == colours["ground"]
    assert painted[colours["band"]] > 1000
    assert painted[colours["line"]] > 50
    assert painted[colours["ink"]] > 500
    # No colour of the other scheme.
    assert painted[other["band"]] == 0
    assert painted[other["ground"]] < 200


def test_a_site_leads_from_the_board_to_a_result_and_a_history_and_back(
    browser: Browser, pages: dict[str, Path]
) -> None:
    page, noticed = opened(browser, pages["site"], "day")
    assert page.locator("h2").first.inner_text() == "1. canary-locomo, 158 questions: 5 entries"
    page.locator('nav a[href="#history"]').click()
    assert page.locator("#history").is_visible()
    assert noticed == []
    page.locator('a[href="history-1.html"]').click()
    assert page.locator("h1").inner_text().startswith("canary-locomo: versions of exact")
    page.go_back()
    page.locator("table a", has_text="bm25").first.click()
    assert page.locator("h1").inner_text() == "canary-locomo: bm25"
    page.context.close()
