"""The fixture `recallbench`: a memory measured in a test, and compared with its stored baseline.

    from recallbench import Case

    def test_memory(recallbench):
        report = recallbench.evaluate([Case("where does acme ship from?", ["d7"])], my_memory.search, k=10)
        report.check(recall=0.7)      # absolute
        recallbench.compare(report)   # against the stored baseline, case by case

`pytest --recallbench-update` stores the baselines, in `.recallbench` beside the test file: commit them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pytest

# Nothing heavy is imported here: pytest loads this for every project that has RecallBench installed.
if TYPE_CHECKING:
    from recallbench.cases.baseline import BaselineChange
    from recallbench.cases.case import Case
    from recallbench.cases.report import Report
    from recallbench.cases.signature import Retriever

FOLDER = ".recallbench"
UPDATE = "--recallbench-update"
STORED = "recallbench_stored"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the one option."""
    group = parser.getgroup("recallbench", "retrieval measured in tests")
    group.addoption(UPDATE, action="store_true", help="store what recallbench.compare() is given as the baseline")


class Inconclusive(pytest.PytestWarning):
    """A fall that so few cases can't decide."""


class Bench:
    """The value of the fixture; `evaluate` is `recallbench.evaluate`."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._named: set[str] = set()

    def evaluate(self, cases: Iterable[Case], retrieve: Retriever, k: int = 10, **options: Any) -> Report:
        """Ask `retrieve(query, k)` each case and score what comes back; the options are those of the function."""
        __tracebackhide__ = True
        import recallbench

        try:
            return recallbench.evaluate(cases, retrieve, k, **options)
        except Exception as error:
            self._show(error)
            raise

    def compare(
        self,
        report: Report,
        *,
        drops: Mapping[str, float] | None = None,
        strict: bool = False,
        name: str = "",
    ) -> BaselineChange | None:
        """Compare the report with the stored baseline, case by case; the test fails where it fell.

        A measure fails that fell at a corrected p of .05 or less, that fell in every case, or, where so few cases can't
        reach that p, whose interval lies below zero. `drops={"recall_frac@10": 0.01}` fails instead on a proven drop of
        that much. An inconclusive fall is a warning, and with `strict` fails too. `name` is for several comparisons in
        one test. With --recallbench-update the report becomes the baseline; None then.
        """
        __tracebackhide__ = True
        from recallbench.cases import baseline
        from recallbench.errors import RecallBenchError, UsageError

        if name in self._named:
            raise UsageError(
                "a test compares twice under one name", expected="compare(report, name=…)", found=repr(name)
            )
        self._named.add(name)
        path = self.path(name)
        more = [condition.measure for condition in baseline.conditions_of(report, drops)]
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
        try:
            change = baseline.compare(report, baseline.read(path), drops, strict=strict)
        except RecallBenchError as error:
            self._show(error)
            raise
        self._item.add_report_section("call", "recallbench", "\n".join(change.sentences()))
        for doubt in change.inconclusive:
            text = f"inconclusive, so few cases can't tell whether it fell: {doubt}; more cases, or strict=True to fail"
            warnings.warn(Inconclusive(text), stacklevel=2)
        return change

    def path(self, name: str = "") -> Path:
        """Return the path of the baseline: `.recallbench` beside the test file."""
        # The file's own name tells its tests from those of its neighbours.
        return self._item.path.parent / FOLDER / self._item.path.stem / f"{_word(self._place(name))}.json"

    def _show(self, error: BaseException) -> None:
        """Leave only the user's frames, also in the cause; pytest's --full-trace keeps all."""
        link: BaseException | None = error
        while link is not None and not self._item.config.getoption("fulltrace"):
            link.__traceback__ = _theirs(link)
            link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)

    def _place(self, name: str) -> str:
        inside = self._item.nodeid.partition("::")[2]
        return f"{inside}::{name}" if name else inside


def _theirs(error: BaseException) -> TracebackType | None:
    """The traceback without our frames; those below the user's last one stay, unless the error is meant for users."""
    from recallbench.errors import RecallBenchError

    frames: list[TracebackType] = []
    place = error.__traceback__
    while place is not None:
        frames.append(place)
        place = place.tb_next
    own = str(Path(__file__).parent)
    ours = [Path(frame.tb_frame.f_code.co_filename).is_relative_to(own) for frame in frames]
    last = max((i for i, is_ours in enumerate(ours) if not is_ours), default=-1)
    traceback: TracebackType | None = None
    for i in reversed(range(len(frames))):
        if not ours[i] or (i > last and not isinstance(error, RecallBenchError)):
            traceback = TracebackType(traceback, frames[i].tb_frame, frames[i].tb_lasti, frames[i].tb_lineno)
    return traceback


def _word(text: str) -> str:
    """Return a file name, different for any two tests: dashes for characters that a path can't carry, and a hash."""
    import hashlib
    import re

    plain = re.sub(r"[^A-Za-z0-9.+_-]+", "-", text).strip("-.")[:80]
    return plain if plain == text else f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


@pytest.fixture
def recallbench(request: pytest.FixtureRequest) -> Bench:
    """A memory measured and compared with its baseline: `evaluate(cases, retrieve, k=10)`, `compare(report)`."""
    return Bench(request.node)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which baselines were stored."""
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    lines = [
        f"{report.nodeid}: {value}"
        for report in reports
        if getattr(report, "when", "") == "call"
        for key, value in report.user_properties
        if key == STORED
    ]
    if lines:
        terminalreporter.section("recallbench baselines")
        for line in lines:
            terminalreporter.line(line)
