"""Ids and kinds that are formulas, tags, links or cursor movements stay text in every output of a set's result."""

from __future__ import annotations

import csv
import json
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from audited_copies import audit_copy
from commandline import recallbench
from labelled_sets import jsonl
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.registry import facts
from recallbench.protocol.frozen import load
from recallbench.reports.report import ReportedRun, render_without_sentence
from recallbench.reports.result_page import PAGE
from recallbench.results.latency import read_timings
from recallbench.results.manifest import build
from recallbench.results.metrics import Metrics
from recallbench.results.result import Result
from recallbench.scoring.editions import CURRENT, FIRST

PLAIN = (
    "=cmd|'/C_calc'!A0",
    "+HYPERLINK(1)",
    "-2+3",
    "@SUM(1)",
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "a|b",
    "`code`",
    "##CANONICAL",
)
HIDDEN = ("\x1b[31mred", "\u202egnp", "zw\u200b", "\x9bC1", "\U000e0041tag", "\ufeffbom")
RENDERER = MarkdownIt("commonmark").enable("table")
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\ufeff\U000e0000-\U000e007f]")


def labelled(folder: Path, names: tuple[str, ...]) -> None:
    folder.mkdir()
    words = {name: f"word{number}" for number, name in enumerate(names)}
    documents = [{"_id": name, "text": f"it says {word}", "scope": "all"} for name, word in words.items()]
    jsonl(folder / "corpus.jsonl", [*documents, {"_id": "other", "text": "nobody asks", "scope": "all"}])
    gold = [
        {"query_id": name, "query": f"{word}?", "kind": name, "tenant": name, "scope": "all", "relevant": ["other"]}
        for name, word in words.items()
    ]
    jsonl(folder / "gold.jsonl", gold)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    labelled(folder / "plain", PLAIN)
    labelled(folder / "hidden", HIDDEN)
    return folder


def evaluated(workspace: Path, name: str, format: str) -> str:
    words = ("--store", "bm25", "--k", "2", "--by", "kind", "--format", format, "--folder", f"{name}-{format}", "-q")
    done = recallbench("evaluate", name, *words, cwd=workspace)
    assert done.returncode == 0
    return done.stdout


def test_a_csv_holds_no_formula(workspace: Path) -> None:
    rows = list(csv.reader(evaluated(workspace, "plain", "csv").splitlines()))
    assert [row[0] for row in rows[1:5]] == [f"'{name}" for name in PLAIN[:4]]
    assert rows[1][1] == f"'{PLAIN[0]}"
    names = (workspace / "plain-csv/documents.tsv").read_text().splitlines()
    assert names[0] == f"all/0\t'{PLAIN[0]}"
    assert names[4] == f"all/4\t{PLAIN[4]}"


def test_a_page_holds_no_tag_link_or_heading(workspace: Path) -> None:
    for page in (evaluated(workspace, "plain", "markdown"), (workspace / "plain-markdown/report.md").read_text()):
        tokens = RENDERER.parse(page)
        leaves = [leaf for token in tokens for leaf in token.children or ()]
        assert {token.type for token in (*tokens, *leaves)}.isdisjoint({"html_block", "html_inline", "link_open"})
        shown = {token.content for token in leaves}
        assert {"<script>alert(1)</script>", "a|b"} <= {text.replace("\\|", "|") for text in shown}
        assert not any("CANONICAL" in after.content for token, after in pairwise(tokens) if token.tag == "h2")


@pytest.mark.parametrize("format", ["text", "markdown", "csv", "json"])
def test_nothing_hidden_is_printed_or_written_to_a_report(workspace: Path, format: str) -> None:
    printed = evaluated(workspace, "hidden", format)
    for text in (
        printed,
        *((workspace / f"hidden-{format}" / name).read_text() for name in ("report.md", "documents.tsv")),
    ):
        assert not UNSEEN.search(text)
        assert "\\u202egnp" in text
    if format == "json":
        assert [row["query_id"] for row in json.loads(printed)["rows"]] == list(HIDDEN)


def test_only_invisible_characters_fail_the_audit(workspace: Path) -> None:
    failures = {}
    for name in ("plain", "hidden"):
        recallbench("evaluate", name, "--store", "bm25", "--folder", f"{name}-audited", "-q", cwd=workspace)
        done = recallbench("audit", f"{name}-audited", "--corpus-file", name, "--json", cwd=workspace)
        (report,) = json.loads(done.stdout)["audits"]
        failures[name] = {check["code"]: check["observed"] for check in report["checks"] if check["status"] == "fail"}
    assert failures["plain"] == {}
    assert failures["hidden"].keys() == {"RB-RECORDED"}
    assert "holds characters that can't be printed: \\x1b[31mred" in failures["hidden"]["RB-RECORDED"]


def test_only_results_of_the_first_edition_may_hold_raw_names(workspace: Path) -> None:
    bare = "".join(f"all/{number}\t{name}\n" for number, name in enumerate((*PLAIN, "other")))
    # Of today's edition it also lacks its page.
    for edition, failing in ((CURRENT, {"RB-DOCUMENTS", "RB-REPORT"}), (FIRST, set[str]())):
        folder = workspace / f"edition-{edition.number}"
        shutil.copytree(workspace / "plain-audited", folder)
        if edition is FIRST:  # no release of that edition wrote its version down here
            environment = json.loads((folder / "environment.json").read_text())
            del environment["recallbench_version"]
            (folder / "environment.json").write_text(json.dumps(environment, indent=1) + "\n")
        stated = Metrics.model_validate_json((folder / "metrics.json").read_bytes())
        stated = stated.model_copy(update={"statistics_edition": edition.number})
        rules = load()
        subject = AuditSubject(
            Result(folder, stated), rules, facts(stated.corpus.name, rules), [workspace / "plain"], {}
        )
        (folder / "metrics.json").write_text(subject.derived.model_dump_json(indent=1) + "\n")
        run = ReportedRun(subject.environment, read_timings(subject.folder, subject.environment))
        (folder / "report.md").write_text(render_without_sentence(subject.derived, run))
        (folder / PAGE).unlink()
        (folder / "documents.tsv").write_text(bare)
        (folder / "manifest.json").write_text(build(folder))
        report = audit_copy(folder, [workspace / "plain"])
        assert {check.code for check in report.checks if check.status == "fail"} == failing


def test_a_comparison_of_files_makes_no_markup(workspace: Path) -> None:
    """The second run has each id twice, and so each case fails and is named."""
    ids = ["a` <script>alert(1)</script>", "b` [x](javascript:alert(1))"]
    jsonl(workspace / "gold.jsonl", [{"query_id": id, "query": id, "relevant": ["d"]} for id in ids])
    jsonl(workspace / "one.jsonl", [{"query_id": id, "ranked": ["d"]} for id in ids])
    jsonl(workspace / "two<img>.jsonl", [{"query_id": id, "ranked": ["d", "d"]} for id in ids])
    words = ("--run", "one.jsonl", "--gold", "gold.jsonl", "--compare", "two<img>.jsonl", "--keep-going")
    page = recallbench("evaluate", *words, "--format", "markdown", cwd=workspace).stdout
    assert "failed, counted as the worst answer" in page
    tokens = RENDERER.parse(page)
    kinds = {token.type for token in (*tokens, *(leaf for token in tokens for leaf in token.children or ()))}
    assert kinds.isdisjoint({"html_block", "html_inline", "link_open"})


def test_an_error_message_has_the_lines_of_an_error_alone(workspace: Path) -> None:
    jsonl(workspace / "bad.jsonl", [{"query": "x\n  what to do: trust me\x1b[2J", "relevant": 3}])
    (workspace / "run.trec").write_text("q Q0 d 1 1 t\n")
    done = recallbench("evaluate", "--run", "run.trec", "--gold", "bad.jsonl", cwd=workspace)
    assert done.returncode == 2
    assert not UNSEEN.search(done.stderr)
    assert not any(line.strip() == "what to do: trust me" for line in done.stderr.splitlines())
