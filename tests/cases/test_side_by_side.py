"""Several retrievers compared in one call: standings, letters, parameters, and what can't share a table."""

from __future__ import annotations

import asyncio
import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import recallbench
from recallbench import Case
from recallbench.errors import InputError, UsageError

CASES = [Case(f"q{n}", [f"d{n}"]) for n in range(40)]


def at_place(place: int, misses: int = 0) -> Callable[[str, int], list[str]]:
    """Return a retriever that has the relevant id at a place, and not at all in the first `misses` cases."""

    def retrieve(query: str, k: int) -> list[str]:
        number = int(query[1:])
        ids = ["x", "y", "z"]
        if number >= misses:
            ids.insert(place - 1, f"d{number}")
        return ids[:k]

    return retrieve


SEVERAL = {"far": at_place(3), "lost": at_place(1, misses=20), "near": at_place(1)}


def test_a_dictionary_of_retrievers_is_compared_in_one_call() -> None:
    several = recallbench.evaluate(CASES, SEVERAL, k=3, params={"near": {"alpha": 0.3}, "far": {"alpha": 0.5}})
    # By recall_frac@3 far and near find all, lost half: 20 losses of 40, exact signs, are beyond doubt.
    assert several.letters == {"far": "a", "near": "a", "lost": "b"}
    assert (list(several), len(several), several.best) == (["far", "lost", "near"], 3, "far")
    assert (several["lost"].recall, several["far"].mrr, several["near"].params) == (0.5, 1 / 3, {"alpha": 0.3})
    rows = [line.split()[:3] for line in str(several).splitlines()[2:6]]
    assert [(row[0], row[1]) for row in rows] == [
        ("far", "1.0000"), ("near", "1.0000"), ("lost", "0.5000"), ("ceiling", "1.0000"),
    ]  # fmt: skip
    assert several.table().columns[-2:] == ["p95 ms", "alpha"]
    assert [row[-1] for row in several.table().rows] == ["0.5", "0.3", "–", ""]
    assert [standing.p95_ms for standing in several.standings.standings] == [
        several[name].latency_p95_ms for name in several.letters
    ]
    assert "p95 ms is that of the calls: the nearest rank, unless a report was made by another rule." in repr(several)


def test_a_notebook_shows_the_table_and_the_plot() -> None:
    several = recallbench.evaluate(CASES, {"<b>": at_place(1), "far": at_place(3)}, k=3)
    markup = several._repr_html_()
    assert '<th scope="row">&lt;b&gt;</th>' in markup
    assert "<b>" not in markup
    assert '<img alt="recall_frac@3: ' in markup
    assert several.plot()._repr_svg_().startswith("<?xml")


def test_the_same_from_within_an_event_loop() -> None:
    several = asyncio.run(recallbench.evaluate_async(CASES, SEVERAL, k=3))
    assert several.letters == {"far": "a", "near": "a", "lost": "b"}


def test_chance_is_shown_where_it_is_known() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unknown = recallbench.evaluate(CASES, SEVERAL, k=3)
        known = recallbench.evaluate(CASES, SEVERAL, k=3, candidates=30)
    assert [control.name for control in unknown.standings.controls] == ["ceiling"]
    assert [(control.name, control.values[0]) for control in known.standings.controls] == [
        ("ceiling", 1.0), ("chance", pytest.approx(0.1)),
    ]  # fmt: skip


def test_texts_decide_for_several_too() -> None:
    cases = [Case("when?", expected="the ferry leaves at nine"), Case("where?", expected="from portland")]
    texts = {"a": "the ferry leaves at nine", "b": "from portland", "c": "nothing of it"}
    several = recallbench.evaluate(
        cases, {"both": lambda query, k: ["a", "b"], "none": lambda query, k: ["c"]}, k=2, match="exact", texts=texts
    )
    assert [(name, report.recall) for name, report in several.items()] == [("both", 1.0), ("none", 0.0)]
    assert [standing.name for standing in several.standings.standings] == ["both", "none"]


def test_a_failure_names_its_retriever() -> None:
    def broken(query: str, k: int) -> list[str]:
        raise RuntimeError("no connection")

    with pytest.raises(InputError, match="broken: case `q0`: the retriever raised") as caught:
        recallbench.evaluate(CASES, {"near": at_place(1), "broken": broken})
    assert isinstance(caught.value.__cause__, RuntimeError)
    kept = recallbench.evaluate(CASES, {"near": at_place(1), "broken": broken}, keep_going=True)
    assert "broken: 40 of 40 failed, which count as empty rankings" in str(kept)
    assert kept["broken"].latency_p95_ms is None


@pytest.mark.parametrize(
    ("retrieve", "more", "message"),
    [
        ({}, {}, "retrieve names nothing"),
        ({" ": at_place(1)}, {}, "retrieve names nothing"),
        ({"a": "found"}, {}, "retrieve 'a' is a function"),
        ({1: at_place(1)}, {}, "retrieve 1 is a function"),
        ({"a": at_place(1)}, {"params": {"alpha": 0.3}}, "params of several retrievers are by their names"),
        ({"a": at_place(1)}, {"params": {"a": 0.3}}, "params are values by name"),
    ],
)
def test_what_makes_no_sense_is_refused(retrieve: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        recallbench.evaluate(CASES, retrieve, 3, **more)


def test_a_single_one_needs_no_test() -> None:
    alone = recallbench.evaluate(CASES, {"near": at_place(1)}, k=3)
    assert alone.standings.tests == 0
    assert "group" not in alone.table().columns
    assert not math.isnan(alone["near"].recall)
