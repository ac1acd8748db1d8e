"""What a gate ends with, to the letter."""

from __future__ import annotations

from typing import Any

from recallbench.compare.conclusions.gating import conclude_gate, conclude_update
from recallbench.compare.fitted.thresholds import Detectable
from recallbench.reports.thresholds import REACHES, GateThreshold, Gating, counts


def threshold(outcome: str, **more: object) -> GateThreshold:
    part = {
        "result": "night", "part": "overall", "what": "at_least", "measure": "mrr@50", "required": 0.5,
        "observed": 0.4, "low": 0.3, "high": 0.5, "ceiling": 1.0, "n": 90, "outcome": outcome, "by": None, "note": "",
        "fails": outcome in ("falls short", "out of reach"),
    }  # fmt: skip
    return GateThreshold.model_validate(part | more)


def gating(*thresholds: GateThreshold, results: tuple[str, ...] = ("night",), **more: Any) -> Gating:
    part = {
        "schema_version": "1", "recallbench_version": "0",
        "passed": not more.get("missing") and not any(part.fails for part in thresholds), "counts": counts(thresholds),
        "results": [
            {
                "result": name, "folder": f"out/{name}", "content_sha256": "", "system": "", "baseline": None,
                "baseline_sha256": None, "failed": 0,
            }
            | more.get("of_result", {})
            for name in results
        ],
        "missing": more.get("missing", []), "thresholds": list(thresholds),
    }  # fmt: skip
    return Gating.model_validate(part)


def concluded(*thresholds: GateThreshold, **more: Any) -> tuple[str, str]:
    conclusion = conclude_gate(gating(*thresholds, **more), "recallbench.toml")
    return str(conclusion), conclusion.tone


def test_all_hold() -> None:
    assert concluded(threshold("holds"), threshold("holds")) == ("All 2 thresholds hold", "good")
    assert concluded(threshold("holds")) == ("The one threshold holds", "good")


def test_some_fall_short() -> None:
    short = threshold("falls short")
    assert concluded(short, threshold("holds")) == (
        "1 of 2 thresholds fall short: mrr@50 >= 0.5 is 0.4000 (0.3000 to 0.5000), 90 questions; "
        "next: recallbench report out/night",
        "bad",
    )
    line, _ = concluded(short, threshold("falls short", note=REACHES))
    assert line.endswith("(0.3000 to 0.5000), 90 questions; next: recallbench report out/night")
    line, _ = concluded(threshold("falls short", note=REACHES))
    assert line.startswith("1 of 1 threshold falls short: mrr@50")
    assert line.endswith("; its interval reaches that; next: recallbench report out/night")
    line, _ = concluded(*[short] * 3, results=("night", "day"))
    assert line.startswith("3 of 3 thresholds fall short: night: mrr@50 >= 0.5 is 0.4000 (0.3000 to 0.5000), 90 ")


def test_what_to_do_next_hangs_on_the_threshold() -> None:
    with_baseline = {"of_result": {"baseline": "base line", "baseline_sha256": "0"}}
    drop = threshold("falls short", what="drops", required=0.01, observed=-0.1, low=-0.2, high=-0.05, part="kind x")
    assert concluded(drop, **with_baseline)[0] == (
        "1 of 1 threshold falls short: kind x: mrr@50 drops less than 0.01 changed by -0.1000 (-0.2000 to -0.0500), "
        "90 questions; next: recallbench compare 'base line' out/night"
    )
    slow = threshold("falls short", what="p95_ms", measure="p95 warm", required=5.0, observed=9.0, low=7.0, high=None)
    line, _ = concluded(slow, **with_baseline)
    assert "p95 warm <= 5 ms is 9 ms (7 to ? ms), 90 queries; next: recallbench report out/night" in line
    audited = threshold("falls short", what="audit", measure="audit: no check fails", required=None, observed=None)
    assert concluded(audited)[0] == (
        "1 of 1 threshold falls short: audit: no check fails; next: recallbench audit out/night"
    )
    beyond = threshold("out of reach")
    assert concluded(beyond)[0].endswith("; next: lower what no ranking could keep in recallbench.toml")


def test_what_cannot_be_told_is_said() -> None:
    drop = {"what": "drops", "required": 0.01, "observed": -0.01, "low": -0.02, "high": 0.01}
    assert concluded(threshold("inconclusive", **drop), threshold("holds")) == (
        "1 of 2 thresholds hold, 1 can't be told: mrr@50 drops less than 0.01 changed by -0.0100 (-0.0200 to +0.0100), "
        "90 questions; that fails only with strict = true; next: ask more questions",
        "open",
    )
    line, tone = concluded(threshold("inconclusive", **drop, fails=True))
    assert "; that fails here; next: " in line
    assert tone == "bad"
    line, _ = concluded(threshold("cannot tell", what="p95_at_load", measure="p95 at 9 a second", observed=None))
    assert line.endswith("; next: read the notes above: they say what is lacking")


def test_a_missing_result_comes_next() -> None:
    missing = [{"result": "day", "problem": "p", "found": "f", "remedy": "make one first"}]
    assert concluded(threshold("holds"), missing=missing) == (
        "The one threshold holds; no result of day; next: make one first", "bad",
    )  # fmt: skip


def test_the_line_stays_short() -> None:
    """Names of twenty characters, of a result and of a kind, that fall short of a baseline or can't be told to."""
    base = {"of_result": {"baseline": "base", "baseline_sha256": "0", "folder": "out/night"}}
    drop = {
        "what": "drops", "measure": "recall_any@10", "required": 0.01, "observed": -0.01, "low": -0.02, "high": 0.01,
        "n": 1982, "result": "the-memory-of-ours-1", "part": "kind temporal-reasoning",
    }  # fmt: skip
    names = ("the-memory-of-ours-1", "another")
    for outcome in ("falls short", "inconclusive"):
        for note in ("", REACHES):
            line, _ = concluded(*[threshold(outcome, **drop, note=note)] * 12, results=names, **base)
            assert len(line) <= 220, line


def test_stored_baselines() -> None:
    assert str(conclude_update(["night"], "recallbench.toml")) == (
        "The baseline of night is stored; next: commit it, then: recallbench gate"
    )
    assert str(conclude_update(["night", "day"], "my gate.toml")) == (
        "The baselines of night, day are stored; next: commit it, then: recallbench gate --config 'my gate.toml'"
    )


def test_what_so_many_questions_find() -> None:
    few = Detectable("recall_any@10", 0.8, 20, None, None)
    assert (few.threshold, few.words) == (None, "20 questions can't tell any drop of recall_any@10 from chance")
    some = Detectable("recall_any@10", 0.8, 500, 12, 0.0412)
    assert (some.threshold, some.words) == (
        0.05,
        "500 questions in 12 clusters find a drop of recall_any@10 of 0.0412 or more four times in five",
    )
    assert Detectable("recall_any@10", 0.8, 500, None, 0.05).threshold == 0.05
    # A drop that could not happen is none.
    assert Detectable("recall_any@10", 0.3, 9, None, 0.295).threshold is None
