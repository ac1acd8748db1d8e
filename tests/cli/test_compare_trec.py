from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from commandline import recallbench
from stages import sampled

QRELS = """\
q1 0 a 1
q1 0 b 0
q2 0 a 3
q2 0 c 1
q3 0 d 1
q4 0 a 0
q5 0 e 1
q5 0 x -1
"""
A = """\
q1 Q0 a 1 3 A
q1 Q0 b 2 2 A
q2 Q0 c 1 3 A
q2 Q0 a 2 2 A
q3 Q0 z 1 3 A
q3 Q0 d 2 2 A
q4 Q0 a 1 1 A
q9 Q0 a 1 1 A
"""
B = """\
q1 Q0 b 1 3 B
q1 Q0 a 2 2 B
q2 Q0 a 1 3 B
q2 Q0 c 2 2 B
q5 Q0 e 1 1 B
"""


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, text in (("qrels.txt", QRELS), ("a.run", A), ("b.run", B)):
        (tmp_path / name).write_text(text)
    return tmp_path


def compared(folder: Path, *words: str) -> dict:
    done = recallbench("compare", "a.run", "b.run", "--qrels", "qrels.txt", "--json", *words, cwd=folder)
    assert done.returncode in (0, 1)
    return json.loads(done.stdout)


def test_two_runs_by_hand(runs: Path) -> None:
    comparison = compared(runs, "--measures", "mrr@10,ndcg@10,recall_any@1")
    mrr, ndcg, first = comparison["measures"]
    # q1 1 to 1/2, q2 1 both, q3 1/2 to 0 (not answered), q5 0 to 1; q4 has nothing relevant.
    assert (comparison["n"], comparison["clusters"]) == (4, None)
    assert (mrr["first"], mrr["second"]) == pytest.approx((2.5 / 4, 2.5 / 4))
    assert (mrr["wins"], mrr["ties"], mrr["losses"]) == (1, 1, 2)
    assert (first["first"], first["second"]) == (0.5, 0.5)
    # q2: grades 1, 3 against 3, 1 of which the ideal is 3 + 1 / log2(3).
    ideal = 3 + 1 / math.log2(3)
    expected = [(1 + (1 + 3 / math.log2(3)) / ideal + 1 / math.log2(3) + 0) / 4, (1 / math.log2(3) + 1 + 0 + 1) / 4]
    assert (ndcg["first"], ndcg["second"]) == pytest.approx(expected)
    assert comparison["kinds"] == {}


def test_the_last_line_says_that_secondary_measures_are_a_hint(runs: Path) -> None:
    words = ("compare", "a.run", "b.run", "--qrels", "qrels.txt")
    for measures, warned in (("ndcg@10", True), ("ndcg@10,recall_any@10", False)):
        done = recallbench(*words, "--measures", measures, cwd=runs)
        assert ("a hint, no finding" in done.stdout.splitlines()[-1]) == warned


def test_ids_that_name_groups_are_warned_of_unless_clusters_are_named(tmp_path: Path) -> None:
    questions = [f"conv-{conversation}/q{number}" for conversation in (1, 2) for number in (1, 2)]
    (tmp_path / "qrels.txt").write_text("".join(f"{question} 0 a 1\n" for question in questions))
    for name, first in (("a.run", "a"), ("b.run", "b")):
        (tmp_path / name).write_text("".join(f"{question} Q0 {first} 1 1 R\n" for question in questions))
    words = ("compare", "a.run", "b.run", "--qrels", "qrels.txt", "--measures", "mrr@1")
    done = recallbench(*words, cwd=tmp_path)
    note = "taken as independent, though ids such as conv-1/q1 name 2 groups: --cluster-prefix /"
    assert done.stdout.count(note) == 1
    assert "the ids look as if questions depended on each other" in done.stdout.splitlines()[-1]
    done = recallbench(*words, "--cluster-prefix", "/", cwd=tmp_path)
    assert "taken as independent" not in done.stdout
    assert "depended" not in done.stdout
    assert (
        "; next: recallbench compare a.run b.run --qrels qrels.txt --cluster-prefix /" in done.stdout.splitlines()[-1]
    )


def test_questions_that_do_not_count_are_named(runs: Path) -> None:
    notes = compared(runs)["notes"]
    assert notes == [
        "a.run: 1 question (q5) not answered, which counts as an empty ranking",
        "a.run: 2 questions (q4, q9) without a relevant document in the qrels, left out",
        "b.run: 1 question (q3) not answered, which counts as an empty ranking",
    ]


def test_both_rankings_are_shown(runs: Path) -> None:
    (most, *_) = compared(runs, "--measures", "mrr@10")["changed"]
    assert (most["question_id"], most["values"], most["first"]) == ("q5", {"mrr@10": [0.0, 1.0]}, [])
    assert most["second"] == [{"rank": 1, "id": "e", "gold": True, "text": ""}]


def test_clusters_by_file_and_by_prefix(runs: Path) -> None:
    (runs / "clusters.txt").write_text("q1 x\nq2 x\nq3 y\nq5 y\nq9 z\n")
    comparison = compared(runs, "--clusters", "clusters.txt", "--measures", "mrr@10")
    assert (comparison["clusters"], comparison["measures"][0]["test"]) == (2, "all 4 sign flips")
    (runs / "clusters.txt").write_text("q1 x\nq2 x\n")
    done = recallbench("compare", "a.run", "b.run", "--qrels", "qrels.txt", "--clusters", "clusters.txt", cwd=runs)
    assert (done.returncode, "has no cluster for 2 questions (q3, q5)" in done.stderr) == (2, True)
    (runs / "clusters.txt").write_text("q1 x\nq1 y\n")
    done = recallbench("compare", "a.run", "b.run", "--qrels", "qrels.txt", "--clusters", "clusters.txt", cwd=runs)
    assert (done.returncode, "clusters.txt, line 2" in done.stderr) == (2, True)


def test_a_cluster_with_most_questions_proves_no_drop(runs: Path) -> None:
    """70 questions of 97 are of one conversation, which falls by 2/7; of nine small ones three rise and three fall.

    t over the ten would put the drop between .05 and .36.
    """
    questions = [(f"big/{i}", i >= 20) for i in range(70)]
    questions += [(f"small{c}/{i}", i > 0 or c >= 3) for c in range(9) for i in range(3)]
    rose = {f"small{c}/0" for c in range(3, 6)}
    (runs / "qrels.txt").write_text("".join(f"{q} 0 g 1\n" for q, _ in questions))
    (runs / "a.run").write_text("".join(f"{q} Q0 {'n' if q in rose else 'g'} 1 1 A\n" for q, _ in questions))
    (runs / "b.run").write_text("".join(f"{q} Q0 {'g' if stays else 'n'} 1 1 B\n" for q, stays in questions))
    words = ("--cluster-prefix", "/", "--measures", "recall_any@1", "--fail-if", "recall_any@1 drops 0.005")
    comparison = compared(runs, *words)
    (recall,) = comparison["measures"]
    assert (recall["difference"], recall["largest"]) == (pytest.approx(-20 / 97), pytest.approx(70 / 97))
    assert (recall["wins"], recall["losses"]) == (3, 23)
    assert recall["method"] == "95% by 1,024 sign flips of 10 clusters"
    assert recall["p"] > 0.5
    assert recall["low"] < recall["difference"] < 0 < recall["high"]
    (decided,) = comparison["conditions"]
    assert decided["outcome"] == "inconclusive"
    assert decided["reason"].endswith(", and 0.005 lies within; one of the 10 clusters holds 72% of the questions")
    done = recallbench("compare", "a.run", "b.run", "--qrels", "qrels.txt", *words, "--strict", cwd=runs)
    assert (done.returncode, decided["reason"] in done.stdout) == (1, True)


def test_too_few_clusters_decide_nothing_and_say_so(runs: Path) -> None:
    """Five conversations, each of which lost one question of two: 2 of their 32 sign flips are as far."""
    questions = [f"{c}/{i}" for c in "abcde" for i in range(2)]
    (runs / "qrels.txt").write_text("".join(f"{q} 0 g 1\n" for q in questions))
    (runs / "a.run").write_text("".join(f"{q} Q0 g 1 1 A\n" for q in questions))
    (runs / "b.run").write_text("".join(f"{q} Q0 {'n' if q.endswith('0') else 'g'} 1 1 B\n" for q in questions))
    condition = ("--measures", "recall_any@1", "--fail-if", "recall_any@1 drops 0.005")
    (decided,) = compared(runs, "--cluster-prefix", "/", *condition)["conditions"]
    assert (decided["outcome"], decided["reason"]) == (
        "inconclusive",
        "there is no interval: 5 clusters are too few (6 are needed)",
    )


def test_a_sign_that_rests_on_a_single_cluster_gives_a_warning(runs: Path) -> None:
    """x gains 1 on each of two questions, y and z lose 1/2 on one each: without x nothing is left but loss."""
    (runs / "qrels.txt").write_text("".join(f"{q} 0 g 1\n" for q in ("x/1", "x/2", "y/1", "z/1")))
    (runs / "a.run").write_text(
        "x/1 Q0 n 1 2 A\n" + "".join(f"{q} Q0 g 1 2 A\n{q} Q0 n 2 1 A\n" for q in ("y/1", "z/1"))
    )
    second = "".join(f"{q} Q0 g 1 2 B\n{q} Q0 n 2 1 B\n" for q in ("x/1", "x/2"))
    (runs / "b.run").write_text(second + "".join(f"{q} Q0 n 1 2 B\n{q} Q0 g 2 1 B\n" for q in ("y/1", "z/1")))
    comparison = compared(runs, "--cluster-prefix", "/", "--measures", "mrr@50")
    (mrr,) = comparison["measures"]
    assert (mrr["difference"], mrr["least"], mrr["most"], mrr["turning"]) == (0.25, -0.5, 0.5, ["x"])
    assert comparison["warnings"] == [
        "mrr@50: the sign rests on one cluster: without x the difference is 0 or of the other sign "
        "(leaving one out gives -0.5000 to +0.5000)",
        "mrr@50: so few clusters differ that no p of 0.05 or less can be reached: the smallest is 0.2500",
    ]


def test_only_a_named_rule_fails_the_command(runs: Path) -> None:
    """Of 30 questions eight get worse and none better: p is 2 / 256 by both primary measures."""
    (runs / "qrels.txt").write_text("".join(f"q{i} 0 g 1\n" for i in range(30)))
    (runs / "a.run").write_text("".join(f"q{i} Q0 g 1 1 A\n" for i in range(30)))
    (runs / "b.run").write_text("".join(f"q{i} Q0 {'n' if i < 8 else 'g'} 1 1 B\n" for i in range(30)))

    def run(*words: str, up: bool = False) -> tuple[int, str]:
        sides = ("b.run", "a.run") if up else ("a.run", "b.run")
        done = recallbench("compare", *sides, "--qrels", "qrels.txt", "--show", "0", *words, cwd=runs)
        return done.returncode, done.stdout

    code, printed = run()
    assert code == 0
    assert "regression: mrr@50 fell, at a corrected p of at most 0.05" in printed
    assert "regression: recall_any@10 fell" in printed
    figures = "-0.2667 (-0.4445 to -0.1229), 30 questions, p 0.0156 (Holm)"
    assert printed.splitlines()[-1].startswith(f"B finds less and ranks it lower: recall_any@10 {figures} and mrr@50 ")
    assert printed.endswith("; next: recallbench compare a.run b.run --qrels qrels.txt --show 10\n")
    assert run("--fail-on-regression")[0] == 1
    assert run("--fail-on-regression", up=True)[0] == 0
    for threshold, code in (("0.9", 0), ("0.05", 1)):
        assert run("--fail-if", f"mrr@50 drops {threshold}")[0] == code
    # Of both rules either fails it.
    code, printed = run("--fail-if", "mrr@50 drops 0.9", "--fail-on-regression")
    assert (code, "; the rule passes; " in printed.splitlines()[-1]) == (1, True)


@pytest.mark.marked
def test_runs_of_results_give_what_their_folders_give(tmp_path: Path) -> None:
    for name, words in (("one", ("--store", "bm25")), ("two", ("--store", "exact", "--embedder", "hash"))):
        run = recallbench("run", "canary-locomo", *words, "--folder", name, "--quiet", cwd=tmp_path)
        assert run.returncode == 0
    folders = recallbench("compare", "one", "two", "--json", cwd=tmp_path)
    words = ("--qrels", "one/qrels.trec", "--cluster-prefix", "/", "--json")
    trec = recallbench("compare", "one/run.trec", "two/run.trec", *words, cwd=tmp_path)
    by_folder, by_run = json.loads(folders.stdout), json.loads(trec.stdout)
    assert by_folder["measures"] == by_run["measures"]
    assert [c["question_id"] for c in by_folder["changed"]] == [c["question_id"] for c in by_run["changed"]]


@pytest.mark.marked
def test_runs_of_other_depths_are_refused_beyond_the_shallower(runs: Path) -> None:
    (runs / "deep.run").write_text(B + "q1 Q0 c 3 1 B\n")
    words = ("compare", "a.run", "deep.run", "--qrels", "qrels.txt")
    done = recallbench(*words, "--measures", "mrr@3", cwd=runs)
    assert (done.returncode, done.stdout) == (2, "")
    assert "they differ in depth" in done.stderr
    assert "rankings up to 2 deep against up to 3" in done.stderr
    assert recallbench(*words, "--measures", "mrr@2", cwd=runs).returncode == 0
    assert recallbench(*words, "--measures", "mrr@3", "--allow", "depth", cwd=runs).returncode == 0


WRONG = {
    "store": (("--allow", "store"), "--allow store is not possible for TREC runs"),
    "corpus": (("--corpus-file", "qrels.txt"), "is for result folders"),
    "no such prefix": (("--cluster-prefix", "/"), "--cluster-prefix '/' gives no question a cluster"),
    "an empty prefix": (("--cluster-prefix", ""), "--cluster-prefix '' gives no question a cluster"),
    "two ways": (("--clusters", "qrels.txt", "--cluster-prefix", "/"), "the same in two ways"),
}


@pytest.mark.parametrize(("words", "message"), sampled(WRONG.values()), ids=WRONG)
def test_wrong_usage_is_refused(runs: Path, words: tuple[str, ...], message: str) -> None:
    done = recallbench("compare", "a.run", "b.run", "--qrels", "qrels.txt", *words, cwd=runs)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_names_cannot_break_the_output(runs: Path) -> None:
    (runs / "a.run").write_text("q1 Q0 a|\x1b[2J 1 3 A\n")
    done = recallbench("compare", "a.run", "b.run", "--qrels", "qrels.txt", "--markdown", "--allow", "depth", cwd=runs)
    assert r"| 1 | a\|\x1b[2J | b |" in done.stdout.splitlines()
    assert (
        r"  1  a|\x1b[2J"
        in recallbench("compare", "a.run", "b.run", "--qrels", "qrels.txt", "--allow", "depth", cwd=runs).stdout
    )


BAD = {
    "no score": ("a.run", "q1 Q0 a 1 nan A\n", "a.run, line 1"),
    "two rows on one line": ("a.run", "q1 Q0 a 1 3 A q1 Q0 b 2 2 A\n", "a.run, line 1"),
    "twice": ("a.run", "q1 Q0 a 1 3 A\nq1 Q0 a 2 2 A\n", "a.run, line 2"),
    "negative rank": ("a.run", "q1 Q0 a -1 3 A\n", "a.run, line 1"),
    "other questions": ("a.run", "other Q0 a 1 3 A\n", "answers no question"),
    "empty": ("a.run", "", "answers no question"),
    "no judgement": ("qrels.txt", "q1 0 a one\n", "qrels.txt, line 1"),
    "nothing relevant": ("qrels.txt", "q1 0 a 0\n", "has no relevant document"),
    "no qrels": ("qrels.txt", "", "has no relevant document"),
}


@pytest.mark.parametrize(("name", "text", "message"), sampled(BAD.values()), ids=BAD)
def test_bad_files_are_named_with_their_line(runs: Path, name: str, text: str, message: str) -> None:
    (runs / name).write_text(text)
    done = recallbench("compare", "a.run", "b.run", "--qrels", "qrels.txt", cwd=runs)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
