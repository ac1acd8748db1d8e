"""How `recallbench run` ends: a line in words, in each format, and the protocol's labels for whoever asks."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from commandline import recallbench

ON_CANARY = ("run", "canary-locomo", "--store", "bm25", "-q")
FOUND = (
    "bm25 finds a right session among the first 10 for 83.5% of 158 questions (recall_any@10 0.8354, 0.7598 to 0.8877)"
)
UNTOUCHED = "nothing in the run speaks against it"
LABELS = ("pgmnemo", "CANONICAL", "VERIFIED", "deviation")
MEMORY = """
class Memory:
    def __init__(self):
        self.texts = {}

    def add(self, id, text):
        self.texts[id] = set(text.lower().split())

    def search(self, query, k):
        asked = set(query.lower().split())
        ranked = sorted(self.texts, key=lambda id: -len(asked & self.texts[id]))
        return [(id, -place) for place, id in enumerate(ranked[:k])]
"""
FAILING = MEMORY.replace(
    "        asked =", "        if len(query) % 5 == 0:\n            raise ValueError('no')\n        asked ="
)


def test_a_run_ends_with_what_was_found_whether_to_believe_it_and_what_to_do(tmp_path: Path) -> None:
    done = recallbench(*ON_CANARY, "--folder", "my result", cwd=tmp_path)
    assert done.stdout.splitlines()[-2:] == [
        "",
        f"{FOUND}; {UNTOUCHED}; next: open 'my result/report.html'",
    ]
    p95 = re.search(r"; p95 (\d+\.\d{3}); nearest ranks of 158\n", done.stdout)
    assert p95 is not None
    assert f" | {p95[1]} (" in (tmp_path / "my result" / "report.md").read_text()
    for word in LABELS:
        assert word not in done.stdout + done.stderr


def test_the_labels_are_told_to_whoever_asks(tmp_path: Path) -> None:
    for number, asked in enumerate((("--verdict",), ("--require-verified",), ("--verdict", "--limit", "9"))):
        lines = recallbench(*ON_CANARY, "--folder", f"r{number}", *asked, cwd=tmp_path).stdout.splitlines()
        assert "verdict: UNVERIFIED (pending: committed), not CANONICAL" in lines
        assert "deviation: store: bm25 instead of pgmnemo" in lines
    assert "deviation: limit: only the first 9 questions were asked" in lines


@pytest.mark.parametrize("store", ["python:mine:Memory", "bm25"])
def test_on_a_corpus_of_the_protocol_only_its_own_store_is_told_of_it(tmp_path: Path, store: str) -> None:
    """A registered corpus, here in miniature, with a store that is not the protocol's."""
    from recallbench.corpora.miniature import write_locomo

    (tmp_path / "mine.py").write_text(MEMORY)
    write_locomo(tmp_path / "locomo10.json")
    words = ("run", "locomo", "--corpus-file", "locomo10.json", "--allow-deviation", "dataset", "-q")
    done = recallbench(*words, "--store", store, "--folder", "r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for word in LABELS:
        assert word not in done.stdout + done.stderr
    last = "; the protocol's gate on dataset integrity fails; next: recallbench audit r\n"
    assert done.stdout.endswith(last)
    assert "\ngate of the protocol failed: dataset integrity: sha256 " in done.stdout


def test_a_memory_of_ones_own_that_fails_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FAILING)
    words = ("run", "canary-locomo", "--store", "python:mine:Memory", "--keep-going", "--folder", "r", "-q")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 1
    failed = len(json.loads((tmp_path / "r" / "metrics.json").read_text())["retrieval"]["failed"])
    assert failed > 1
    last = done.stdout.splitlines()[-1]
    assert last.startswith("python:mine:Memory finds a right session among the first 10 for ")
    assert last.endswith(f"; {failed} questions that failed count as the worst answer; next: open r/report.html")
    for word in LABELS:
        assert word not in done.stdout + done.stderr


def test_several_corpora_end_with_one_line_over_all(tmp_path: Path) -> None:
    done = recallbench("run", "canary", "--store", "bm25", "--out", "o", "-q", cwd=tmp_path)
    first = min(path.name for path in (tmp_path / "o").iterdir())
    assert done.stdout.splitlines()[-1] == (
        "bm25 finds a right hit for 83.5% of 158 questions on canary-locomo, 83.0% of 47 on canary-longmemeval; "
        "canary-longmemeval: the interval is too wide to rely on; next: "
        f"open o/{first}/report.html"
    )
    assert done.stdout.count("; next: ") == 1


def test_each_format_holds_the_same_figures(tmp_path: Path) -> None:
    ending = FOUND + "; " + UNTOUCHED + "; next: open {0}/report.html"
    stated = json.loads(recallbench(*ON_CANARY, "--folder", "a", "--json", cwd=tmp_path).stdout)
    (result,) = stated["results"]
    assert (result["folder"], result["store"], result["canonical"], stated["failed"]) == ("a", "bm25", False, {})
    assert result["headline"][0]["measure"] == "recall_any@10"
    assert round(result["headline"][0]["value"], 4) == 0.8354
    assert stated["conclusion"]["text"] == ending.format("a")
    sheet = recallbench(*ON_CANARY, "--folder", "b", "--format", "csv", cwd=tmp_path)
    rows = list(csv.DictReader(sheet.stdout.splitlines()))
    assert [(row["folder"], row["measure"], row["value"]) for row in rows] == [
        ("b", "recall_any@10", "0.8354"),
        ("b", "mrr@50", "0.4575"),
    ]
    assert sheet.stderr.strip() == ending.format("b")
    marked = recallbench(*ON_CANARY, "--folder", "c", "--format", "markdown", cwd=tmp_path).stdout
    assert "| recall@10 | recall_any@10 | 0.8354 | 0.7598 to 0.8877 | 158 | 0.4774 | 0.8354 | 0.0% |" in marked
    assert "| MRR | mrr@50 | 0.4575 | 0.4109 to 0.5052 | 158 | 0.1797 | 0.4575 | – |" in marked
    assert marked.splitlines()[-1] == f"**{ending.format('c')}**"
    page = recallbench(*ON_CANARY, "--folder", "d", "--format", "html", cwd=tmp_path).stdout
    assert "<td>0.8354</td>" in page
    assert f"<p><strong>{ending.format('d')}</strong></p>" in page


def test_a_run_that_is_blocked_has_its_error_alone(tmp_path: Path) -> None:
    done = recallbench("run", "locomo", "--store", "bm25", "--no-download", "--out", "o", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout == ""
    assert "recallbench fetch locomo" in done.stderr
