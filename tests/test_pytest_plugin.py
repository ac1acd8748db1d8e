"""The plugin, in a pytest of its own, as a team would use it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import recallbench.cases.baseline
import recallbench.cases.evaluation  # noqa: F401 - see `run`
from commandline import environment

pytest_plugins = ["pytester"]

TEST = """
    from recallbench import Case

    CASES = [Case(f"question {{i}}", [f"d{{i}}"], kind="even" if i % 2 == 0 else "odd") for i in range(20)]
    WRONG = {wrong}

    def search(query, k):
        number = int(query.split()[1])
        return [f"x{{number}}", f"d{{number}}"][:k] if number in WRONG else [f"d{{number}}", f"x{{number}}"][:k]

    def test_memory(recallbench):
        report = recallbench.evaluate(CASES, search, k={k})
        report.check(recall={floor})
        recallbench.compare(report{more})
"""


def write(pytester: pytest.Pytester, wrong: str = "()", k: int = 1, floor: float = 0.0, more: str = "") -> None:
    import textwrap

    text = textwrap.dedent(TEST).format(wrong=wrong, k=k, floor=floor, more=more)
    (pytester.path / "test_recall.py").write_text(text)


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    # In this process, where what the fixture imports is loaded already: NumPy can't be loaded a second time.
    # The plugin of hypothesis would load all of hypothesis again for each summary.
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest", *words)


def baseline(pytester: pytest.Pytester) -> Path:
    return pytester.path / ".recallbench" / "test_recall" / "test_memory.json"


def test_a_baseline_is_stored_and_compared_with(pytester: pytest.Pytester) -> None:
    write(pytester)
    done = run(pytester)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*no baseline is stored for this test (test_recall/test_memory.json)*"])
    done.stdout.fnmatch_lines(["*pytest --recallbench-update 'test_recall.py::test_memory'*"])
    done = run(pytester, "--recallbench-update")
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["*recallbench baselines*", "test_recall.py::test_memory: test_memory.json: stored"])
    stored = json.loads(baseline(pytester).read_text())
    assert stored["measures"] == ["recall_frac@1", "precision@1", "mrr@1", "ndcg@1"]
    assert [case["values"] for case in stored["cases"]] == [[1.0] * 4] * 20
    run(pytester).assert_outcomes(passed=1)
    done = run(pytester, "--recallbench-update")
    done.stdout.fnmatch_lines(["*test_memory.json: the same already"])


def test_a_regression_fails_with_the_paired_comparison(pytester: pytest.Pytester) -> None:
    write(pytester)
    run(pytester, "--recallbench-update")
    before = baseline(pytester).read_text()
    # One case of twenty proves nothing, and can't: the report says so.
    write(pytester, "(3,)")
    done = run(pytester)
    done.assert_outcomes(passed=1, warnings=4)
    assert (
        "Inconclusive: inconclusive, so few cases can't tell whether it fell: recall_frac@1: -0.0500 over 20 cases"
        in (done.stdout.str())
    )
    write(pytester, "(3,)", more=", strict=True")
    assert "inconclusive: recall_frac@1: -0.0500 over 20 cases" in run(pytester).stdout.str()
    write(pytester, "range(12)")
    done = run(pytester)
    done.assert_outcomes(failed=1)
    text = done.stdout.str()
    assert "below the baseline:" in text
    assert "recall_frac@1 fell: at a corrected p of at most 0.05" in text
    assert "recall_frac@1: hurt, -0.6000 (95% " in text
    assert "0 better, 12 worse" in text
    assert "accept it with --recallbench-update" in text
    assert baseline(pytester).read_text() == before
    run(pytester, "--recallbench-update").assert_outcomes(passed=1)
    run(pytester).assert_outcomes(passed=1)
    # An improvement is no failure.
    write(pytester)
    run(pytester).assert_outcomes(passed=1)


def test_named_drops_follow_the_rule_of_compare(pytester: pytest.Pytester) -> None:
    more = ", drops={'recall': 0.1}"
    write(pytester, more=more)
    run(pytester, "--recallbench-update")
    write(pytester, "(3,)", more=more)
    done = run(pytester)
    done.assert_outcomes(passed=1, warnings=1)
    assert "recall_frac@1 drops 0.1: the drop is between " in done.stdout.str()
    assert "(-0.0500 over 20 cases)" in done.stdout.str()
    write(pytester, "(3,)", more=f"{more}, strict=True")
    done = run(pytester)
    done.assert_outcomes(failed=1)
    assert "inconclusive: recall_frac@1 drops 0.1: the drop is between " in done.stdout.str()
    write(pytester, "range(12)", more=more)
    done = run(pytester)
    assert "fails: recall_frac@1 drops 0.1: the drop is between " in done.stdout.str()
    write(pytester, more=", drops={'recall_any@1': 0.1}")
    assert "the baseline has no recall_any@1" in run(pytester).stdout.str()
    run(pytester, "--recallbench-update")
    run(pytester).assert_outcomes(passed=1)
    write(pytester, more=", drops={'recall': 0}")
    assert "a share above 0" in run(pytester).stdout.str()


def test_thresholds_are_those_of_the_report(pytester: pytest.Pytester) -> None:
    write(pytester, "(0, 1)", floor=0.95)
    done = run(pytester, "--recallbench-update")
    done.assert_outcomes(failed=1)
    assert "recall_frac@1 is 0.9000, 0.95 required" in done.stdout.str()
    assert not baseline(pytester).exists()


def test_a_baseline_of_other_cases_is_refused(pytester: pytest.Pytester) -> None:
    write(pytester)
    run(pytester, "--recallbench-update")
    path = pytester.path / "test_recall.py"
    text = path.read_text()
    for old, new, message in (
        ("range(20)", "range(21)", "a new case 'question 20'"),
        ("range(20)", "range(19)", "the case 'question 19', as in the baseline"),
        ('[f"d{i}"], kind', '[f"d{i}", "d"], kind', "the case 'question 0' with what was relevant then"),
        ("k=1", "k=2", "k 1, as in the baseline"),
    ):
        assert old in text
        path.write_text(text.replace(old, new))
        done = run(pytester)
        done.assert_outcomes(failed=1)
        assert message in done.stdout.str()
        assert "store the baseline anew with --recallbench-update" in done.stdout.str()
    path.write_text(text)
    baseline(pytester).write_text('{"schema_version": "1"}')
    assert "test_memory.json is not a baseline" in run(pytester).stdout.str()


def test_each_test_and_name_has_its_own_baseline(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_many="""
        import pytest
        from recallbench import Case

        CASES = [Case("q", ["a"])]

        class TestAll:
            @pytest.mark.parametrize("store", ["a/b", "a:b"])
            def test_it(self, recallbench, store):
                report = recallbench.evaluate(CASES, lambda query, k: ["a"])
                recallbench.compare(report)
                recallbench.compare(report, name="again")

        def test_twice(recallbench):
            report = recallbench.evaluate(CASES, lambda query, k: ["a"])
            recallbench.compare(report)
            recallbench.compare(report)
        """
    )
    done = run(pytester, "--recallbench-update")
    done.assert_outcomes(passed=2, failed=1)
    assert "a test compares twice under one name" in done.stdout.str()
    assert len(list((pytester.path / ".recallbench/test_many").iterdir())) == 5
    run(pytester, "-k", "test_it").assert_outcomes(passed=2)
    pytester.runpytest_subprocess("-n", "2", "-k", "test_it").assert_outcomes(passed=2)


def test_the_comparison_is_printed_on_demand(pytester: pytest.Pytester) -> None:
    write(pytester)
    run(pytester, "--recallbench-update")
    text = run(pytester, "-rP").stdout.str()
    assert "recall_frac@1: no case changed" in text
    assert "paired over 20 cases, matching: id" in text


def test_a_session_without_the_fixture_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "test_empty.py").write_text("def test_nothing():\n    pass\n")
    (tmp_path / "conftest.py").write_text(
        "import sys\ndef pytest_unconfigure():\n"
        "    assert 'recallbench.pytest_plugin' in sys.modules\n"
        "    print(sorted(set(sys.modules) & {'numpy', 'pydantic', 'scipy', 'click', 'recallbench.cases'}))\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-s",
        "-p",
        "no:xdist",
        "-p",
        "no:hypothesispytest",
        "test_empty.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("[]\n")


FEW = """
    import pytest
    from recallbench import Case, evaluate

    LEVEL = {level}
    SIZES = (1, 2, 3, 7)

    def cases(n):
        return [Case(f"question {{i}}", [f"d{{i}}", f"e{{i}}"]) for i in range(n)]

    def search(query, k):
        number = query.split()[1]
        return {{"whole": [f"d{{number}}", f"e{{number}}"], "half": [f"d{{number}}"], "none": []}}[LEVEL]

    @pytest.mark.parametrize("n", SIZES)
    @pytest.mark.parametrize("drops", [None, {{"recall": 0.4}}])
    def test_memory(recallbench, n, drops):
        recallbench.compare(recallbench.evaluate(cases(n), search, k=2), drops=drops)
"""


def write_small(pytester: pytest.Pytester, level: str) -> None:
    pytester.makepyfile(test_few=FEW.format(level=repr(level)))


@pytest.mark.parametrize("level", ["none", "half"])
def test_a_collapse_of_every_case_fails_however_few_they_are(pytester: pytest.Pytester, level: str) -> None:
    write_small(pytester, "whole")
    run(pytester, "--recallbench-update").assert_outcomes(passed=8)
    run(pytester).assert_outcomes(passed=8, warnings=0)
    write_small(pytester, level)
    done = run(pytester)
    done.assert_outcomes(failed=8)
    text = done.stdout.str()
    for message in ("in the only case", "in every one of 2 cases", "every case that could drop did, by "):
        assert message in text
    assert "no difference shown" not in text
    # An improvement neither fails nor warns, with and without an interval.
    run(pytester, "--recallbench-update")
    write_small(pytester, "whole")
    run(pytester).assert_outcomes(passed=8)


def test_an_error_of_the_retriever_shows_the_users_frames(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_raises="""
        from recallbench import Case

        def deeper():
            raise KeyError("no such index")

        def search(query, k):
            return deeper()

        def test_memory(recallbench):
            recallbench.evaluate([Case("q", ["a"])], search)
        """
    )
    text = run(pytester).stdout.str()
    assert 'raise KeyError("no such index")' in text
    assert "return deeper()" in text
    assert "the retriever raised" in text
    full = run(pytester, "--full-trace").stdout.str()
    for ours in ("caller.py", "evaluation.py", "pytest_plugin.py"):
        assert ours not in text
        assert ours in full
