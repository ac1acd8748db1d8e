"""`recallbench sweep` by kind and tenant: what a choice for all questions means for each class of them."""

from __future__ import annotations

import csv
from pathlib import Path

from commandline import recallbench
from labelled_sets import beir
from sweeps import document

MEMORY = '''
def open_memory(items, vectors, *, misses=""):
    """Finds the item whose text is the query's, unless one of these words is in it."""
    known = {item.text: item.id for item in items}

    def search(query, k):
        return [] if misses and set(misses.split("+")) & set(query.text.split()) else [(known[query.text], 1.0)]

    return search

open_memory.needs_vectors = False
'''
POINTS = """
[run]
store = "python:memory:open_memory"
out = "out"
[[point]]
set.misses = "when"
[[point]]
set.misses = "north+south"
[baseline]
set.misses = "when+south"
"""


def test_each_point_has_a_value_for_every_kind_and_tenant(tmp_path: Path) -> None:
    (tmp_path / "memory.py").write_text(MEMORY)
    (tmp_path / "tune.toml").write_text(POINTS)
    asked = [
        {"_id": f"{tenant}{kind}{number}", "text": f"{tenant} {kind} {number}", "tenant": tenant, "kind": kind}
        for tenant in ("north", "south")
        for kind, most in (("when", 20), ("who", 80))
        for number in range(most)
    ]
    documents = [{name: value for name, value in each.items() if name != "kind"} for each in asked]
    judged = "".join(f"{each['_id']}\t{each['_id']}\t1\n" for each in asked)
    beir(tmp_path / "team", documents, asked, test=f"query-id\tcorpus-id\tscore\n{judged}")
    assert recallbench("sweep", "tune.toml", "team", "-q", cwd=tmp_path).returncode == 0
    swept = document(tmp_path)
    first, second, baseline = swept["points"]
    assert (swept["choice"]["chosen"], swept["split"]["held_out_questions"]) == ("p1", 80)
    assert list(first["slices"]) == ["kind", "tenant"]
    # Questions are drawn by kind, in proportion: of 40 and 160 two fifths are held out.
    assert {name: (part["n"], part["value"]) for name, part in first["slices"]["kind"].items()} == {
        "when": (16, 0.0),
        "who": (64, 1.0),
    }
    assert {part["value"] for slices in second["slices"].values() for part in slices.values()} == {0.0}
    north, south = (baseline["slices"]["tenant"][name] for name in ("north", "south"))
    assert north["n"] + south["n"] == 80
    assert south["value"] == 0.0
    assert north == first["slices"]["tenant"]["north"]
    assert north["low"] < north["value"] < north["high"]
    (folder,) = (tmp_path / "out").iterdir()
    report = (folder / "report.md").read_text()
    assert "## Held-out recall_any@10 by kind\n\n| kind | n | p1 (chosen, best) | baseline |" in report
    assert "## Held-out recall_any@10 by tenant\n" in report
    assert "Held-out recall_any@10 by tenant" in (folder / "report.html").read_text()
    with (folder / "slices.csv").open() as sheet:
        rows = list(csv.DictReader(sheet))
    assert len(rows) == 3 * (2 + 2)
    assert [row["value"] for row in rows if row["point"] == "p1" and row["by"] == "kind"] == ["0.0", "1.0"]


def test_a_corpus_with_abilities_has_them_and_one_kind_alone_is_no_division(tmp_path: Path) -> None:
    (tmp_path / "tune.toml").write_text('[run]\nout = "out"\n[parameters]\nk = [5, 10]')
    words = ("sweep", "tune.toml", "canary-longmemeval", "--store", "bm25", "-q")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    (point, _) = document(tmp_path)["points"]
    assert list(point["slices"]) == ["kind", "ability"]
    assert recallbench(*words, "--limit", "2", cwd=tmp_path).returncode == 0
    assert document(tmp_path, -1)["points"][0]["slices"] == {}
