"""`recallbench site`: a static site over many folders, and what may stand on it."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

import pytest
from published_rankings import publish

from commandline import recallbench
from recallbench.escaping.web import html
from recallbench.results import manifest

SVG = "{http://www.w3.org/2000/svg}"
NOTES = """
__version__ = "{version}"


class Notes:
    def __init__(self):
        self.ids = []

    def add(self, id, text):
        self.ids.append(id)

    def search(self, query, k):
        return self.ids[{start}:][:k]
"""
SWEEP = """
[run]
corpus = "canary-locomo"
store = "exact"
embedder = "hash"
out = "studies"
[parameters]
k = [5, 10]
"""


class Targets(HTMLParser):
    """Where the links of a page lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("href", "src")]


@pytest.fixture(scope="module")
def place(results_to_compare: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five results, one of them other questions, and two versions of a memory of one's own."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("bm25", "exact", "few", "other"):
        shutil.copytree(results_to_compare / name, folder / "results" / name)
    for version, start in (("1.0", 2), ("1.1", 0)):
        (folder / "notes.py").write_text(NOTES.format(version=version, start=start))
        # Of a file that was written in the same second and is as long, Python takes what it compiled before.
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
        words = ("run", "canary-locomo", "--store", "python:notes:Notes", "--quiet", "--folder")
        assert recallbench(*words, f"results/notes-{version}", cwd=folder).returncode == 0
    return folder


@pytest.fixture
def copied(place: Path, tmp_path: Path) -> Path:
    """A copy to change things in."""
    shutil.copytree(place / "results", tmp_path / "results")
    return tmp_path


@pytest.fixture(scope="module")
def made(place: Path) -> Path:
    assert recallbench("site", "results", "--folder", "made", "-q", cwd=place).returncode == 0
    return place / "made"


def forged(folder: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    """Change what a result states, and make its manifest anew, so that only working it out again shows it."""
    metrics = json.loads((folder / "metrics.json").read_text())
    edit(metrics)
    (folder / "metrics.json").write_text(json.dumps(metrics, indent=1))
    (folder / "manifest.json").write_text(manifest.build(folder))


def raised(metrics: dict[str, Any]) -> None:
    for estimate in metrics["estimates"]["overall"]:
        if estimate["measure"] == "recall_any@10":
            estimate["value"] += 0.1


def sheet(site: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((site / "board.csv").read_text("utf-8"))))


def test_what_is_comparable_shares_a_group_and_the_others_say_why_not(place: Path, made: Path) -> None:
    page = (made / "index.html").read_text("utf-8")
    assert '<h2 id="group-1">1. canary-locomo, 158 questions: 4 entries</h2>' in page
    assert "2. canary-locomo, 20 questions: 1 entry" in page
    assert "3. canary-longmemeval, 47 questions: 1 entry" in page
    assert "<p>Apart from group 1: limit: none against 20.</p>" in page
    assert re.search(r"<p>Apart from group 1: dataset: canary-locomo \w{12} against canary-longmemeval \w{12}\.", page)
    rows = sheet(made)
    assert [row["result"] for row in rows] == ["bm25", "exact", "notes-1.1", "notes-1.0", "few", "other"]
    assert {row["status"] for row in rows} == {"audited"}


def test_each_cell_has_its_interval_and_each_row_its_command_and_folder(place: Path, made: Path) -> None:
    stated = json.loads((place / "results/bm25/metrics.json").read_text())
    of = {each["measure"]: each for each in stated["estimates"]["overall"]}
    row = sheet(made)[0]
    for measure in ("recall_any@10", "mrr@50", "recall_all@10", "ndcg@10"):
        for column, field in ((measure, "value"), (f"{measure} low", "low"), (f"{measure} high", "high")):
            assert float(row[column]) == pytest.approx(of[measure][field], abs=1e-9)
    page = (made / "index.html").read_text("utf-8")
    low, high = (f"{of['recall_any@10'][end]:.4f}" for end in ("low", "high"))
    assert f"<td>{of['recall_any@10']['value']:.4f} ({low} to {high})</td>" in page
    assert row["command"] == "recallbench run canary-locomo --store bm25 --folder bm25 --quiet"
    assert f"<td>{row['command']}</td>" in page
    assert row["folder"] == "../results/bm25"
    assert row["store"] == "bm25"
    assert row["date"] == json.loads((place / "results/bm25/environment.json").read_text())["started"][:10]


def test_every_link_leads_somewhere_and_no_page_knows_the_machine(place: Path, made: Path) -> None:
    pages = sorted(made.glob("*.html"))
    assert [page.name for page in pages] == ["history-1.html", "index.html"]
    for page in pages:
        text = page.read_text("utf-8")
        targets = [target for target in Targets(text).found if not target.startswith("#")]
        assert all((made / target).exists() for target in targets)
        assert "default-src 'none'" in text
    index = (made / "index.html").read_text("utf-8")
    assert {"../results/bm25/report.html", "../results/bm25", "history-1.html"} <= set(Targets(index).found)
    assert not any(str(place) in file.read_text("utf-8") for file in made.iterdir())


def test_a_forged_figure_keeps_a_folder_out_and_the_page_says_which_check_saw_it(copied: Path) -> None:
    forged(copied / "results/exact", raised)
    done = recallbench("site", "results", "--folder", "made", "-q", cwd=copied)
    assert done.returncode == 0
    assert "kept out: exact: RB-VALUES fails: estimates.overall.recall_any@10.value: 0.78354" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last == (
        "5 results with an audit that holds in 3 groups of what is comparable; 1 kept out, each with the reason; "
        "next: open made/index.html; recallbench audit results/exact tells more"
    )
    rows = {row["result"]: row for row in sheet(copied / "made")}
    assert (rows["exact"]["status"], rows["exact"]["recall_any@10"]) == ("apart", "")
    assert "RB-VALUES" in rows["exact"]["remarks"]
    page = (copied / "made/index.html").read_text("utf-8")
    assert "0.7835 (" not in page
    assert page.index("<h2>Kept out</h2>") < page.index("RB-VALUES fails")


def test_rankings_in_another_order_keep_a_folder_out(copied: Path) -> None:
    file = copied / "results/exact/raw_retrievals.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    first, second = rows[0]["hits"][:2]
    first["id"], second["id"] = second["id"], first["id"]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (file.parent / "manifest.json").write_text(manifest.build(file.parent))
    done = recallbench("site", "results/exact", "results/bm25", "--folder", "made", "-q", cwd=copied)
    assert re.search("kept out: exact: RB-[A-Z-]+ fails", done.stdout)


def test_a_blocked_folder_is_kept_out(copied: Path) -> None:
    (copied / "results/blocked").mkdir()
    (copied / "results/blocked/BLOCKED.md").write_text("# BLOCKED")
    done = recallbench("site", "results", "--folder", "made", "-q", cwd=copied)
    assert "kept out: blocked: BLOCKED.md: the run could not be made" in done.stdout


def test_a_dataset_that_is_not_here_keeps_a_result_out_until_it_is_named(copied: Path) -> None:
    talk = {"speaker_a": "Ada", "speaker_b": "Ben", "session_1_date_time": "1:00 pm on 1 May, 2023"}
    talk["session_1"] = [{"speaker": "Ada", "dia_id": "D1:1", "text": "The ferry leaves at nine."}]
    asked = [{"question": "When does it leave?", "answer": "nine", "evidence": ["D1:1"], "category": 1}]
    (copied / "chats.json").write_text(json.dumps([{"sample_id": "c", "conversation": talk, "qa": asked}]))
    words = ("run", "--corpus-shape", "locomo", "--corpus-file", "chats.json", "--name", "chats", "--store", "bm25")
    assert recallbench(*words, "--folder", "chats", "--quiet", cwd=copied).returncode == 0
    without = recallbench("site", "chats", "--folder", "without", "-q", cwd=copied)
    assert (without.returncode, "can't tell" in without.stdout) == (1, True)
    assert "Nothing was admitted, and the page says why; next: open without/index.html" in without.stdout
    assert "0 results with an audit that holds; 1 kept out" in (copied / "without/index.html").read_text("utf-8")
    named = recallbench("site", "chats", "--folder", "named", "--corpus-file", "chats.json", "-q", cwd=copied)
    assert named.returncode == 0
    for more in ((), ("--fresh",)):  # the audit that is kept now is none of a site without the dataset
        again = recallbench("site", "chats", "--folder", "again", *more, "-q", cwd=copied)
        assert (again.returncode, again.stdout.replace("again/", "without/")) == (1, without.stdout)


def test_only_verified_admits_what_git_holds(copied: Path) -> None:
    done = recallbench("site", "results/bm25", "--folder", "made", "--verified", "-q", cwd=copied)
    assert done.returncode == 1
    assert "kept out: bm25: RB-COMMITTED is pending" in done.stdout
    without = recallbench("site", "results/bm25", "--folder", "other", "-q", cwd=copied)
    assert without.returncode == 0
    assert sheet(copied / "other")[0]["audit"] == "UNVERIFIED (pending: committed)"


def test_rankings_of_others_are_judged_again_and_marked(copied: Path) -> None:
    publish(copied / "results/bm25", copied / "published")
    shutil.copy(copied / "results/exact/run.trec", copied / "theirs.trec")
    done = recallbench("site", "results", "published", "theirs.trec", "--folder", "made", "-q", cwd=copied)
    assert "2 rankings of others, re-scored" in done.stdout
    rows = {row["result"]: row for row in sheet(copied / "made")}
    for theirs, ours in (("published", "bm25"), ("theirs.trec", "exact")):
        assert (rows[theirs]["status"], rows[theirs]["audit"], rows[theirs]["group"]) == ("re-scored", "re-scored", "1")
        assert rows[theirs]["recall_any@10"] == rows[ours]["recall_any@10"]
        assert "nothing vouches for their origin" in rows[theirs]["remarks"]
        assert (rows[theirs]["command"], rows[theirs]["front"]) == ("", "")
    page = (copied / "made/index.html").read_text("utf-8")
    assert "<h3>Group 1: re-scored</h3>" in page
    alone = recallbench("site", "published", "--folder", "alone", "-q", cwd=copied)
    assert alone.returncode == 0
    assert sheet(copied / "alone")[0]["recall_any@10"] == rows["bm25"]["recall_any@10"]
    lost = recallbench("site", "theirs.trec", "--folder", "lost", "-q", cwd=copied)
    assert (lost.returncode, "nothing to judge it by" in lost.stdout) == (1, True)


def test_a_history_has_each_measure_over_versions_and_compares_neighbours(made: Path) -> None:
    page = (made / "history-1.html").read_text("utf-8")
    assert "<h1>canary-locomo: versions of python:notes:Notes with no embedder</h1>" in page
    words = [text.text for text in ET.parse(made / "history-1.svg").iter(f"{SVG}text")]
    assert {"1.0", "1.1", "recall_any@10", "(recall@10)", "ndcg@10"} <= set(words)
    assert "1.0 – 1.1" in page
    assert '<a href="../results/notes-1.0/report.html">1.0</a>' in page
    assert "The protocol has no band for canary-locomo." in page
    index = (made / "index.html").read_text("utf-8")
    assert "Systems with several results" in index


def test_the_picture_has_front_intervals_and_gates(place: Path, tmp_path: Path) -> None:
    gates = ("--gate", "recall_any@10 >= 0.8", "--gate", "p95 < 1000ms")
    done = recallbench("site", place / "results", "--folder", tmp_path / "gated", *gates, "-q", cwd=tmp_path)
    assert done.returncode == 0
    words = [text.text for text in ET.parse(tmp_path / "gated/picture-1.svg").iter(f"{SVG}text")]
    assert {"Pareto front", "a result", "95% interval of each value", "p95 of a single warm query, ms"} <= set(words)
    assert {"gate: recall_any@10 >= 0.8", "gate: p95 < 1000ms", "USD for 1,000 questions"} <= set(words)
    rows = {row["result"]: row for row in sheet(tmp_path / "gated")}
    assert rows["exact"]["remarks"] == "does not keep recall_any@10 >= 0.8"
    assert rows["bm25"]["remarks"] == ""
    assert rows["bm25"]["front"].startswith("p95 (")  # it finds most of all


def test_the_same_folders_in_any_order_are_the_same_bytes(place: Path, made: Path) -> None:
    names = ("other", "notes-1.1", "few", "bm25", "notes-1.0", "exact")
    folders = [f"results/{name}" for name in names]
    assert recallbench("site", *folders, "--folder", "again", "--fresh", "-q", cwd=place).returncode == 0
    first, second = ({file.name: file.read_bytes() for file in site.iterdir()} for site in (made, place / "again"))
    assert first == second


def test_sweeps_and_latency_studies_get_pages_and_a_changed_one_is_kept_out(tmp_path: Path) -> None:
    (tmp_path / "tune.toml").write_text(SWEEP)
    assert recallbench("sweep", "tune.toml", "-q", cwd=tmp_path).returncode == 0
    words = ("latency", "canary-locomo", "--store", "bm25", "--seconds", "0.05", "--clients", "1", "--rates", "100")
    assert recallbench(*words, "--out", "studies", "-q", cwd=tmp_path).returncode == 0
    done = recallbench("site", "studies", "--folder", "made", "-q", cwd=tmp_path)
    assert done.returncode == 0
    assert "0 results with an audit that holds, 2 studies; nothing was kept out; " in done.stdout
    pages = {page.name: page.read_text("utf-8") for page in (tmp_path / "made").glob("study-*.html")}
    assert "<h1>Latency of bm25 on canary-locomo</h1>" in pages["study-1.html"]
    assert "<h1>Sweep tune on canary-locomo: 2 points</h1>" in pages["study-2.html"]
    assert all(page.count('<nav><a href="index.html">Board of results</a></nav>') == 1 for page in pages.values())
    drawn = (tmp_path / "made/study-2.svg").read_text()
    assert "Pareto front" in drawn
    index = (tmp_path / "made/index.html").read_text("utf-8")
    assert "recallbench sweep tune.toml -q" in index
    assert "<figcaption>Sweep tune on canary-locomo: 2 points (study-2.html)</figcaption>" in index
    file = next((tmp_path / "studies").glob("sweep_*")) / "sweep.json"
    file.write_text(file.read_text().replace('"tuning": 0.', '"tuning": 1.', 1))
    changed = recallbench("site", "studies", "--folder", "made", "-q", cwd=tmp_path)
    assert f"kept out: {file.parent.name}: {file.parent.name} was changed" in changed.stdout.replace("studies/", "")
    assert not (tmp_path / "made/study-2.html").exists()


def test_a_site_with_copies_can_be_moved_by_itself(place: Path, tmp_path: Path) -> None:
    done = recallbench("site", place / "results", "--folder", tmp_path / "moved", "--copy", "-q", cwd=place)
    assert done.returncode == 0
    pages = {page.name: page.read_text("utf-8") for page in (tmp_path / "moved").glob("*.html")}
    assert len([name for name in pages if name.startswith("result-")]) == 6
    targets = {target for text in pages.values() for target in Targets(text).found if not target.startswith("#")}
    assert targets <= {file.name for file in (tmp_path / "moved").iterdir()}
    assert "<h1>canary-locomo: bm25</h1>" in pages["result-1.html"]
    assert [name for name, text in pages.items() if "index.html" not in Targets(text).found] == ["index.html"]
    assert {row["folder"] for row in sheet(tmp_path / "moved")} == {""}


def test_folders_that_share_only_the_root_with_the_site_are_not_linked_and_it_says_so(copied: Path) -> None:
    apart = next(place for place in ("/var/tmp", "/tmp") if Path(place).parts[1] != copied.parts[1])
    with TemporaryDirectory(dir=apart) as elsewhere:
        done = recallbench("site", "results/bm25", "--folder", Path(elsewhere, "made"), "-q", cwd=copied)
        assert "1 folder is not linked: the site shares nothing with them but the root." in done.stdout
        page = Path(elsewhere, "made/index.html").read_text("utf-8")
        assert Targets(page).found == []
        assert sheet(Path(elsewhere, "made"))[0]["folder"] == ""


def test_an_earlier_site_is_replaced_and_nothing_else_is(copied: Path) -> None:
    words = ("site", "results/bm25", "--folder", "made", "-q")
    assert recallbench(*words, "--copy", cwd=copied).returncode == 0
    assert (copied / "made/result-1.html").exists()
    assert recallbench(*words, cwd=copied).returncode == 0
    assert not (copied / "made/result-1.html").exists()
    (copied / "made/mine.txt").write_text("keep me")
    done = recallbench(*words, cwd=copied)
    assert (done.returncode, "files that are no part of a site: mine.txt" in done.stderr) == (2, True)
    assert (copied / "made/mine.txt").read_text() == "keep me"
    other = recallbench("site", "results/bm25", "--folder", "results", "-q", cwd=copied)
    assert (other.returncode, "exists already, and is no site" in other.stderr) == (2, True)
    assert not [path for path in copied.iterdir() if path.name.startswith(".recallbench-")]


def test_a_site_is_no_result_of_a_later_one(copied: Path) -> None:
    for _ in range(2):
        done = recallbench("site", "results", "--folder", "results/site", "-q", cwd=copied)
        assert done.stdout.splitlines()[-1].startswith("6 results with an audit that holds")


def test_what_is_no_folder_of_results_is_refused(copied: Path) -> None:
    (copied / "empty").mkdir()
    for words, said in (
        (("empty",), "there is nothing to show in empty"),
        (("missing",), "there is no folder missing"),
        (("results", "--measures", ""), "--measures names none"),
        (("results", "--gate", "mrr@10 >= 0.5"), "mrr@10 is not among the measures of the board"),
        (("results", "--gate", "p99 < 5ms"), "p99 is in no column of the board"),
        (("results", "--gate", "recall_any@10 >= baseline"), "a board has no baseline"),
        (("results", "--corpus-file", "none.json"), "there is no none.json"),
    ):
        done = recallbench("site", *words, "--folder", "made", "-q", cwd=copied)
        assert (done.returncode, said in done.stderr) == (2, True)
    assert not (copied / "made").exists()


def test_an_audit_of_the_same_bytes_is_made_once_by_whichever_command(copied: Path) -> None:
    words = ("site", "results/bm25", "results/exact", "--folder", "made")
    recallbench("audit", "results/bm25", cwd=copied)
    recallbench("audit", "results/exact", "--no-rerun-control", cwd=copied)  # less than a site asks for
    assert "1 of 2 audits had been made of the same bytes before, by you" in recallbench(*words, cwd=copied).stderr
    again = recallbench(*words, cwd=copied)
    assert "2 of 2 audits had been made of the same bytes before, by you" in again.stderr
    assert "audits had been made" not in recallbench(*words, "--fresh", cwd=copied).stderr
    forged(copied / "results/exact", raised)
    done = recallbench(*words, cwd=copied)
    assert "1 of 2 audits had been made" in done.stderr
    assert "kept out: exact: RB-VALUES fails" in done.stdout


def test_what_no_audit_can_work_out_again_is_marked_and_told(place: Path, made: Path) -> None:
    page = (made / "index.html").read_text("utf-8")
    for column in ("p95 ms", "build s", "USD/1000", "version", "command that made it"):
        assert f'<th scope="col">{column} (recorded)</th>' in page
    audited = recallbench("audit", "results/bm25", cwd=place).stdout
    (told,) = re.findall(r"recorded, not re-derived: (.*)", audited)
    assert html(f"Recorded, not re-derived: {told}. So p95, build time, cost, version and command") in page
    assert "with times and costs as measured" in page


def test_anybody_s_words_stay_words(copied: Path) -> None:
    hostile = "exact<script>alert(1)</script>"
    (copied / "results/exact").rename(copied / "results" / hostile.replace("/", "_"))
    title = "<b>Ours</b> & theirs"
    done = recallbench("site", "results", "--folder", "made", "--title", title, "-q", cwd=copied)
    assert done.returncode == 0
    page = (copied / "made/index.html").read_text("utf-8")
    assert "<h1>&lt;b&gt;Ours&lt;/b&gt; &amp; theirs</h1>" in page
    assert "<script" not in page
    targets = [unquote(target) for target in Targets(page).found if not target.startswith("#")]
    assert "../results/exact<script>alert(1)<_script>/report.html" in targets
    assert all((copied / "made" / target).exists() for target in targets)


def test_json_says_the_same(place: Path, tmp_path: Path) -> None:
    words = ("site", "results", "--folder", tmp_path / "made", "--format", "json", "-q")
    told = json.loads(recallbench(*words, cwd=place).stdout)
    assert (told["admitted"], told["rescored"], told["histories"], told["kept_out"]) == (6, 0, 1, [])
    assert [len(group["results"]) for group in told["groups"]] == [4, 1, 1]
    assert told["groups"][1]["apart"] == "limit: none against 20"
