from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.citing.publication import CODE, published
from recallbench.protocol.history import NAME, DeviationRecord, deviations_named, entries
from stages import sampled

START = "# History\n\n## 2026-05-09: First\n\nSomething.\n\n- Deviation: store bm25 on canary-longmemeval\n"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for name, more in (("a", ()), ("b", ("--store", "exact", "--embedder", "hash")), ("few", ("--limit", "9"))):
        store = more if "--store" in more else ("--store", "bm25", *more)
        assert recallbench("run", "canary-longmemeval", *store, "--folder", name, "-q", cwd=folder).returncode == 0
    return folder


def add(folder: Path, *words: str | Path) -> tuple[int, str, str]:
    done = recallbench("history", "add", *words, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def test_an_entry_is_added_at_the_end(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(START)
    words = ("--kind", "methodology", "--title", "Another: title", "--date", "2026-05-11", "--text", "Because.")
    code, out, _ = add(tmp_path, *words, "--deviation", "embedder minilm on locomo", "--deviation", "limit")
    text = (tmp_path / NAME).read_text()
    assert code == 0
    assert text.startswith(START)
    assert out == text.removeprefix(START).lstrip() + (
        "\nHISTORY.md has 2 deviations on record from 2026-05-11 (limit: on every corpus); a VERIFIED result can be "
        "published with that, and never under the protocol's name; next: recallbench cite DIR --as-deviation\n"
    )
    first, second = entries(text)
    assert first == entries(START)[0]
    assert (str(second.dated), second.title) == ("2026-05-11", "Another: title")
    assert second.body == "A change of the methodology: of how results are made or counted.\n\nBecause."
    assert second.records == (DeviationRecord("embedder minilm", "locomo"), DeviationRecord("limit", ""))


def test_a_new_file_begins_with_its_title(tmp_path: Path) -> None:
    assert add(tmp_path, "--kind", "source", "--title", "T", "--text", "x")[0] == 0
    assert (tmp_path / NAME).read_text().startswith("# History\n\n## 20")
    (tmp_path / "sub").mkdir()
    assert add(tmp_path / "sub", "--kind", "source", "--title", "U", "--text", "x")[0] == 0
    assert len(entries((tmp_path / NAME).read_text())) == 2


def test_a_deviation_is_put_on_record_in_every_format(tmp_path: Path) -> None:
    def added(title: str, *more: str) -> str:
        words = ("--kind", "deviation", "--title", title, "--date", "2026-05-11", "--deviation", f"{title} on locomo")
        code, out, errors = add(tmp_path, *words, *more)
        assert code == 0, errors
        return out

    said = (
        "A departure from the frozen rules: results made so are cited as deviations, never under the protocol's name."
    )
    ending = (
        "HISTORY.md has {} on locomo on record from 2026-05-11; a VERIFIED result can be published with that, "
        "and never under the protocol's name; next: recallbench cite DIR --as-deviation"
    )
    written = "## 2026-05-11: {0}\n\n" + said + "\n\n- Deviation: {0} on locomo\n\n"
    assert added("limit") == written.format("limit") + ending.format("limit") + "\n"
    assert added("scope", "--format", "markdown") == written.format("scope") + f"**{ending.format('scope')}**\n"
    assert added("depth", "--format", "csv") == "deviation,corpus\ndepth,locomo\n"
    assert f"<strong>{ending.format('time').replace(chr(39), '&#x27;')}</strong>" in added("time", "--format", "html")
    document = json.loads(added("store bm25", "--json"))
    assert document.pop("conclusion")["text"] == ending.format("store bm25")
    assert document == {
        "file": "HISTORY.md",
        "kind": "deviation",
        "date": "2026-05-11",
        "title": "store bm25",
        "text": said,
        "deviations": [{"name": "store bm25", "corpus": "locomo", "text": "store bm25 on locomo"}],
    }
    assert deviations_named((tmp_path / NAME).read_text(), "locomo") == {
        "limit",
        "scope",
        "depth",
        "time",
        "store bm25",
    }
    assert deviations_named((tmp_path / NAME).read_text(), "longmemeval") == frozenset()


def test_a_change_ends_with_what_to_do_next(tmp_path: Path) -> None:
    words = ("--kind", "source", "--title", "T", "--text", "x", "--date", "2026-05-11")
    assert add(tmp_path, *words)[1].splitlines()[-1] == (
        "HISTORY.md has the entry of 2026-05-11, T; next: git add HISTORY.md"
    )


def test_the_impact_is_measured(results: Path, tmp_path: Path) -> None:
    file = tmp_path / NAME
    words = ("--kind", "source", "--title", "T", "--before", "a", "--after", "b", "--file", file)
    assert add(results, *words)[0] == 0
    (entry,) = entries(file.read_text())
    a, b = (json.loads((results / name / "metrics.json").read_text())["headline"] for name in ("a", "b"))
    for first, second in zip(a, b, strict=True):
        old, new = first["estimate"]["value"], second["estimate"]["value"]
        row = next(line for line in entry.body.splitlines() if line.startswith(f"| {first['protocol_name']} |"))
        name, difference = first["estimate"]["measure"], f"{new - old:+.4f}"
        start = f"| {first['protocol_name']} | `{name}` | {old:.4f} | {new:.4f} | {difference} | "
        assert row.startswith(start)
        assert re.fullmatch(r"[+-]0\.\d{4} to [+-]0\.\d{4} \|", row.removeprefix(start))
    assert len(re.findall(r"manifest sha256 [0-9a-f]{64}", entry.body)) == 2


def test_other_questions_are_not_compared(results: Path, tmp_path: Path) -> None:
    file = tmp_path / NAME
    words = ("--kind", "source", "--title", "T", "--before", "a", "--after", "few", "--file", file)
    assert add(results, *words)[0] == 0
    assert "47 questions before, 9 after: not the same ones" in file.read_text()
    assert re.search(r"\| recall@10 \|.*\| – \| – \|\n", file.read_text())


def test_an_invalid_entry_is_refused(results: Path, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(START)
    base = ("--kind", "source", "--title", "T")

    def refused(*words: str | Path) -> str:
        code, out, message = add(tmp_path, *words)
        assert (code, out) == (2, "")
        assert (tmp_path / NAME).read_text() == START
        return message

    assert "has an entry 'First' of 2026-05-09 already" in refused(
        "--kind", "source", "--title", "First", "--date", "2026-05-09", "--text", "x"
    )
    assert "is on record already" in refused(*base, "--deviation", "store bm25 on canary-longmemeval")
    assert "oldest first" in refused(*base, "--text", "x", "--date", "2026-05-08")
    assert "has not come yet" in refused(*base, "--text", "x", "--date", "2999-01-01")
    assert "is no date" in refused(*base, "--text", "x", "--date", "yesterday")
    assert "can't be read" in refused(*base, "--deviation", "embedder on locomo")
    assert "this entry says nothing" in refused(*base)
    assert "no deviation is named" in refused("--kind", "deviation", "--title", "T", "--text", "x")
    assert "needs its kind" in refused("--title", "T")
    assert "needs two results" in refused(*base, "--before", results / "a")
    assert "are the same" in refused(*base, "--before", results / "a", "--after", results / "a")
    assert "metrics.json" in refused(*base, "--before", tmp_path, "--after", tmp_path)
    # A file that can't be read stays as it is.
    (tmp_path / NAME).write_text("## someday: x\n")
    assert add(tmp_path, *base, "--text", "x")[0] == 2
    assert (tmp_path / NAME).read_text() == "## someday: x\n"


@pytest.mark.parametrize(
    ("title", "text"),
    sampled(
        [
            ("T\n## 2026-11-19: U", "x"),
            ("T", "## 2026-11-19: U"),
            ("T", "```\nx"),
            ("T", "~~~\nx"),
            ("T", "<!-- x"),
            ("T", "# A heading above all entries"),
            ("T", " ## 2026-11-19: U"),
            ("T", "2026-11-19: U\n---"),
            ("T", "* Deviation: limit"),
            ("T", "  - Deviation: limit"),
            ("T", "\x1b[2Jx"),
            ("T\x0bU", "x"),
            ("T", "- Deviation: limit"),
        ]
    ),
)
def test_an_entry_that_could_not_be_parsed_again_is_refused(tmp_path: Path, title: str, text: str) -> None:
    (tmp_path / NAME).write_text(START)
    code, out, message = add(tmp_path, "--kind", "source", "--title", title, "--text", text)
    assert (code, out) == (2, "")
    assert "would not be read back" in message
    assert (tmp_path / NAME).read_text() == START


@pytest.mark.parametrize(
    "hidden", ["<!--\n{}\n-->", "<!-- {} -->", "~~~\n{}\n~~~", "```\n~~~\n{}\n```", " ```\n{}\n ```"]
)
def test_a_hidden_line_is_no_record(hidden: str) -> None:
    line = "- Deviation: limit on locomo"
    text = START + "\n" + hidden.replace("{}", line) + "\n"
    assert deviations_named(text, "locomo") == frozenset()
    assert deviations_named(text + line + "\n", "locomo") == {"limit"}


def test_nothing_is_left_beside_the_file(results: Path, tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / NAME).write_text(START)
    (tmp_path / NAME).symlink_to(real / NAME)
    assert add(tmp_path, "--kind", "source", "--title", "T", "--text", "x")[0] == 0
    assert (tmp_path / NAME).is_symlink()
    assert len(entries((real / NAME).read_text())) == 2
    assert [path.name for path in real.iterdir()] == [NAME]


def test_publishing_asks_for_the_record(tmp_path: Path) -> None:
    run = ("store: bm25 instead of pgmnemo", "limit: only the first 9 questions were asked")
    folder = tmp_path / "results" / "r"
    folder.mkdir(parents=True)
    none = published(run, "canary-longmemeval", folder, tmp_path / "none")
    assert (none.status, none.code) == ("fail", CODE)
    (tmp_path / NAME).write_text(START)
    lacking = published(run, "canary-longmemeval", folder)
    assert lacking.status == "fail"
    assert "does not name `limit on canary-longmemeval`" in lacking.observed
    assert published(run[:1], "canary-longmemeval", folder).status == "pass"
    assert published(run[:1], "locomo", folder).status == "fail"
    assert published((), "locomo", folder).status == "pass"
    (tmp_path / NAME).write_text("## someday: x\n")
    assert "no date that can be read" in published(run, "canary-longmemeval", folder).observed
