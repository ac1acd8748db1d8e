"""`recallbench sweep --sensitivity`, `--repeats` and `--seeds`: what moves the figures of the chosen point."""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest

from commandline import recallbench
from sweeps import document, tuned

FILTERS = '''
def open_memory(items, vectors, *, a=0, b=0, c=0, d=0, e=0):
    """Finds the item whose text is the query's, unless its number is a multiple of one of these."""
    known = {item.text: item.id for item in items}
    hiding = [each for each in (a, b, c, d, e) if each]

    def search(query, k):
        id = known[query.text]
        return [] if any(id % each == 0 for each in hiding) else [(id, 1.0)]

    return search

open_memory.needs_vectors = False
'''
RUN = '[run]\nstore = "python:memory:open_memory"\nout = "out"\n'


def folder_of(tmp_path: Path) -> Path:
    (folder,) = (tmp_path / "out").glob("sweep_*")
    return folder


def sheet(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_each_step_around_the_choice_moves_the_measure_by_what_it_hides(tmp_path: Path) -> None:
    tuned(tmp_path)
    (tmp_path / "memory.py").write_text(FILTERS)
    (tmp_path / "tune.toml").write_text(f"{RUN}[parameters]\nset.a = [2, 4, 0]\nset.b = [0, 5]\n[baseline]\n")
    done = recallbench("sweep", "tune.toml", "team", "--sensitivity", "-q", cwd=tmp_path)
    assert done.returncode == 0
    swept = document(tmp_path)
    assert (swept["choice"]["chosen"], swept["sensitivity"]["around"]) == ("p5", "p5")
    assert swept["sensitivity"]["design"] == "full factorial of 4 points"
    assert swept["sensitivity"]["levels"] == {"set.a": ["2", "4", "0"], "set.b": ["0", "5"]}
    first, second = swept["sensitivity"]["steps"]
    # Of 200 items 50 are multiples of 4, 40 of 5 and 10 of both: 0.75 -> 1 with b = 0, 0.6 -> 0.8 with b = 5.
    assert (first["parameter"], first["start"], first["end"], first["moves"]) == ("set.a", "4", "0", 2)
    assert [first[name] for name in ("mean", "absolute", "least", "most")] == [0.225, 0.225, 0.2, 0.25]
    assert first["deviation"] == pytest.approx(0.05 / 2**0.5)
    assert first["low"] < 0.225 < first["high"]
    assert (second["parameter"], second["mean"], second["least"], second["most"]) == ("set.b", -0.175, -0.2, -0.15)
    # Each question has one right item, found first or not at all: every measure moves alike.
    assert list(second["others"]) == [
        *("recall_frac@10", "recall_all@10", "mrr@50"),
        "p50 ms",
        "USD for 1,000 questions",
    ]
    assert {second["others"][name] for name in ("recall_frac@10", "recall_all@10", "mrr@50")} == {-0.175}
    # A point that the race dropped was asked the rest for this alone.
    dropped = [point for point in swept["points"] if point["dropped_after"] is not None]
    assert {point["held_out"] for point in dropped} == {None}
    folder = folder_of(tmp_path)
    report = (folder / "report.md").read_text()
    assert "| set.a | 4 → 0 | +0.2250 | " in report
    assert (folder / "report.html").read_text().count("<svg") == 2
    words = [
        text.text for text in ElementTree.parse(folder / "sensitivity.svg").iter("{http://www.w3.org/2000/svg}text")
    ]
    assert {"recall_any@10 moves by", "p95 moves by, ms", "set.a 4 → 0", "set.b 0 → 5"} <= set(words)
    assert [row["mean"] for row in sheet(folder / "sensitivity.csv")] == ["0.225", "-0.175"]


def test_more_than_four_parameters_are_walked_through(tmp_path: Path) -> None:
    tuned(tmp_path)
    (tmp_path / "memory.py").write_text(FILTERS)
    drawn = "".join(f"set.{name} = [0, {number}]\n" for name, number in zip("abcde", (3, 7, 11, 13, 17), strict=True))
    (tmp_path / "tune.toml").write_text(
        f'{RUN}method = "random"\ndraws = 6\n[parameters]\n{drawn}'.replace("[run]", "")
    )
    (tmp_path / "tune.toml").write_text(f'method = "random"\ndraws = 6\n{RUN}[parameters]\n{drawn}')
    assert recallbench("sweep", "tune.toml", "team", "--sensitivity", "-q", cwd=tmp_path).returncode == 0
    part = document(tmp_path)["sensitivity"]
    assert part["design"].startswith("Morris, 10 walks over ")
    assert [(step["parameter"], step["start"], step["mean"] < 0) for step in part["steps"]] == [
        (f"set.{name}", None, True) for name in "abcde"
    ]
    # What hides a third of the items moves the measure more than what hides a 17th.
    effects = [step["absolute"] for step in part["steps"]]
    assert effects == sorted(effects, reverse=True)
    assert "| set.a | each step | -0." in (folder_of(tmp_path) / "report.md").read_text()


UNSTEADY = '''
def open_memory(items, vectors, *, until=0):
    """Finds the item whose text is the query's; of the searches up to so many, every other item is not found."""
    known, asked = {item.text: item.id for item in items}, []

    def search(query, k):
        asked.append(query)
        id = known[query.text]
        return [] if len(asked) <= until and id % 2 else [(id, 1.0)]

    return search

open_memory.needs_vectors = False
'''


def test_what_depends_on_the_order_moves_with_the_seed_and_not_with_repeats(tmp_path: Path) -> None:
    tuned(tmp_path)
    (tmp_path / "memory.py").write_text(UNSTEADY)
    (tmp_path / "tune.toml").write_text(f"{RUN}[[point]]\nset.until = 300\n[baseline]\nset.until = 0\n")
    done = recallbench("sweep", "tune.toml", "team", "--repeats", "2", "--seeds", "3", "-q", cwd=tmp_path)
    assert done.returncode == 0
    part = document(tmp_path)["stability"]
    assert (part["repeats"], part["seeds"], part["questions"], part["failures"]) == (2, 3, 200, [])
    spreads = {(spread["point"], spread["figure"]): spread for spread in part["spreads"]}
    assert list(spreads) == [(name, f) for name in ("p1", "baseline") for f in ("recall_any@10", "p50 ms", "p95 ms")]
    chosen, still = spreads["p1", "recall_any@10"], spreads["baseline", "recall_any@10"]
    assert chosen["over_repeats"] == 0.0
    assert 0 < chosen["over_seeds"] < 0.1
    assert [len(set(of_seed)) for of_seed in chosen["runs"]] == [1, 1, 1]
    assert len({of_seed[0] for of_seed in chosen["runs"]}) > 1
    assert (still["mean"], still["over_repeats"], still["over_seeds"]) == (1.0, 0.0, 0.0)
    # It was asked afresh: times differ.
    assert spreads["p1", "p50 ms"]["least"] < spreads["p1", "p50 ms"]["most"]
    folder = folder_of(tmp_path)
    assert (
        "| baseline | recall_any@10 | 1.0000 | 0.0000 | 0.0000 | 1.0000 | 1.0000 | 6 |"
        in (folder / "report.md").read_text()
    )
    assert len(sheet(folder / "stability.csv")) == 2 * 3 * 6


WORN = """
opened = []

def open_memory(items, vectors):
    opened.append(1)
    assert len(opened) < 3, "worn out"
    known = {item.text: item.id for item in items}
    return lambda query, k: [(known[query.text], 1.0)]

open_memory.needs_vectors = False
"""


def test_a_run_that_fails_when_it_is_asked_again_is_told(tmp_path: Path) -> None:
    tuned(tmp_path)
    (tmp_path / "memory.py").write_text(WORN)
    (tmp_path / "tune.toml").write_text(f"{RUN}[parameters]\nk = [5]\n")
    done = recallbench("sweep", "tune.toml", "team", "--repeats", "3", "-q", cwd=tmp_path)
    assert done.returncode == 1
    part = document(tmp_path)["stability"]
    assert [len(failure) > 0 and "worn out" in failure for failure in part["failures"]] == [True, True]
    assert part["spreads"][0]["runs"] == [[1.0]]


def test_pictures_are_files_with_front_knee_gates_and_intervals(tmp_path: Path) -> None:
    tuned(tmp_path)
    (tmp_path / "tune.toml").write_text((tmp_path / "tune.toml").read_text().replace("= 50", "= 4"))
    gates = ("--gate", "recall_any@10 >= baseline", "--gate", "p95 < 500ms", "--gate", "usd_per_1000 < 9")
    assert recallbench("sweep", "tune.toml", "team", *gates, "-q", cwd=tmp_path).returncode == 0
    folder, swept = folder_of(tmp_path), document(tmp_path)
    for stem, price, gate in (
        ("recall_by_p95", "p95", "p95 < 500ms"),
        ("recall_by_cost", "usd_per_1000", "usd_per_1000 < 9"),
    ):
        tree = ElementTree.parse(folder / f"{stem}.svg")
        words = {text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")}
        legend = {"a point", "95% interval of each value", "Pareto front", "the baseline", "the chosen point, p2"}
        assert legend | {f"gate: {gate}", "gate: recall_any@10 >= baseline (judged by the tuning questions)"} <= words
        rows = sheet(folder / f"{stem}.csv")
        assert [(row["mark"], row["name"]) for row in rows] == [
            *(("point", name) for name in ("p1", "p2", "p3", "baseline")),
            ("gate", "recall_any@10 >= baseline"),
            ("gate", gate),
        ]
        chosen = rows[1]
        assert (chosen["value"], chosen["chosen"], chosen["on_front"]) == ("1.0", "yes", "yes")
        held_out = swept["points"][3]["held_out"]
        assert (rows[3]["baseline"], rows[3]["low"]) == ("yes", str(held_out["low"]))
        assert rows[4]["value"] == str(held_out["value"])
        assert float(rows[5][price]) == (500 if price == "p95" else 9)


def test_a_step_to_what_cannot_be_is_left_out_and_told(tmp_path: Path) -> None:
    run = 'corpus = "canary-locomo"\nstore = "pgvector"\nembedder = "hash"\nout = "out"\nset = {weights = "cosine"}\n'
    points = (
        '[[point]]\n"set.index" = "hnsw"\n"set.ef_search" = 200\n[[point]]\n"set.index" = "hnsw"\n"set.ef_search" = 1\n'
    )
    # One of 50 lists has next to nothing of a question's conversation.
    poor = '[[point]]\n"set.index" = "ivfflat"\n"set.lists" = 50\n"set.probes" = 1\n'
    (tmp_path / "tune.toml").write_text(f"[run]\n{run}{points}{poor}")
    done = recallbench("sweep", "tune.toml", "--sensitivity", "-q", cwd=tmp_path)
    assert done.returncode == 0
    swept = document(tmp_path)
    assert swept["choice"]["chosen"] == "p1"
    part = swept["sensitivity"]
    assert {step["parameter"]: (step["moves"], step["lost"]) for step in part["steps"]} == {
        "set.index": (0, 2),
        "set.ef_search": (1, 1),
    }
    assert all("has no use for --set ef_search" in why for why in part["impossible"].values())
    assert (len(part["impossible"]), part["failures"]) == (2, {})
    assert "Not measured: set.index = ivfflat, set.ef_search = " in (folder_of(tmp_path) / "report.md").read_text()
