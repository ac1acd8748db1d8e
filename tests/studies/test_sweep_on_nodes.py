"""A worker that is asked about a point again, after another worker was."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from recallbench.runs.options import Options
from recallbench.runs.plan import plan_run
from recallbench.scoring.measures.registry import parse
from recallbench.studies.sweep import on_nodes
from recallbench.studies.sweep.kept import Answers
from recallbench.studies.sweep.measuring import PointOutcome
from recallbench.studies.sweep.on_nodes import MOST_OPEN, AskedPoint, OpenedPoints, PointJob
from recallbench.studies.sweep.points import SweepPoint


class StubMeasuring:
    """Answers a question by its place; a system that is open holds on to the answers it was opened with."""

    def __init__(self, *_: Any) -> None:
        self.open: dict[str, Answers] = {}
        self.opened: list[str] = []

    def join(self, points: Sequence[SweepPoint]) -> list[PointOutcome]:
        return [PointOutcome(point, point.name) for point in points]

    def ask(self, outcome: PointOutcome, places: Sequence[int]) -> None:
        if outcome.address not in self.open:
            self.open[outcome.address] = outcome.answers or Answers("1")
            self.opened.append(outcome.address)
        outcome.answers = self.open[outcome.address]
        outcome.answers.deep |= {str(place): (place,) for place in places}

    def end(self, outcome: PointOutcome) -> None:
        self.open.pop(outcome.address, None)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> OpenedPoints:
    monkeypatch.setattr(on_nodes, "Measuring", StubMeasuring)
    monkeypatch.setattr(on_nodes, "open_questions", lambda *_: None)
    monkeypatch.setattr(on_nodes, "_facts", lambda _: {})
    plan = plan_run(Options("canary-locomo", store="bm25"))
    return OpenedPoints(PointJob((plan,), "sweep", 1, date(2026, 1, 1)), [plan])


def asked(address: str, places: tuple[int, ...], answers: Answers | None = None, *, last: bool = False) -> AskedPoint:
    plan = plan_run(Options("canary-locomo", store="bm25", cache_dir=Path("cache")))
    return AskedPoint(address, SweepPoint(address, {}, plan, parse("recall_any@5")), places, answers, last)


def test_what_another_worker_asked_meanwhile_is_not_lost(worker: OpenedPoints) -> None:
    worker.do(asked("a", (1,)))
    of_another = Answers("1", {"1": (1,), "2": (2,)})
    came = worker.do(asked("a", (3,), of_another)).answers
    assert came is not None
    assert sorted(came.deep) == ["1", "2", "3"]
    # Its own answers come back with the next question: its system stays open for them.
    worker.do(asked("a", (4,), Answers("1", dict(came.deep))))
    assert worker._measuring.opened == ["a", "a"]  # type: ignore[attr-defined]


def test_no_more_systems_than_that_stay_open_and_those_are_the_last_used(worker: OpenedPoints) -> None:
    names = [f"p{number}" for number in range(MOST_OPEN + 1)]
    for _ in range(2):
        for name in names:
            worker.do(asked(name, (1,)))
            assert len(worker._measuring.open) <= MOST_OPEN  # type: ignore[attr-defined]
    worker.do(asked("p5", (2,)))
    worker.do(asked("p0", (2,)))
    worker.do(asked("p1", (2,)))
    assert {"p5", "p0", "p1"} <= worker._measuring.open.keys()  # type: ignore[attr-defined]
    assert "p2" not in worker._measuring.open  # type: ignore[attr-defined]
    worker.do(asked("p5", (3,), last=True))
    assert "p5" not in worker._measuring.open  # type: ignore[attr-defined]
