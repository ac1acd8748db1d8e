"""The fixture `recallbench`: a memory measured in a test, and held to what it could do before.

    from recallbench import Case

    def test_memory(recallbench):
        report = recallbench.evaluate([Case("where does acme ship from?", ["d7"])], my_memory.search, k=10)
        report.check(recall=0.7)      # absolute
        recallbench.compare(report)   # against the stored baseline, case by case

`pytest --recallbench-update` stores the baselines, in `.recallbench` beside the test file: commit them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# Nothing heavy is imported here: pytest loads this for every project that has RecallBench installed.
if TYPE_CHECKING:
    from recallbench.evaluation.case import Case
    from recallbench.evaluation.change import Change
    from recallbench.evaluation.evaluation import Retriever
    from recallbench.evaluation.report import Report

FOLDER = ".recallbench"
UPDATE = "--recallbench-update"
STORED = "recallbench_stored"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the one option."""
    group = parser.getgroup("recallbench", "retrieval measured in tests")
    group.addoption(UPDATE, action="store_true", help="store what recallbench.compare() is given as the baseline")


class Bench:
    """What a test is handed; `evaluate` is `recallbench.evaluate`."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._named: set[str] = set()

    def evaluate(self, cases: Iterable[Case], retrieve: Retriever, k: int = 10, **options: Any) -> Report:
        """Ask `retrieve(query, k)` each case and score what comes back; the options are those of the function."""
        import recallbench

        return recallbench.evaluate(cases, retrieve, k, **options)

    def compare(
        self,
        report: Report,
        *,
        drops: Mapping[str, float] | None = None,
        strict: bool = False,
        name: str = "",
    ) -> Change | None:
        """Hold the report to the stored baseline, case by case; the test fails where it fell.

        `drops={"recall_frac@10": 0.01}` fails on a proven drop of that much, with `strict` also on one that so few
        cases can't exclude. Without, a measure fails that fell at a corrected p of .05 or less. `name` tells several
        comparisons of one test apart. With --recallbench-update the report becomes the baseline; None then.
        """
        from recallbench.errors import UsageError
        from recallbench.evaluation import baseline

        if name in self._named:
            raise UsageError(
                "a test compares twice under one name", expected="compare(report, name=…)", found=repr(name)
            )
        self._named.add(name)
        path = self.path(name)
        more = [one.measure for one in baseline.conditions_of(report, drops)]
        if self._item.config.getoption(UPDATE):
            changed = baseline.write(baseline.baseline_of(report, more), path)
            self._item.user_properties.append((STORED, f"{path.name}: {'stored' if changed else 'the same already'}"))
            return None
        if not path.is_file():
            pytest.fail(
                f"no baseline is stored for this test ({path.parent.name}/{path.name})\n"
                f"  what to do: pytest {UPDATE} {self._item.nodeid!r}, and commit the file",
                pytrace=False,
            )
        change = baseline.against(report, baseline.read(path), drops, strict=strict)
        self._item.add_report_section("call", "recallbench", "\n".join(change.said()))
        return change

    def path(self, name: str = "") -> Path:
        """Where the baseline lies: `.recallbench` beside the test file."""
        # The file's own name tells its tests from those of its neighbours.
        return self._item.path.parent / FOLDER / self._item.path.stem / f"{_word(self._place(name))}.json"

    def _place(self, name: str) -> str:
        inside = self._item.nodeid.partition("::")[2]
        return f"{inside}::{name}" if name else inside


def _word(text: str) -> str:
    """A file name that tells any two tests apart: what a path can't carry is a dash, and a hash says what it was."""
    import hashlib
    import re

    plain = re.sub(r"[^A-Za-z0-9.+_-]+", "-", text).strip("-.")[:80]
    return plain if plain == text else f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


@pytest.fixture
def recallbench(request: pytest.FixtureRequest) -> Bench:
    """A memory measured and held to its baseline: `evaluate(cases, retrieve, k=10)`, `compare(report)`."""
    return Bench(request.node)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which baselines were stored."""
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    told = [
        f"{report.nodeid}: {value}"
        for report in reports
        if getattr(report, "when", "") == "call"
        for key, value in report.user_properties
        if key == STORED
    ]
    if told:
        terminalreporter.section("recallbench baselines")
        for line in told:
            terminalreporter.line(line)
