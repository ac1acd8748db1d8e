"""The page about the rankers of the graph: its set is as described, and its commands give its figures."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bolt import bolt_server
from commandline import recallbench
from recallbench.scoring.editions import CURRENT

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "benchmarks" / "RANKERS.md").read_text("utf-8")
SET = ROOT / "examples" / "rankers"
COMMANDS = {
    name: shlex.split(command)[1:] for command, name in re.findall(r"^(recallbench evaluate .*?) +# (.+)$", PAGE, re.M)
}
KINDS = ("plain", "latest", "important", "linked", "next")
MEANINGLESS = frozenset(
    re.findall(
        r"\w+",
        "a about an and any are at be by can could did do does for from get give go has have her him his how i in is it"
        " me much not of on one or our out she so that the their them there they this to until up us was we were what"
        " when where which who whoever whom why will with would you",
    )
)


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def table(title: str) -> dict[str, list[str]]:
    """The rows under a heading, by their first cell."""
    body = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [cells(row) for row in body.splitlines() if row.startswith("|")]
    return {first: rest for first, *rest in rows[2:]}


def test_the_page_names_the_methods_of_its_intervals() -> None:
    values = np.array([[1.0, 0.5], [0.0, 1.0], [1.0, 1.0]])
    first, third = (mean.method for mean in CURRENT.means(values, [True, False], None))
    assert first == "Wilson 95%"
    assert f"Wilson intervals, those of the third measure {third.removeprefix('Wilson 95% ')}." in PAGE


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def with_interval(estimate: dict[str, Any]) -> list[str]:
    interval = "–" if estimate["low"] is None else f"{estimate['low']:.4f} to {estimate['high']:.4f}"
    return [number(estimate["value"]), interval]


def overall_row(estimates: dict[str, Any]) -> list[str]:
    by_measure = {estimate["measure"]: estimate for estimate in estimates["overall"]}
    return [cell for name in ("recall_any@1", "recall_any@5", "mrr@50") for cell in with_interval(by_measure[name])]


def kinds_row(estimates: dict[str, Any], measure: str) -> list[str]:
    of_kinds = [next(estimate for estimate in estimates[kind] if estimate["measure"] == measure) for kind in KINDS]
    assert {estimate["n"] for estimate in of_kinds} == {12}
    if measure == "mrr@50":
        return [number(estimate["value"]) for estimate in of_kinds]
    return [f"{estimate['value']:.2f} ({estimate['low']:.2f} to {estimate['high']:.2f})" for estimate in of_kinds]


def abstention_row(abstention: dict[str, Any]) -> list[str]:
    around = abstention["auroc_interval"]
    return with_interval({"value": abstention["auroc"], "low": around["low"], "high": around["high"]})


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SET / name).read_text("utf-8").splitlines()]


def stems(text: str) -> set[str]:
    words = re.findall(r"[a-z0-9']+", text.lower())
    return {re.sub(r"(ing|ed|es|s|'s)$", "", word) for word in words if word not in MEANINGLESS}


def test_queries_of_each_kind_are_as_the_page_says() -> None:
    documents = {document["_id"]: document for document in read("corpus.jsonl")}
    order = list(documents)
    topics: dict[str, list[str]] = {}
    for id in documents:
        topics.setdefault(id.rpartition("-")[0], []).append(id)
    queries = {query["_id"]: query for query in read("queries.jsonl")}
    rows = [line.split("\t") for line in (SET / "qrels" / "test.tsv").read_text().splitlines()[1:]]
    answers = {query: document for query, document, _ in rows}
    assert len(answers) == len(rows) == 60
    assert len(documents) == 120
    assert {query["kind"] for id, query in queries.items() if id not in answers} == {"abstention"}
    assert sorted(query["kind"] for query in queries.values()) == sorted(12 * (*KINDS, "abstention"))
    for id, answer in answers.items():
        query, same = queries[id], topics[answer.rpartition("-")[0]]
        others = [documents[other] for other in same if other != answer]
        assert documents[answer]["scope"] == query["scope"]
        if query["kind"] == "latest":
            assert others
            assert all(
                other["occurred_at"] < documents[answer]["occurred_at"] < query["occurred_at"] for other in others
            )
        elif query["kind"] == "important":
            assert others
            assert all(other.get("importance", 0.5) < documents[answer]["importance"] for other in others)
        elif query["kind"] in ("linked", "next"):
            (hit,) = others
            distance = order.index(answer) - order.index(hit["_id"])
            assert not stems(query["text"]) & stems(documents[answer]["text"]), id
            assert stems(query["text"]) & stems(hit["text"]), id
            assert distance == 1 if query["kind"] == "next" else distance >= 5
            if query["kind"] == "linked":
                shared = stems(hit["text"]) & stems(documents[answer]["text"])
                assert shared - stems(query["text"]), id


def test_every_row_has_its_command() -> None:
    for title in ("Overall", "By kind", "Reciprocal rank by kind"):
        assert [name for name in table(title) if name != "*chance*"] == list(COMMANDS)


@pytest.fixture(scope="module")
def metrics_by_name(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The metrics of each command's result, and the comparison."""
    cwd = tmp_path_factory.mktemp("rankers")
    (cwd / "bolt").mkdir()
    (cwd / "examples").symlink_to(ROOT / "examples")
    written = {}
    with bolt_server(cwd / "bolt") as server:
        for i, (name, words) in enumerate(COMMANDS.items()):
            done = recallbench(*words, "--folder", f"r{i}", "--quiet", cwd=cwd, env=server)
            assert done.returncode == 0
            written[name] = json.loads((cwd / f"r{i}" / "metrics.json").read_text())
        before, after = (list(COMMANDS).index(f"graph, {name}") for name in ("importance", "neighbours"))
        compared = recallbench("compare", f"r{before}", f"r{after}", "--allow", "store", "--json", cwd=cwd)
        assert compared.returncode in (0, 1)
        written["compared"] = json.loads(compared.stdout)
    return written


@pytest.mark.marked
def test_the_commands_give_the_figures(metrics_by_name: dict[str, dict[str, Any]]) -> None:
    overall, kinds, ranks, abstained = map(table, ("Overall", "By kind", "Reciprocal rank by kind", "Abstention"))
    for name in COMMANDS:
        estimates = metrics_by_name[name]["estimates"]
        assert overall[name] == overall_row(estimates), name
        assert kinds[name] == kinds_row(estimates, "recall_any@5"), name
        assert ranks[name] == kinds_row(estimates, "mrr@50"), name
        assert abstained[name] == abstention_row(metrics_by_name[name]["abstention"]), name
        chance = {estimate["measure"]: number(estimate["chance"]) for estimate in estimates["overall"]}
        assert overall["*chance*"] == [chance["recall_any@1"], "–", chance["recall_any@5"], "–", chance["mrr@50"], "–"]
    name = metrics_by_name["bm25"]["corpus"]["name"]
    assert name in PAGE
    mrr = next(measure for measure in metrics_by_name["compared"]["measures"] if measure["measure"] == "mrr@50")
    assert f"{mrr['difference']:+.4f} (95% {mrr['low']:+.4f} to {mrr['high']:+.4f}, p {mrr['p_holm']:.4f}" in PAGE
