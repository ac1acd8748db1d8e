"""What a latency study says in its table and in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recallbench.reports.load.conclusion import conclusion
from recallbench.reports.load.next_levels import stated_command
from recallbench.reports.load.page import page, printed
from recallbench.reports.load.tables import level_table
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.results.load.levels import LatencyDocument

QUIET = {
    "others": 0.01,
    "steal": 0.0,
    "throttled": False,
    "load_average": 0.2,
    "quiet": True,
    "words": "Quiet machine.",
}
SATURATES = "The store saturates at 2 clients with 1000 answers a second; at 700 a second (70% of that)"
TYPED = TypedCommand.read(
    ("recallbench", "latency"), ["my team", "--at", ".5", "--seconds", "1", "--rates=20"], {"--at", "--seconds"}
)
UNQUIET = QUIET | {"others": 0.4, "quiet": False, "words": "Not a quiet machine: other processes had 40%."}


def time(value: float, low: float | None, high: float | None, at_least: bool = False) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "at_least": at_least}


def level(number: int, rate: float | None, side: str = "A", **more: Any) -> dict[str, Any]:
    return {
        "level": number, "side": side, "size": 1, "stored": 272, "kind": "closed" if rate is None else "open",
        "clients": 2, "rate": rate, "utilisation": None if rate is None else rate / 1000, "arrivals": 400, "n": 400,
        "failed": 0, "skipped": 0, "seconds": 5.0, "throughput": 800.0, "busy_share": 0.7,
        "p50": time(1.0, 0.9, 1.1), "p95": time(2.0, 1.8, 2.3), "p99": time(5.0, 4.0, None), "slowest_ms": 123.4,
        "lag_p50_ms": 0.001, "lag_p99_ms": 0.02, "void": False, "why_void": "", "saturated": False, "distinct": 200,
        "most_often": 2, "machine": QUIET,
        "quality": [{"measure": "recall_any@10", "value": 0.9, "low": 0.8, "high": 1.0, "method": "t", "chance": 0.4,
                     "n": 400}],
    } | more  # fmt: skip


def study(rows: list[dict[str, Any]], **more: Any) -> LatencyDocument:
    system = {"store": "pgvector", "variant": "", "pipeline": "", "version": "1", "embedder": "minilm"}
    return LatencyDocument.model_validate(
        {
            "schema_version": "1", "recallbench_version": "1", "corpus": "locomo", "dataset_sha256": "0" * 64,
            "questions": 1982, "systems": [system | {"side": "A", "settings": {}, "evidence": {}}], "depth": 50,
            "arrivals": "poisson", "seconds": 5.0, "grace": 2.5, "most_calls": 10000, "seed": 42, "measures": "it all",
            "rules": ["a rule"], "before": QUIET, "rows": rows, "differences": [], "cold": [], "warm_up": [],
            "saturation": [
                {"side": "A", "size": 1, "clients": 2, "rate": 1000.0, "reached": True, "why_alone": ""},
            ],
            "finished": True, "why_ended": "", "environment": {"machine": {"cpu": "AMD EPYC", "cores": 2}},
        } | more
    )  # fmt: skip


def test_a_row_has_its_bounds_and_what_one_must_know() -> None:
    bad = level(
        3, 900.0, saturated=True, skipped=7, failed=1, void=True, why_void="late", machine=UNQUIET,
        p95=time(2000.0, 1500.0, None, at_least=True),
    )  # fmt: skip
    lines = level_table(study([level(1, None), level(2, 700.0), bad])).text()
    head = "loop clients utilisation n answers/s p50 ms p95 ms p99 ms slowest ms lag p99 ms recall_any@10 remarks"
    assert " ".join(lines[0].split()) == head
    assert lines[1].split("  ")[0] == "closed"
    assert "1 (0.9 to 1.1)" in lines[1]
    assert "5 (4 to –)" in lines[1]
    assert "open, 700/s" in lines[2]
    assert " 70.0% " in lines[2]
    assert "≥ 2000 (1500 to –)" in lines[3]
    assert lines[3].endswith("void; saturated; 7 skipped; 1 failed; machine not quiet")


FULL = "The store saturates at 2 clients with 1000 answers a second"
AGAIN = "recallbench latency locomo --store pgvector"
RELIED = (
    "the generator kept time (p99 lag up to 0.02 ms) and the machine was quiet: these times can be relied on; next: "
    "hold that p95 in CI: recallbench gate --latency"
)


@pytest.mark.parametrize(
    ("rows", "words", "tone"),
    [
        (
            [level(1, None), level(2, 500.0), level(3, 700.0)],
            f"{SATURATES} p95 is 2 (1.8 to 2.3) ms; {RELIED} DIR",
            "good",
        ),
        (
            [level(1, None), level(2, 700.0, void=True, why_void="the lag"), level(3, 900.0, saturated=True)],
            f"{FULL}; no p95 can be told: 700 a second is void, 900 a "
            "second is more than it answers; don't rely on all of these times: the generator lagged in 1 of 3 levels "
            f"(the lag); next: ask at 50% of the capacity: {AGAIN} --rates 500",
            "open",
        ),
        (
            [level(1, None), level(2, 20.0, void=True, why_void="the lag"), level(3, 50.0, p95=time(2.0, 1.8, None))],
            f"{FULL}; no p95 can be told: 20 a second is void and "
            "under a third of the capacity, 50 a second is under a third of the capacity; don't rely on all of these "
            "times: the generator lagged in 1 of 3 levels (the lag); next: ask at 70% of the capacity: "
            f"{AGAIN} --rates 700",
            "open",
        ),
        (
            [level(1, None), level(2, 20.0), level(3, 50.0)],
            f"{FULL}; no p95 can be told: 20, 50 a second are under "
            "a third of the capacity; so what callers wait at a usual load is not known; next: ask at 70% of the "
            f"capacity: {AGAIN} --rates 700",
            "open",
        ),
        (
            [level(1, None), level(2, 700.0, void=True, why_void="the lag", machine=UNQUIET)],
            f"{FULL}; no p95 can be told: 700 a second is void; don't rely on all of these "
            "times: the generator lagged in 1 of 2 levels (the lag), and the machine was not quiet in 1 of 2; next: "
            f"ask at 70% of the capacity on a quiet machine: {AGAIN} --rates 700 --require-quiet",
            "open",
        ),
        (
            [level(1, None), level(2, 400.0, void=True, why_void="the lag"), level(3, 700.0, saturated=True)],
            f"{FULL}; no p95 can be told: 400 a second is void, 700 "
            "a second is more than it answers; don't rely on all of these times: the generator lagged in 1 of 3 levels "
            "(the lag); next: take the times of the closed loops: no open one could be measured here",
            "open",
        ),
        (
            [level(1, None), level(2, 500.0), level(3, 700.0, void=True, why_void="the lag")],
            f"{FULL}; at 500 a second (50% of that) p95 is 2 (1.8 to 2.3) ms; don't rely on all of "
            "these times: the generator lagged in 1 of 3 levels (the lag); next: leave "
            f"out what is void: {AGAIN} --rates 500",
            "open",
        ),
        (
            [level(1, None), level(2, 700.0), level(3, 1200.0, saturated=True)],
            f"{SATURATES} p95 is 2 (1.8 to 2.3) ms; 1200 a second is more than it answers; {RELIED} DIR",
            "good",
        ),
        (
            [level(1, None), level(2, 500.0), level(3, 700.0, void=True, why_void="the lag", machine=UNQUIET)],
            f"{FULL}; at 500 a second (50% of that) p95 is 2 (1.8 "
            "to 2.3) ms; don't rely on all of these times: the generator lagged in 1 of 3 levels (the lag), and the "
            "machine was not quiet in 1 of 3; next: repeat it on a quiet "
            f"machine: {AGAIN} --require-quiet",
            "open",
        ),
        (
            [level(1, None)],
            f"{FULL}; no open loop was run: what callers wait "
            "while others ask too is not known; next: ask at rates of your users: "
            f"{AGAIN} --rates 20,50",
            "open",
        ),
    ],
)
def test_it_ends_with_what_callers_wait_and_whether_to_believe_it(
    rows: list[dict[str, Any]], words: str, tone: str
) -> None:
    concluded = conclusion(study(rows))
    assert (str(concluded), concluded.tone) == (words, tone)
    assert page(study(rows)).startswith(f"# Latency of pgvector on locomo\n\n{words}\n")


def test_what_is_printed_ends_with_it_and_has_it_once() -> None:
    shown = printed(study([level(1, None), level(2, 700.0)]), Path("o/of it"), TYPED)
    last = f"{SATURATES} p95 is 2 (1.8 to 2.3) ms; {RELIED} 'o/of it'"
    assert shown.render("text").endswith(f"report: o/of it/report.md\n\n{last}\n")
    assert shown.render("markdown").endswith(f"and `calls.jsonl` every call.\n\n**{last}**\n")
    assert [shown.render(form).count("The store saturates") for form in ("markdown", "html", "csv")] == [1, 1, 0]
    assert shown.render("json").count('"happened": "The store saturates') == 1


def test_answers_faster_than_a_round_trip_without_work_are_not_believed() -> None:
    parts = [{"name": "store call", "p50": 0.1, "p95": 0.2}]
    trips = [{"side": "A", "size": 1, "ms": [0.3, 0.4, 0.5]}]
    found = conclusion(study([level(1, None, parts=parts), level(2, 700.0)], round_trips=trips))
    assert (found.belief, found.tone) == ("these can't be the times of the store", "open")
    possible = [{"side": "A", "size": 1, "ms": [0.1, 0.05]}]
    assert conclusion(study([level(1, None, parts=parts), level(2, 700.0)], round_trips=possible)).tone == "good"


def test_of_two_systems_a_slower_one_is_named_after_correction_for_all_rates() -> None:
    def difference(rate: float, p: float) -> dict[str, Any]:
        return {
            "size": 1, "kind": "open", "clients": 2, "rate": rate, "percentile": "p95", "pairs": 10, "first": 2.0,
            "second": 3.0, "difference": 1.0, "low": 0.5, "high": 1.5, "method": "m", "p": p, "smallest_p": 0.002,
        }  # fmt: skip

    rows = [level(1, 500.0), level(2, 700.0)]
    found = conclusion(study(rows, differences=[difference(500.0, 0.03), difference(700.0, 0.02)])).happened
    slower = "B is slower: p95 of blocks 1 ms apart, p 0.040 (Holm, 2 open loops)"
    assert found.endswith(f"; at 500 a second {slower}; at 700 a second {slower}")
    alike = conclusion(study(rows, differences=[difference(500.0, 0.03), difference(700.0, 0.3)])).happened
    assert alike.endswith(
        "; in no open loop does the p95 of A and B differ at p .05 (Holm, 2 open loops); at 500 a second the interval "
        "excludes 0, yet p decides: it is corrected for 2 tests (0.0300 before), the interval for none"
    )


def test_levels_that_an_interruption_left_are_said_to_be_all() -> None:
    found = conclusion(study([level(1, 700.0)], finished=False, why_ended="interrupted", saturation=[]))
    assert found.happened == "Ended early (interrupted), the levels above are whole"
    assert (found.next, found.tone) == (f"measure the rest: {AGAIN}", "open")


def test_the_next_command_is_made_of_what_was_typed() -> None:
    rows = [level(1, None), level(2, 20.0, utilisation=0.0025)]
    fast = [{"side": "A", "size": 1, "clients": 1, "rate": 7849.0, "reached": True, "why_alone": ""}]
    asked = "--seconds 1 --rates 5500"
    found = conclusion(study(rows, saturation=fast), None, TYPED)
    assert found.next == f"ask at 70% of the capacity: recallbench latency 'my team' {asked}"


def test_of_two_systems_rates_are_held_to_the_slower_one() -> None:
    rows = [level(1, 70.0), level(2, 70.0, "B"), level(3, 20.0), level(4, 20.0, "B")]
    found = [
        {"side": side, "size": 1, "clients": 1, "rate": rate, "reached": True, "why_alone": ""}
        for side, rate in (("A", 1000.0), ("B", 100.0))
    ]
    told = conclusion(study(rows, saturation=found)).happened
    assert told.count("; at 70 a second (7% of that) p95 is 2 (1.8 to 2.3) ms") == 2


@pytest.mark.parametrize(
    ("corpus", "pipeline", "words"),
    [
        (f"labelled/team@{'0' * 64}", "", "DIR --store pgvector"),
        ("locomo", "lexical > rrf", "locomo --pipeline FILE"),
        (f"own/chats@{'0' * 64}+locomo", "", "CORPUS --store pgvector"),
    ],
)
def test_without_what_was_typed_it_names_corpus_and_system(corpus: str, pipeline: str, words: str) -> None:
    stated = study([level(1, None)], corpus=corpus)
    stated.systems[0] = stated.systems[0].model_copy(update={"pipeline": pipeline})
    assert stated_command(stated).again() == f"recallbench latency {words}"
