"""TREC runs and qrels as other tools write them."""

import random
from pathlib import Path

import pytest
import pytrec_eval

from recallbench.errors import InputError
from recallbench.results.trec import in_order_of, read_kept_run, read_qrels, read_run


def test_a_run_is_read_by_score_then_by_stated_rank(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q1 Q0 b 3 0.5 t\nq1 Q0 a 1 2e0 t\n\nq2 Q0 x 1 -1 t\nq1 Q0 c 2 .5 t\n")
    assert read_run(path) == {"q1": [("a", 2.0), ("c", 0.5), ("b", 0.5)], "q2": [("x", -1.0)]}


def test_qrels_keep_grades_and_questions_without_any(tmp_path: Path) -> None:
    path = tmp_path / "qrels.trec"
    path.write_text("q1 0 a 2\nq1 0 b 0\nq2 0 a 0\nq3 0 a -1\n")
    assert read_qrels(path) == {"q1": {"a": 2, "b": 0}, "q2": {"a": 0}, "q3": {"a": -1}}


@pytest.mark.parametrize(
    ("content", "line", "expected"),
    [
        ("q1 Q0 a 1 2 t\nq1 Q0 b 2 1\n", 2, "6 columns: question Q0 document rank score tag"),
        ("q1 Q0 a 1 nan t\n", 1, "a finite score in the fifth column"),
        ("q1 Q0 a 1 1e999 t\n", 1, "a finite score in the fifth column"),
        ("q1 Q0 a 1 high t\n", 1, "a finite score in the fifth column"),
        ("q1 Q0 a -1 2 t\n", 1, "a rank, 0 or more, in the fourth column"),
        ("q1 Q0 a first 2 t\n", 1, "a rank, 0 or more, in the fourth column"),
        ("q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n", 2, "each document once for q1"),
    ],
)
def test_a_malformed_run_is_refused_with_its_line(tmp_path: Path, content: str, line: int, expected: str) -> None:
    path = tmp_path / "run.trec"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_run(path)
    assert caught.value.problem.endswith(f"run.trec, line {line}: not in TREC's form")
    assert caught.value.expected == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("q1 0 a\n", "4 columns: question 0 document grade"),
        ("q1 0 a 0.5\n", "a whole number in the fourth column"),
        ("q1 0 a 1\nq1 0 a 0\n", "each document once for q1"),
    ],
)
def test_malformed_qrels_are_refused(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "qrels.trec"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_qrels(path)
    assert caught.value.expected == expected


def test_ties_by_trec_evals_rule_and_by_the_files() -> None:
    hits = [("a", 1.0), ("c", 1.0), ("b", 1.0), ("10", 2.0), ("9", 2.0)]
    assert in_order_of("file", hits) == hits
    assert [id for id, _ in in_order_of("trec", hits)] == ["9", "10", "c", "b", "a"]
    # Scores are compared as floats of 32 bits: the eighth digit does not count, and overflows are equal.
    assert [id for id, _ in in_order_of("trec", [("a", 0.1 + 1e-10), ("b", 0.1)])] == ["b", "a"]
    assert [id for id, _ in in_order_of("trec", [("a", 0.1 + 1e-6), ("b", 0.1)])] == ["a", "b"]
    assert [id for id, _ in in_order_of("trec", [("a", 2e300), ("b", 1e300)])] == ["b", "a"]


@pytest.mark.parametrize("seed", range(20))
def test_the_rule_is_that_of_pytrec_eval_wherever_scores_are_tied(seed: int) -> None:
    rng = random.Random(seed)
    ids = rng.sample([*"abcdefgXYZé", "10", "9", "d-1", "d_1", "ä", "0a"], 12)
    run = {id: rng.choice([0.0, -0.0, 1.0, 1.0 + 1e-9, 0.3, 0.1 + 0.2, 1e39, 2e39]) for id in ids}
    ours = [id for id, _ in in_order_of("trec", list(run.items()))]
    for id in ids:
        # 1 / rank tells the rank of the only relevant document.
        evaluator = pytrec_eval.RelevanceEvaluator({"q": {id: 1}}, {"recip_rank"})
        assert evaluator.evaluate({"q": run})["q"]["recip_rank"] == pytest.approx(1 / (ours.index(id) + 1))


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (0, 3, 1, 4, 2)], ids=["by question", "mixed"])
def test_a_run_that_is_kept_says_the_same_whatever_the_order_of_its_lines(
    order: tuple[int, ...], tmp_path: Path
) -> None:
    lines = ["a Q0 x 1 0.5 t", "a Q0 y 2 0.5 t", "a Q0 z 3 2.25 t", "b Q0 x 1 -1 t", "b Q0 w 2 -0.5 t"]
    path = tmp_path / "run.trec"
    path.write_text("".join(f"{lines[number]}\n" for number in order))
    kept = read_kept_run(path)
    assert kept == read_run(path)
    assert {question: list(hits) for question, hits in kept.items()} == {
        "a": [("z", 2.25), ("x", 0.5), ("y", 0.5)],
        "b": [("w", -0.5), ("x", -1.0)],
    }
    assert (kept["a"][1], kept["b"][1:], len(kept["a"])) == (("x", 0.5), [("x", -1.0)], 3)


def test_a_document_that_comes_again_after_other_questions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("a Q0 x 1 0.5 t\nb Q0 x 1 0.5 t\na Q0 x 2 0.25 t\n")
    with pytest.raises(InputError, match="line 3"):
        read_run(path)
