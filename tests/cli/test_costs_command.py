"""`recallbench costs`: the ledgers of a pipeline that asks models, at one's own prices."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from chat_server import MODEL, chat_server
from commandline import recallbench

PIPELINE = """
[[stage]]
kind = "rewrite"
method = "hyde"
endpoint = "{address}"
model = "{model}"

[[stage]]
kind = "search"
method = "lexical"

[[stage]]
kind = "generate"
method = "chat"
endpoint = "{address}"
model = "{model}"
top = 3

[[stage]]
kind = "judge"
method = "llm"
endpoint = "{address}"
model = "gpt-4o-mini"
faithfulness = "false"
"""
PRICES = f"""
date = "2026-11-01"
currency = "EUR"
processor_hour = 0.0
answering = "{MODEL}"
[models."{MODEL}"]
fresh = 1.0
output = 10.0
"""
GOLDEN = Path(__file__).parents[1] / "golden/results/canary_bm25"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two results of one pipeline, the second from answers that were kept."""
    folder = tmp_path_factory.mktemp("costs")
    with chat_server() as server:
        server.says = lambda asked: "VERDICT: YES" if "VERDICT" in asked else "an olive focaccia"
        (folder / "p.toml").write_text(PIPELINE.format(address=server.address, model=MODEL))
        (folder / "prices.toml").write_text(PRICES)
        run = ("run", "canary-locomo", "--pipeline", "p.toml", "--limit", "8", "--cache-dir", "cache", "-q")
        for name in ("first", "again"):
            assert recallbench(*run, "--folder", name, cwd=folder).returncode == 0
    return folder


def told(folder: Path, *words: str) -> dict[str, Any]:
    done = recallbench("costs", *words, "--format", "json", cwd=folder)
    assert done.returncode == 0
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_tokens_are_told_by_ledger_and_money_follows_from_ones_own_prices(workspace: Path) -> None:
    document = told(workspace, "first", "--prices", "prices.toml")
    assert (document["date"], document["currency"], document["prices"]) == ("2026-11-01", "EUR", "prices.toml")
    tokens = {(line["ledger"], line["what"]): line["tokens"] for line in document["lines"] if line["tokens"]}
    # Each answer reads 10 tokens; those of hyde and of the answer have 3 words, a verdict has 2.
    of_three = {"fresh": 80, "cache_read": 0, "cache_write": 0, "output": 24}
    assert tokens == {
        ("query", "rewrite hyde"): of_three,
        ("generate", "generate chat"): of_three,
        ("measuring", "judge llm"): of_three | {"output": 16},
    }
    per = {unit["what"]: unit for unit in document["per"]}
    # 80 x 1 and 24 x 10 for a million, twice over 8 questions: rewriting and answering. What judges cost is apart.
    assert per["query"]["running"] == pytest.approx(2 * 320e-6 / 8)
    assert per["1,000 queries"]["running"] == pytest.approx(0.08)
    assert (per["answer that llm found right"]["count"], per["query"]["unpriced"]) == (8.0, [])
    assert per["answer that llm found right"]["running"] == pytest.approx(2 * 320e-6 / 8)
    found = per["gold segment found among the first 10"]
    assert found["running"] == pytest.approx(320e-6 / found["count"])
    assert document["context_tokens"] == 10.0
    assert document["estimates"]["by"] == "tokens of four characters each"
    assert document["estimates"]["context"] == 3


def test_what_was_kept_from_before_is_told(workspace: Path) -> None:
    rates = [told(workspace, name)["hit_rates"] for name in ("first", "again")]
    assert [[(rate["what"], rate["hits"], rate["of"]) for rate in each] for each in rates] == [
        [(f"answers of {stage}", kept, 8) for stage in ("rewrite hyde", "generate chat", "judge llm")]
        for kept in (0, 8)
    ]


def test_a_model_without_a_price_is_named_and_estimates_are_called_that(workspace: Path) -> None:
    done = recallbench("costs", "again", cwd=workspace)
    assert done.returncode == 0
    assert (
        "without a count or a price, and in no sum: generate chat, rewrite hyde; --prices FILE gives prices"
        in done.stdout
    )
    assert "at least 0.0" in done.stdout
    assert f"no break-even: {MODEL} has no price; --answering names another" in done.stdout
    done = recallbench("costs", "again", "--answering", "gpt-4o-mini", "--format", "markdown", cwd=workspace)
    assert ": from question 1 on a memory costs less than sending the whole history (" in done.stdout
    assert done.stdout.count("| query |") == 3
    sheet = recallbench("costs", "again", "--format", "csv", cwd=workspace).stdout.splitlines()
    assert sheet[0].startswith("ledger,what,model,unit,quantity,fresh,cache_read,cache_write,output,amount")
    assert f"query,rewrite hyde,{MODEL},tokens,104,80,0,0,24,,USD,2026-06-20" in sheet


def test_the_stage_table_has_the_tokens_of_each_stage_and_their_price(workspace: Path) -> None:
    words = ("stages", "first", "--prices", "prices.toml")
    rows = {
        row["stage"]: row
        for row in csv.DictReader(recallbench(*words, "--format", "csv", cwd=workspace).stdout.splitlines())
    }
    columns = ("tokens in", "tokens out", "EUR per 1,000 questions")
    # 320 millionths for 8 questions.
    assert [rows["hyde"][column] for column in columns] == ["80", "24", "0.04"]
    assert [rows["lexical"][column] for column in columns] == ["0", "0", ""]
    # All that is searched for is one text that has nothing to do with the questions.
    assert (rows["hyde"]["questions"], rows["hyde"]["compared with"]) == ("8", "pipeline without it")
    printed = recallbench(*words, cwd=workspace).stdout
    assert (
        "EUR per 1,000: an estimate of what these tokens cost for 1,000 questions; prices of 2026-11-01, prices.toml."
        in printed
    )
    assert "Without hyde the pipeline was run once more." in printed


def test_report_and_page_have_what_a_stage_adds_and_its_price_at_the_day_of_the_run(workspace: Path) -> None:
    report, page = ((workspace / "first" / name).read_text() for name in ("report.md", "report.html"))
    (head,) = [line for line in report.splitlines() if line.startswith("| stage | kind | questions")]
    assert head.endswith("| added p50 ms | added p95 ms | tokens in | tokens out | USD per 1,000 |")
    # 80 x 0.15 and 16 x 0.60 for a million, over 8 questions.
    (row,) = [line for line in report.splitlines() if line.startswith("| llm | judge |")]
    assert row.endswith("| 80 | 16 | 0.0027 |")
    assert "<span>USD per 1,000 0.0027</span>" in page
    for told in (
        "USD per 1,000: an estimate of what these tokens cost for 1,000 questions; prices of 2026-06-20, those that",
        f"no price of hyde: its model, {MODEL}, has no price among those of 2026-06-20, those that come along",
    ):
        assert told in report
        assert told in page
    assert recallbench("audit", "first", "again", cwd=workspace).stdout.count("  fail ") == 0
    environment = json.loads((workspace / "first/environment.json").read_text())
    assert list(environment["prices"]["models"]) == ["gpt-4o-mini"]
    environment["prices"]["models"]["gpt-4o-mini"]["output"] = 0.1
    forged = workspace / "forged"
    shutil.copytree(workspace / "first", forged)
    (forged / "environment.json").write_text(json.dumps(environment))
    assert (
        "prices: of gpt-4o-mini, other than those of 2026-06-20" in recallbench("audit", forged, cwd=workspace).stdout
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('date = "2026-11-01"\n[models.m]\nfresh = -1\n', "models.m.fresh: Input should be greater than or equal to 0"),
        ('date = "2026-11-01"\n[model.m]\nfresh = 1\n', "model: Extra inputs are not permitted"),
        ("currency = 'USD'\n", "date: Field required"),
        ("date = \n", "is no TOML"),
    ],
)
def test_a_file_of_prices_that_is_none_is_refused(workspace: Path, text: str, found: str) -> None:
    (workspace / "bad.toml").write_text(text)
    done = recallbench("costs", "first", "--prices", "bad.toml", cwd=workspace)
    assert done.returncode == 2
    assert found in done.stderr


def test_a_result_of_before_does_not_say_what_it_used(tmp_path: Path) -> None:
    done = recallbench("costs", str(GOLDEN), cwd=tmp_path)
    assert (done.returncode, "does not say what it used" in done.stderr) == (2, True)
