"""`recallbench gate` on the p95 at a rate of questions, by the study of `recallbench latency`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gated_runs import gate, refused, write

from recallbench.results import manifest

AT_LOAD = 'p95_at_load = { rate = 50, ms = 20 }\nlatency = "study"\n'
QUIET = {"others": 0.0, "steal": 0.0, "throttled": None, "load_average": 0.1, "quiet": True, "words": "Quiet machine."}


def times(value: float | None, high: float | None, *, at_least: bool = False) -> dict[str, Any]:
    return {"value": value, "low": value and value / 2, "high": high, "at_least": at_least}


def level(rate: float, p95: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "side": "A", "size": 1, "stored": 103, "kind": "open", "clients": 4, "rate": rate, "utilisation": 0.5,
        "arrivals": 400, "n": 400, "failed": 0, "skipped": 0, "seconds": 8.0, "throughput": rate, "busy_share": 0.5,
        "p50": times(1.0, 2.0), "p95": p95, "p99": times(9.0, None), "slowest_ms": 9.5, "lag_p50_ms": 0.01,
        "lag_p99_ms": 0.02, "void": False, "why_void": "", "saturated": False, "distinct": 158, "most_often": 3,
        "quality": [], "machine": QUIET,
    } | more  # fmt: skip


def study(result: Path, *levels: dict[str, Any], **other: Any) -> None:
    """Write a study of the very system that made the result, but for what is said otherwise."""
    metrics, environment = (json.loads((result / f"{name}.json").read_text()) for name in ("metrics", "environment"))
    system = {
        "side": "A", "store": metrics["store"]["name"], "variant": "", "pipeline": "",
        "version": metrics["store"]["version"], "embedder": None, "settings": metrics["guc_state"], "evidence": {},
    }  # fmt: skip
    rows = [{"level": number, **each} for number, each in enumerate(levels)]
    document = {
        "schema_version": "1", "recallbench_version": "0.1.0", "corpus": "canary-locomo",
        "dataset_sha256": metrics["corpus"]["sha256"], "questions": 158, "systems": [system], "depth": 50,
        "arrivals": "poisson", "seconds": 8.0, "grace": 1.0, "most_calls": 1000, "seed": 42,
        "measures": "end to end, from the intended start", "rules": [], "before": QUIET,
        "saturation": [{"side": "A", "size": 1, "clients": 4, "rate": 120.0, "reached": True, "why_alone": ""}],
        "rows": rows, "differences": [], "cold": [], "warm_up": [], "finished": True, "why_ended": "",
        "environment": environment,
    } | other  # fmt: skip
    folder = result.parents[1] / "study"
    folder.mkdir(exist_ok=True)
    (folder / "latency.json").write_text(json.dumps(document))
    (folder / manifest.NAME).unlink(missing_ok=True)
    (folder / manifest.NAME).write_text(manifest.build(folder))


@pytest.fixture
def result(results_to_gate: Path, tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "night_20260101").symlink_to(results_to_gate / "night_20260101")
    write(tmp_path, AT_LOAD)
    return tmp_path / "results" / "night_20260101"


def told(result: Path, *words: str) -> tuple[int, str, str]:
    code, document = gate(result.parents[1], *words)
    (threshold,) = document["thresholds"]
    return code, threshold["outcome"], threshold["note"]


def test_the_lowest_level_of_that_rate_or_more_holds_it_by_its_upper_bound(result: Path) -> None:
    study(result, level(25, times(30.0, 40.0)), level(90, times(50.0, 60.0)), level(60, times(11.0, 19.0)))
    code, document = gate(result.parents[1])
    (threshold,) = document["thresholds"]
    assert (code, threshold["outcome"], threshold["observed"], threshold["high"]) == (0, "holds", 11.0, 19.0)
    assert (threshold["measure"], threshold["required"], threshold["n"]) == ("p95 at 50 a second", 20.0, 400)
    assert "by its upper bound; open loop at 60 a second (poisson arrivals, 4 clients" in threshold["note"]


@pytest.mark.parametrize(
    ("levels", "outcome", "note"),
    [
        ([level(60, times(21.0, 30.0))], "falls short", "open loop at 60 a second"),
        ([level(60, times(11.0, 21.0))], "cannot tell", "its upper bound, 21 ms, does not keep it"),
        ([level(60, times(11.0, None), n=40)], "cannot tell", "the p95 has no upper bound: 40 answers are too few"),
        ([level(60, times(11.0, None, at_least=True))], "cannot tell", "the p95 has no upper bound: some calls had no"),
        ([level(49, times(1.0, 2.0))], "cannot tell", "no level was asked 50 questions a second: the highest was 49"),
        (
            [level(60, times(1.0, 2.0), void=True, why_void="the generator lagged")],
            "cannot tell",
            "void: the",
        ),
        ([level(60, times(1.0, 2.0), saturated=True)], "cannot tell", "60 a second saturated"),
        ([level(60, times(1.0, 2.0), kind="closed")], "cannot tell", "no open loop was run"),
        ([level(60, times(1.0, 2.0), size=5)], "cannot tell", "no open loop was run over haystacks of their own size"),
    ],
)
def test_what_a_level_does_not_show_is_no_pass(
    result: Path, levels: list[dict[str, Any]], outcome: str, note: str
) -> None:
    study(result, *levels)
    code, seen, remark = told(result)
    assert (code, seen) == (1, outcome)
    assert note in remark


def test_a_store_that_saturates_below_the_rate_falls_short(result: Path) -> None:
    saturation = [{"side": "A", "size": 1, "clients": 2, "rate": 31.0, "reached": True, "why_alone": ""}]
    study(result, level(60, times(900.0, None), saturated=True), saturation=saturation)
    assert told(result)[1:] == ("falls short", "it answers 31 a second at most, with 2 clients")


def test_a_study_of_something_else_is_named_and_holds_nothing(result: Path) -> None:
    good = level(60, times(1.0, 2.0))
    study(result, good, depth=10, dataset_sha256="0" * 64)
    code, outcome, note = told(result)
    assert (code, outcome) == (1, "cannot tell")
    assert "corpus 89866bfe7491 and 000000000000; depth 50 and 10" in note
    machine = {"machine": {"machine": "riscv64", "cpu": "another", "cores": 2}}
    study(result, good, environment=machine)
    assert "cpu AMD EPYC" in told(result)[2] or "and another" in told(result)[2]


def test_the_study_can_be_named_on_the_command_line(result: Path) -> None:
    study(result, level(60, times(11.0, 19.0)))
    place = result.parents[1]
    write(place, "p95_at_load = { rate = 50, ms = 20 }\n")
    assert "p95_at_load is told by a latency study, and none is named" in refused(place)
    assert told(result, "--latency", "night=study")[:2] == (0, "holds")
    assert told(result, "--latency", "study")[:2] == (0, "holds")
    assert "no latency study" in refused(place, "--latency", "results/night_20260101")
    write(place, "p95_at_load = { rate = 0, ms = 20 }\n")
    assert "greater than 0" in refused(place)
