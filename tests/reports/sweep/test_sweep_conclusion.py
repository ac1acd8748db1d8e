"""How a sweep is concluded, and the command that measures its point."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.reports.sweep.applying import applied
from recallbench.reports.sweep.conclusion import conclusion
from recallbench.results.metrics import EstimatePart
from recallbench.results.sweep.document import SweepDocument
from recallbench.results.sweep.stability_part import RepeatedFigurePart, StabilityPart

RUN = "recallbench run locomo --store pgvector --set ef_search=40"
GAIN = "held-out recall_any@10 +0.0500 (+0.0100 to +0.0900) against the baseline, n 80"
WORTH = "held-out recall_any@10 0.9000 (0.8500 to 0.9300), n 80"
OTHER = f"try another corpus: {RUN.replace('locomo', 'OTHER')}"
MORE = "sweep more questions, such as your own: recallbench label DIR"
OWN = f"labelled/team@{'0' * 64}"
SHOWN = "shown to be within 0.01 of the best"
LONGEST = 220
"""Characters of a last line."""


def held_out(value: float) -> EstimatePart:
    return EstimatePart(
        measure="recall_any@10", value=value, n=80, low=0.85, high=0.93, method="Wilson", chance=0.1, ceiling=1.0,
        saturated=0.0, ordered=False, design_effect=None,
    )  # fmt: skip


def point(name: str = "p1", **more: Any) -> dict[str, Any]:
    return {
        "name": name, "parameters": {"set.ef_search": "40"}, "in_force": {}, "store": "pgvector", "variant": "",
        "pipeline": "", "embedder": None, "version": "1", "estimate": None, "tuning": 0.95, "held_out": held_out(0.9),
        "slices": {}, "dropped_after": None, "passes": True, "in_set": True, "front_share": None,
        "cost_front_share": None, "usd_per_1000": 0.4571, "p50_ms": 1.0, "p95_ms": 2.5, "timed": 80,
        "answers_sha256": name, "kept": False, "one_caller": "", "measured": "", "cpu": "", "failed_questions": {},
        "failure": "",
    } | more  # fmt: skip


def choice(**more: Any) -> dict[str, Any]:
    return {
        "chosen": "p1", "shown": True, "margin": 0.01, "best": "p1", "set": ["p1"], "set_words": "", "confidence": 0.95,
        "cheapest": None, "front": [], "front_prices": [], "knee": None, "cost_front": [], "cost_knee": None,
        "gain": 0.05, "gain_low": 0.01, "gain_high": 0.09, "methods": [], "why_none": "",
    } | more  # fmt: skip


def gate(**more: Any) -> dict[str, Any]:
    return {
        "gate": "p95 < 2ms", "tuning": 1.9, "value": 2.5, "limit": 2.0, "kept": False, "of_difference": False,
        "low": 2.1, "high": 2.9, "method": "", "outcome": "fails",
    } | more  # fmt: skip


SPLIT = {
    "unit": "question", "tuning_units": 120, "held_out_units": 80, "tuning_questions": 120, "held_out_questions": 80,
    "seed": 42, "chooses": True, "support": "",
}  # fmt: skip


def swept(*points: dict[str, Any], **more: Any) -> SweepDocument:
    race = {"run": False, "why_not": "", "looks": 0, "dropped": 0, "asked": 0, "saved": 0, "method": ""}
    return SweepDocument.model_validate(
        {
            "schema_version": "1", "recallbench_version": "1", "protocol": "1.0.0", "name": "tune", "file_sha256": "",
            "method": "list", "seed": 42, "corpus": "locomo", "dataset_sha256": "", "measure": "recall_any@k",
            "questions": 200, "clusters": 0, "depth": 50, "parameters": [], "gates": [], "split": SPLIT, "race": race,
            "choice": choice(), "points": points or (point(), point("p2")), "sensitivity": None, "stability": None,
            "environment": {}, "at_once": 1, "seconds": {},
        } | more
    )  # fmt: skip


STABLE = StabilityPart(
    repeats=2, seeds=1, seeded={}, questions=200, failures=[],
    spreads=[
        RepeatedFigurePart(
            point="p1", figure="recall_any@10", runs=[[0.9, 0.91]], mean=0.905, over_repeats=0.01, over_seeds=None,
            least=0.9, most=0.91,
        )
    ],
)  # fmt: skip
BUSY = {
    "seconds": 9.0, "cores": 2, "others": 0.5, "steal": 0.0, "throttled": False, "load_average": 3.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("document", "text", "tone"),
    [
        (swept(), f"Take p1: {GAIN}; {SHOWN}; next: {RUN}", "good"),
        (
            swept(choice=choice(shown=False, gain_low=None, gain_high=None, set=["p1", "p2"], cheapest="p2"),
                  split=SPLIT | {"unit": "cluster", "tuning_units": 6, "chooses": False}, clusters=10),
            f"No point can be chosen: 6 clusters can't tell p1 and p2 apart; p1 was seen best: {WORTH}; next: {MORE}",
            "open",
        ),
        (
            swept(point(held_out=None, estimate=held_out(0.9)), point("p2"), split=None, corpus=OWN,
                  choice=choice(shown=False, gain=None, set=["p1", "p2", "p3", "p4", "p5"])),
            "No point can be chosen: 1 cluster can't tell 5 points apart; p1 was seen best: recall_any@10 0.9500 on "
            "the questions that chose it; no question is held out; next: label more questions: recallbench label "
            "locomo",
            "open",
        ),
        (
            swept(choice=choice(shown=False, gain=None)),
            "No point can be chosen: 120 questions can't show any to be best within 0.01; p1 was seen best: "
            f"{WORTH}; next: {MORE}",
            "open",
        ),
        (
            swept(choice=choice(shown=False, gain=-0.05, gain_low=None, gain_high=None)),
            "Keep the baseline: p1 is no better, held-out recall_any@10 -0.0500 against the baseline, n 80; next: to "
            "be sure, ask more questions",
            "open",
        ),
        (
            swept(choice=choice(gain=-0.05, gain_low=-0.1, gain_high=0.02), environment={"machine_load": BUSY}),
            "Keep the baseline: p1 is no better, held-out recall_any@10 -0.0500 (-0.1000 to +0.0200) against the "
            "baseline, n 80; that it differs from the baseline is not shown; next: to be sure, ask more questions",
            "open",
        ),
        (
            swept(choice=choice(gain=-0.05, gain_low=-0.1, gain_high=-0.02)),
            "Keep the baseline: p1 is no better, held-out recall_any@10 -0.0500 (-0.1000 to -0.0200) against the "
            "baseline, n 80; the interval excludes 0",
            "open",
        ),
        (
            swept(point(answers_sha256="a"), point("p2"), point("baseline", answers_sha256="a"),
                  choice=choice(gain=0.0, gain_low=None, gain_high=None)),
            f"No point is seen better than the baseline: {WORTH}; {SHOWN}; next: recallbench run "
            "locomo --store pgvector --set ef_search=40",
            "good",
        ),
        (
            swept(choice=choice(gates=[gate(), gate(gate="usd_per_1000 < 0.4")])),
            f"Don't take p1: held out it is shown to miss p95 < 2ms and 1 more; {GAIN}; next: take another point, or "
            "hold out more questions",
            "bad",
        ),
        (
            swept(point(), point("p2", failure="the index is gone", passes=False, tuning=None),
                  choice=choice(gain=None, gain_low=None, gain_high=None, gates=[gate(outcome="inconclusive")])),
            f"Take p1: {WORTH}; 1 of 2 points failed; next: try those alone: recallbench sweep tune.toml 'my team'",
            "bad",
        ),
        (
            swept(point(), point("p2"), point("p3", failure="the index is gone", passes=False, tuning=None),
                  choice=choice(shown=False, gain=None, set=["p1", "p2"])),
            "No point can be chosen: 120 questions can't tell p1 and p2 apart; p1 was seen best; 1 of 3 points failed; "
            "next: try those alone: recallbench sweep tune.toml 'my team'",
            "bad",
        ),
        (
            swept(choice=choice(chosen=None, why_none="no point keeps every gate; p95 < 2ms turns away 2 of 2")),
            "Nothing is chosen: no point keeps every gate; p95 < 2ms turns away 2 of 2; next: weaken the gate that "
            "turns most away, or add points to the file",
            "bad",
        ),
        (
            swept(point(held_out=None, estimate=held_out(0.95)), point("p2"), split=None,
                  choice=choice(gain=None, gain_low=None, gain_high=None)),
            "Take p1: recall_any@10 0.9500 on the questions that chose it; no question is held out; next: "
            f"{OTHER}",
            "open",
        ),
        (
            swept(split=SPLIT | {"chooses": False}, choice=choice(gain=None)),
            f"Take p1: {WORTH}; the questions are too few to choose by; next: {OTHER}",
            "open",
        ),
        (
            swept(choice=choice(gain_low=None, gain_high=None), split=SPLIT | {"held_out_units": 4}, clusters=10),
            "Take p1: held-out recall_any@10 +0.0500 against the baseline, n 80; 4 clusters held out are too few for "
            f"an interval; next: {OTHER}",
            "open",
        ),
        (
            swept(choice=choice(gates=[gate(outcome="inconclusive")])),
            f"Take p1: {GAIN}; p95 < 2ms is not shown; next: {RUN}",
            "good",
        ),
        (
            swept(point(), point("p2", dropped_after=40, passes=False)),
            f"Take p1: {GAIN}; the race told 1 other from it, 95% sure; next: {RUN}",
            "good",
        ),
        (swept(environment={"machine_load": BUSY}),
            f"Take p1: {GAIN}; the machine was busy, so don't rely on the times; next: {RUN}", "good"),
        (
            swept(point(), point("p2", passes=False)),
            f"Take p1: {GAIN}; no other point could be chosen; next: {RUN}",
            "good",
        ),
    ],
)  # fmt: skip
def test_a_sweep_ends_with_the_point_to_take_and_whether_to_believe_it(
    document: SweepDocument, text: str, tone: str
) -> None:
    typed = TypedCommand(("recallbench", "sweep"), (("tune.toml",), ("my team",)))
    concluded = conclusion(document, ("locomo",), command=typed)
    assert (str(concluded), concluded.tone) == (text, tone)
    assert len(text) <= LONGEST


@pytest.mark.parametrize(
    "chosen",
    [
        choice(gain_low=None, gain_high=None),
        choice(gain=-0.05, gain_low=-0.1, gain_high=0.02),
        choice(shown=False, gain_low=None, gain_high=None, set=[f"p{number}" for number in range(11, 25)]),
        choice(shown=False, set=[], gain=None),
        choice(gates=[gate(gate="recall_frac@10 >= 0.85", outcome="inconclusive")]),
        choice(gates=[gate(gate="recall_frac@10 >= 0.85"), gate(), gate()]),
        choice(gain=None),
    ],
)
def test_the_line_stays_short(chosen: dict[str, Any]) -> None:
    """The longest names, over clusters of which few are held out."""
    worth = held_out(0.9).model_copy(update={"measure": "recall_frac@10", "n": 1982})
    parameters = {"pipeline": "../pipelines/lexical.toml"}
    best = point("p12", held_out=worth, parameters=parameters, pipeline="", store="bm25")
    split = SPLIT | {"unit": "cluster", "tuning_units": 12, "held_out_units": 10}
    same = point("baseline", answers_sha256="p12")
    for others in ([point("p13")], [point("p13"), same]):
        document = swept(best, *others, choice=chosen | {"chosen": "p12"}, split=split, clusters=22)
        told = conclusion(document, ("locomo",), Path("examples/sweeps/1-retrieval.toml"))
        assert len(str(told)) <= LONGEST, str(told)


def test_a_report_that_does_not_know_what_was_typed_says_the_same_command() -> None:
    failed = point("p2", failure="the index is gone", passes=False, tuning=None)
    assert conclusion(swept(point(), failed)).next == "try those alone: the same command again"


@pytest.mark.parametrize(
    ("parameters", "more", "command"),
    [
        ({"k": "5"}, {}, "recallbench run locomo --store pgvector --set weights=cosine"),
        (
            {"embedder": "minilm", "set.index": "hnsw"},
            {"embedder": "minilm at 128 tokens"},
            "recallbench run locomo --store pgvector --embedder minilm --max-tokens 128 --set weights=cosine --set "
            "index=hnsw",
        ),
        (
            {"pipeline": "../lexical.toml"},
            {"pipeline": "", "store": "bm25"},
            "recallbench run locomo --pipeline pipelines/lexical.toml",
        ),
        (
            {"pipeline": "/p/legs.toml", "embedder": "minilm"},
            {"pipeline": "store + lexical > rrf", "store": "exact", "embedder": "minilm"},
            "recallbench run locomo --pipeline /p/legs.toml --store exact --embedder minilm --set weights=cosine",
        ),
        (
            {"rrf.k": "60", "k": "10"},
            {"pipeline": "dense > rrf"},
            "recallbench run locomo --pipeline FILE, where its file has rrf.k = 60",
        ),
        ({"k": "10"}, {"pipeline": "dense > rrf"}, "recallbench run locomo --pipeline FILE"),
    ],
)
def test_a_point_is_measured_by_a_command_as_far_as_options_go(
    parameters: dict[str, str], more: dict[str, str], command: str
) -> None:
    document = swept(
        point(parameters=parameters, **more),
        environment={"options": {"store": "exact", "weights": "cosine", "index": None}},
    )
    assert applied(document, document.points[0], ("locomo",), Path("pipelines/sweeps/tune.toml")) == command


def test_a_point_of_your_own_data_is_measured_by_evaluate() -> None:
    document = swept(corpus=f"labelled/team@{'0' * 64}")
    command = "recallbench evaluate 'my team' --store pgvector --set ef_search=40"
    assert applied(document, document.points[0], ("my team",), Path("tune.toml")) == command
