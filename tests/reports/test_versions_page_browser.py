"""The page in a real browser: its colours by day and by night, and no request."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from recallbench.reports.versions_page import render
from reports.test_versions_page import TWO

pytestmark = pytest.mark.marked

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
DAY = {"ground": (255, 255, 255), "ink": (29, 29, 31), "line": (11, 87, 164), "band": (185, 214, 242)}
NIGHT = {"ground": (23, 24, 26), "ink": (232, 232, 234), "line": (125, 184, 245), "band": (39, 72, 107)}


def browser(*options: str, page: Path) -> subprocess.CompletedProcess[str]:
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"no browser is here: none of {', '.join(NAMES)} is on the PATH")
    profile = f"--user-data-dir={page.parent / 'profile'}"
    quiet = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", profile)
    done = subprocess.run(
        [program, *quiet, *options, page.as_uri()], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "versions.html"
    path.write_text(render(TWO, {"0.1": "../0.1_20261118"}), encoding="utf-8")
    return path


@pytest.mark.parametrize(("scheme", "colours"), [("1", DAY), ("0", NIGHT)], ids=["day", "night"])
def test_the_page_has_its_colours_by_day_and_by_night(
    page: Path, scheme: str, colours: dict[str, tuple[int, int, int]]
) -> None:
    shot = page.with_suffix(".png")
    browser(
        f"--blink-settings=preferredColorScheme={scheme}",
        "--window-size=1000,1400",
        f"--screenshot={shot}",
        page=page,
    )
    painted = Counter(Image.open(shot).convert("RGB").get_flattened_data())
    assert painted.most_common(1)[0][0] == colours["ground"]
    assert painted[colours["band"]] > 1000
    assert painted[colours["line"]] > 50
    assert painted[colours["ink"]] > 500
    # No colour of the other scheme.
    other = NIGHT if colours is DAY else DAY
    assert painted[other["band"]] == 0
    assert painted[other["ground"]] < 200


def test_the_page_sends_no_request_and_breaks_no_policy(page: Path) -> None:
    log = page.with_suffix(".netlog")
    done = browser(f"--log-net-log={log}", "--dump-dom", page=page)
    assert "bounds repeats of that one version" in done.stdout
    assert "it &lt;broke&gt;" in done.stdout
    # The console would report what the policy of the page forbids.
    assert "CONSOLE" not in done.stderr
    netlog = json.loads(log.read_text())
    addresses = {
        event["params"]["url"]
        for event in netlog["events"]
        if isinstance(event.get("params"), dict) and "url" in event["params"]
    }
    # The browser's own requests (updates, safe browsing) are not the page's, and do not name it.
    assert not [url for url in addresses if "w3.org" in url or "report.md" in url]
