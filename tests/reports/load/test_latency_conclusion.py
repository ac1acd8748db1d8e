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
FULL = "The store saturates at 1000 answers a second (2 clients)"
SATURATES = f"{FULL}; at 700 a second"
LONGEST = 220
"""Characters of a last line."""
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
    sides = sorted({"A", *(part["side"] for part in (*rows, *more.get("saturation", [])))})
    return LatencyDocument.model_validate(
        {
            "schema_version": "1", "recallbench_version": "1", "corpus": "locomo", "dataset_sha256": "0" * 64,
            "questions": 1982, "systems": [system | {"side": side, "settings": {}, "evidence": {}} for side in sides],
            "depth": 50,
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


AGAIN = "recallbench latency locomo --store pgvector"
RELIED = "nothing disturbed these times; next: hold it in CI: recallbench gate --latency"
LAGGED = {"void": True, "why_void": "the lag"}


@pytest.mark.parametrize(
    ("rows", "words", "tone"),
    [
        (
            [level(1, None), level(2, 500.0), level(3, 700.0)],
            f"{SATURATES} p95 is 2 (1.8 to 2.3) ms; {RELIED} DIR",
            "good",
        ),
        (
            [level(1, None), level(2, 700.0, **LAGGED), level(3, 900.0, saturated=True)],
            f"{FULL}; no p95 can be told: every rate is void or more than it answers; next: ask at 50% of it: {AGAIN} "
            "--rates 500",
            "open",
        ),
        (
            [level(1, None), level(2, 20.0, **LAGGED), level(3, 50.0, p95=time(2.0, 1.8, None))],
            f"{FULL}; no p95 can be told: every rate is void or under a third of the capacity; next: ask at 70% of it: "
            f"{AGAIN} --rates 700",
            "open",
        ),
        (
            [level(1, None), level(2, 20.0, **LAGGED)],
            f"{FULL}; no p95 can be told: 20 a second is void and under a third of the capacity; next: ask at 70% of "
            f"it: {AGAIN} --rates 700",
            "open",
        ),
        (
            [level(1, None), level(2, 700.0, machine=UNQUIET, **LAGGED)],
            f"{FULL}; no p95 can be told: 700 a second is void; next: ask at 70% of it: {AGAIN} --rates 700 "
            "--require-quiet",
            "open",
        ),
        (
            [level(1, None), level(2, 400.0, **LAGGED), level(3, 700.0, saturated=True)],
            f"{FULL}; no p95 can be told: every rate is void or more than it answers; next: take the times of the "
            "closed loops",
            "open",
        ),
        (
            [level(1, None), level(2, 500.0), level(3, 700.0, **LAGGED)],
            f"{FULL}; at 500 a second p95 is 2 (1.8 to 2.3) ms; 1 of 3 levels is void; next: leave out what is void: "
            f"{AGAIN} --rates 500",
            "open",
        ),
        (
            [level(1, None), level(2, 500.0), level(3, 700.0, machine=UNQUIET, **LAGGED)],
            f"{FULL}; the machine was busy, so don't rely on the times; next: {AGAIN} --require-quiet",
            "open",
        ),
        (
            [level(1, None)],
            f"{FULL}; what callers wait while others ask too is not known; next: ask at your users' rates: {AGAIN} "
            "--rates 20,50",
            "open",
        ),
    ],
)
def test_it_ends_with_what_callers_wait_and_whether_to_believe_it(
    rows: list[dict[str, Any]], words: str, tone: str
) -> None:
    concluded = conclusion(study(rows))
    assert (str(concluded), concluded.tone) == (words, tone)
    assert len(words) <= LONGEST
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
    assert (str(found), found.tone) == (
        f"{SATURATES} p95 is 2 (1.8 to 2.3) ms; answers come faster than a round trip without work; next: look whether "
        "they are kept in this process",
        "open",
    )
    possible = [{"side": "A", "size": 1, "ms": [0.1, 0.05]}]
    assert conclusion(study([level(1, None, parts=parts), level(2, 700.0)], round_trips=possible)).tone == "good"


def difference(rate: float, p: float, by: float = 1.0) -> dict[str, Any]:
    return {
        "size": 1, "kind": "open", "clients": 2, "rate": rate, "percentile": "p95", "pairs": 10, "first": 2.0,
        "second": 3.0, "difference": by, "low": by - 0.5, "high": by + 0.5, "method": "m", "p": p, "smallest_p": 0.002,
    }  # fmt: skip


def saturated(side: str = "A", value: float = 1000.0, **more: Any) -> dict[str, Any]:
    return {"side": side, "size": 1, "clients": 1, "rate": value, "reached": True, "why_alone": ""} | more


TWO = [saturated(), saturated("B", 3000.0)]
BOTH = "A gives 1000 answers a second, B 3000"
HOLD = "next: hold it in CI: recallbench gate --latency DIR"


@pytest.mark.parametrize(
    ("differences", "words"),
    [
        (
            [difference(500.0, 0.02), difference(700.0, 0.01)],
            f"{BOTH}; B is slower at 700 a second: p95 by 1 (0.5 to 1.5) ms, p 0.020 (Holm); nothing disturbed these "
            f"times; {HOLD}",
        ),
        (
            [difference(500.0, 0.01), difference(700.0, 0.02, -2.0)],
            f"{BOTH}; A is slower at 700 a second and faster at another: p95 by 2 (1.5 to 2.5) ms, p 0.020 (Holm); "
            f"nothing disturbed these times; {HOLD}",
        ),
        (
            [difference(500.0, 0.03), difference(700.0, 0.3)],
            f"{BOTH}; their p95 is not shown to differ; at 500 a second the interval excludes 0, yet p "
            f"decides: it is corrected for 2 tests; {HOLD}",
        ),
        (
            [difference(500.0, 0.6, 0.25)],
            f"{BOTH}; their p95 is not shown to differ; nothing disturbed these times; {HOLD}",
        ),
    ],
)
def test_of_two_systems_a_slower_one_is_named_after_correction_for_all_rates(
    differences: list[dict[str, Any]], words: str
) -> None:
    rows = [level(1, 500.0), level(2, 700.0), level(3, 2000.0, "B")]
    found = str(conclusion(study(rows, differences=differences, saturation=TWO)))
    assert found == words
    assert len(words) <= LONGEST


def test_of_several_sizes_the_largest_is_told() -> None:
    sizes = [saturated(), saturated(value=400.0, size=5, reached=False)]
    rows = [level(1, 700.0), level(2, 280.0, size=5, utilisation=0.7, p95=time(9.0, 8.0, 10.0))]
    assert conclusion(study(rows, saturation=sizes)).happened == (
        "At 5x the store gives 400 answers a second to 1 client, at 1x 1000; at 280 a second p95 is 9 (8 to 10) ms"
    )
    both = [*sizes, saturated("B", 3000.0), saturated("B", 800.0, size=5)]
    told = conclusion(study([*rows, level(3, 700.0, "B"), level(4, 280.0, "B", size=5)], saturation=both))
    assert told.happened == "At 5x A gives 400 answers a second, B 800"


@pytest.mark.parametrize(
    ("changed", "differences"),
    [
        ({}, [difference(12345.0, 0.001, -123.4), difference(22345.0, 0.001, -123.4)]),
        ({}, [difference(12345.0, 0.03), difference(22345.0, 0.3)]),
        ({"machine": UNQUIET}, []),
        ({"saturated": True}, []),
    ],
)
def test_the_line_stays_short(changed: dict[str, Any], differences: list[dict[str, Any]]) -> None:
    """Two systems with the longest names and large figures."""
    waited = time(1234.0, 1230.0, 1240.0)
    rows = [level(n, value, side, p95=waited, **changed) for n, (value, side) in enumerate(
        [(12345.0, "A"), (12345.0, "B"), (22345.0, "A"), (22345.0, "B")]
    )]  # fmt: skip
    found = [saturated(value=34567.0, clients=16), saturated("B", 33333.0, clients=16)]
    typed = TypedCommand(
        ("recallbench", "latency"), (("canary-longmemeval",), ("--store", "pgvector"), ("--against", "pgmnemo"))
    )
    for systems, shown in ((found, differences), (found[:1], [])):
        told = conclusion(study(rows, saturation=systems, differences=shown), Path("load"), typed)
        assert len(str(told)) <= LONGEST, str(told)


def test_levels_that_an_interruption_left_are_said_to_be_all() -> None:
    found = conclusion(study([level(1, 700.0)], finished=False, why_ended="interrupted", saturation=[]))
    assert str(found) == (
        f"Ended early (interrupted); what was measured until then is whole; next: measure the rest: {AGAIN}"
    )
    assert found.tone == "open"


def test_a_server_that_takes_no_more_clients_is_said_to() -> None:
    why = "the server takes no 8 of them: too many clients"
    few = [{"side": "A", "size": 1, "clients": 4, "rate": 9.0, "reached": False, "why_alone": "", "why_no_more": why}]
    found = conclusion(study([level(1, None)], saturation=few))
    assert found.happened == f"The store gives 9 answers a second to 4 clients, {why}"


def test_the_next_command_is_made_of_what_was_typed() -> None:
    rows = [level(1, None), level(2, 20.0, utilisation=0.0025)]
    asked = "--seconds 1 --rates 5500"
    found = conclusion(study(rows, saturation=[saturated(value=7849.0)]), None, TYPED)
    assert found.next == f"ask at 70% of it: recallbench latency 'my team' {asked}"


def test_of_two_systems_rates_are_held_to_the_slower_one() -> None:
    rows = [level(1, 70.0), level(2, 70.0, "B"), level(3, 20.0), level(4, 20.0, "B")]
    found = conclusion(study(rows, saturation=[saturated(), saturated("B", 100.0)]))
    assert str(found) == (f"A gives 1000 answers a second, B 100; nothing disturbed these times; {HOLD}")


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
