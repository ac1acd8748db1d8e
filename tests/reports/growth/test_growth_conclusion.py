"""How a growing store is concluded."""

from __future__ import annotations

from typing import Any

import pytest

from recallbench.reports.comparison import DifferencePart
from recallbench.reports.growth.conclusion import conclusion
from recallbench.reports.growth.document import Growth, Size
from recallbench.reports.growth.words import notes
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.results.metrics import EstimatePart

TYPED = TypedCommand.read(
    ("recallbench", "grow"), ["my team", "--factors=1,5", "--plot", "a.svg", "-q"], {"--factors", "--plot"}
)
UNDER_LOAD = "next: recallbench latency 'my team' -q --sizes 1,5"
GROW = "recallbench grow 'my team' --factors=1,5 --plot a.svg -q"


def size(factor: int, value: float, p95: float | None, queries: int = 158, **more: str) -> Size:
    estimate = EstimatePart(
        measure="recall_any@10", value=value, n=158, low=None, high=None, method="t(9)", chance=0.4, ceiling=1.0,
        saturated=0.0, ordered=False, design_effect=None,
    )  # fmt: skip
    return Size(factor, 100 * factor, 30 * factor, (estimate,), p95, p95, queries, 1.0, (), **more)


def change(difference: float, p: float, **more: Any) -> DifferencePart:
    return DifferencePart.model_validate(
        {
            "measure": "recall_any@10", "difference": difference, "low": difference - 0.02, "high": difference + 0.02,
            "method": "t(9)", "p": p, "p_holm": None, "smallest_p": 0.002, "test": "", "n": 158, "clusters": 10,
            "wins": 1, "ties": 150, "losses": 7, "detectable": 0.03, "least": None, "most": None,
        } | more
    )  # fmt: skip


def growth(
    *sizes: Size, left_out: tuple[int, ...] = (), changed: DifferencePart | None = None, room: int = 5
) -> Growth:
    return Growth("locomo", "bm25", "1", "no embedder", 42, "it", "id", 0, 9, 0, room, left_out, sizes, changed)


SMALL, LARGE = size(1, 0.9, 2.0), size(5, 0.85, 7.25)


@pytest.mark.parametrize(
    ("grown", "text", "tone"),
    [
        (
            growth(SMALL, LARGE, changed=change(-0.05, 0.004)),
            "recall_any@10 falls from 1x to 5x: -0.0500 (-0.0700 to -0.0300), 158 questions, p 0.0040; p95 goes from 2 "
            f"to 7.25 ms; the change is shown; {UNDER_LOAD}",
            "good",
        ),
        (
            growth(SMALL, size(5, 0.91, 1.0), left_out=(10,), changed=change(0.01, 0.3)),
            "recall_any@10 rises from 1x to 5x: +0.0100 (-0.0100 to +0.0300), 158 questions, p 0.3000; p95 goes from 2 "
            f"to 1 ms; the change is not shown; next: {GROW} --distractors FILE",
            "open",
        ),
        (
            growth(SMALL, size(5, 0.91, 1.0), left_out=(10, 20), changed=change(0.01, 0.003)),
            "recall_any@10 rises from 1x to 5x: +0.0100 (-0.0100 to +0.0300), 158 questions, p 0.0030; p95 goes from 2 "
            "to 1 ms; the interval includes 0, yet p decides: it presumes no distribution; next: ask more questions",
            "open",
        ),
        (
            growth(SMALL, size(5, 0.91, 1.0), left_out=(10, 20), changed=change(0.03, 0.003)),
            "recall_any@10 rises from 1x to 5x: +0.0300 (+0.0100 to +0.0500), 158 questions, p 0.0030; p95 goes from 2 "
            "to 1 ms; the change is shown; next: "
            f"{GROW} --distractors FILE",
            "open",
        ),
        (
            growth(SMALL, size(5, 0.9, None, disturbed="x"), changed=change(0.0, 1.0, low=None, smallest_p=0.5)),
            "recall_any@10 is 0.9000 at 5x as at 1x, 158 questions; the machine was busy, so don't rely on the times; "
            f"next: {GROW} --require-quiet",
            "open",
        ),
        (
            growth(SMALL, size(5, 0.9, None), changed=change(-0.01, 1.0, low=None, smallest_p=0.5)),
            "recall_any@10 falls from 1x to 5x: -0.0100, 158 questions, p 1.0000; no time was taken; 10 clusters are "
            f"too few to show any change; {UNDER_LOAD}",
            "good",
        ),
        (
            growth(SMALL, size(5, 0.9, 1.0, impossible="x"), changed=change(0.0, 1.0, wins=0, losses=0)),
            "recall_any@10 stays at 0.9000 up to 5x, for each of 158 questions; the times at 5x can't be the store's; "
            f"{UNDER_LOAD}",
            "open",
        ),
        (
            growth(SMALL, LARGE, changed=change(-0.05, 0.06)),
            "recall_any@10 falls from 1x to 5x: -0.0500 (-0.0700 to -0.0300), 158 questions, p 0.0600; p95 goes from 2 "
            "to 7.25 ms; the interval excludes 0, yet p decides: it presumes no distribution; next: ask more questions",
            "good",
        ),
        (
            growth(size(1, 0.9, 2.0, 58), LARGE),
            f"No question counts, so that recall_any@10 has no value; p95 goes from 2 to 7.25 ms; {UNDER_LOAD}",
            "good",
        ),
        (
            growth(SMALL),
            "recall_any@10 is 0.9000 at 1x; one size tells nothing of growth; next: recallbench grow 'my "
            "team' --plot a.svg -q --factors 1,2,5",
            "open",
        ),
        (
            growth(SMALL, room=4),
            "recall_any@10 is 0.9000 at 1x; one size tells nothing of growth; next: recallbench grow 'my team' --plot "
            "a.svg -q --factors 1,2",
            "open",
        ),
        (
            growth(SMALL, left_out=(2,), room=1),
            f"recall_any@10 is 0.9000 at 1x; one size tells nothing of growth; next: {GROW} --distractors FILE",
            "open",
        ),
    ],
)
def test_sizes_end_with_how_far_recall_falls_and_p95_grows(grown: Growth, text: str, tone: str) -> None:
    concluded = conclusion(grown, TYPED)
    assert (str(concluded), concluded.tone) == (text, tone)


@pytest.mark.parametrize(("p", "more"), [(0.004, {}), (0.06, {}), (0.3, {"disturbed": "x"})])
def test_the_line_stays_short(p: float, more: dict[str, str]) -> None:
    """The longest names of a corpus, a measure and figures."""
    changed = change(-0.05, p, n=1982, measure="recall_frac@10")
    typed = TypedCommand(("recallbench", "grow"), (("canary-longmemeval",), ("--store", "pgvector")))
    for left_out in ((), (20, 50)):
        grown = growth(size(1, 0.9, 123.4), size(10, 0.85, 234.5, **more), changed=changed, left_out=left_out)
        told = conclusion(grown, typed)
        assert len(str(told)) <= 220, str(told)


def test_what_so_few_questions_can_not_tell_stands_below_the_table() -> None:
    told = notes(growth(size(1, 0.9, 2.0, 58), LARGE, changed=change(-0.05, 0.06)))
    assert told[-2:] == [
        "A p95 of 58 queries has no upper bound: that takes 59.",
        "A change of 0.0300 would be found four times in five.",
    ]
    assert notes(growth(SMALL, LARGE, changed=change(-0.05, 0.004)))[-1].startswith("Chance is that of ")
