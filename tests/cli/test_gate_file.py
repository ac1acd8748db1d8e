"""The file of `recallbench gate`: what is wrong with one is told with its line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from gated_runs import refused, write

from recallbench.compare.thresholds_file import EXAMPLE
from stages import sampled

WRONG = {
    'at_lest = { "mrr@50" = 0.5 }': (
        "line 3: unknown key result.night.at_lest", "at_least, drops, rules, folder",
        "  what to do: did you mean at_least?\n",
    ),
    '[result.night.kinds.x]\nat_last = {}': (
        "line 4: unknown key", "one of thresholds, at_least, drops", "did you mean at_least?",
    ),
    '[gate]\nx = 1': (
        "line 3: unknown key gate", "one of thresholds, percentiles, result", "  what to do: take it out\n",
    ),
    '[result.day]\nfoldr = "a"': ("line 4: unknown key result.day.foldr", "what to do: did you mean folder?"),
    "strict = yes": ("line 3: `yes` is no TOML value: true or false",),
    "[result.night.abstention] # a = b\n# c = d\nauroc = half": ('line 5: `half` is no TOML value: "half"',),
    '[result.night.at_least]\n"recall@10" = 0.5': (
        "line 4: unknown measure 'recall@10'", "say recall_any@10, which the protocol calls recall@10; elsewhere",
    ),
    '[result.night.at_least]\n"mmr@50" = 0.5': ("line 4: unknown measure 'mmr@50'", "did you mean mrr@50?"),
    '[result.night.at_least]\n"mrr@50" = 75': (
        "line 4: result.night.at_least.mrr@50 can't be used\n  expected: 0 to 1 (0.75, not 75)\n  found: 75\n"
        "  what to do: a measure goes from 0 to 1: write a percentage as a share\n",
    ),
    '[result.night.drops]\n"mrr@50" = 0': (
        "line 4: result.night.drops.mrr@50 can't be used\n  expected: above 0, up to 1\n  found: 0\n",
    ),
    '[result.night.at_least]\n"mrr@50" = 1.5': ("line 4: result.night.at_least.mrr@50", "expected: 0 to 1\n"),
    '[result.night.at_least]\n"mrr@50" = true': ("line 4: result.night.at_least.mrr@50", "a valid number"),
    '[result.night.at_least]\n"mrr@50" = nan': ("line 4: result.night.at_least.mrr@50", "finite"),
    '[result.night.drops]\n"mrr@50" = 0.1': ("[result.night] has drops and no baseline", "baseline ="),
    'baseline = "b"\n[result.night.drops]\n"f1_of_means@10" = 0.1': ("line 5: f1_of_means@10 can't", "take f1@10"),
    "p95_ms = { hot = 1 }": ("result.night.p95_ms.hot", "'cold' or 'warm'"),
    "p95_ratio = 1.5": ("[result.night] has p95_ratio and no baseline", "baseline ="),
    "[result.night.abstention]\nauroc = 1.2": ("line 4: no ranking could keep", "auroc of at most 1", "auroc >= 1.2"),
    "[result.night.abstention]\nfalse_retrieval = -0.1": ("line 4: no ranking could keep", "false_retrieval <= -0.1"),
    "[result.night.abstention]\nfalse_retrieval = 1.1": ("line 4: any ranking keeps", "from 0 to 1"),
    "[result.night.abstention]\nauc = 0.5": ("line 4: unknown key", "one of auroc, false_retrieval"),
    "abstention = { auroc = 0.5 }": ("abstention can't be judged", "no query that should find nothing"),
    "": ("[result.night] has no threshold", "at_least"),
    'thresholds = "usual"': ("line 3: result.night.thresholds", "Input should be 'recommended'"),
    'p95_ms = 5\npercentiles = "median"': ("line 4: result.night.percentiles", "'nearest-rank', 'index' or 'linear'"),
    "at_least = [": ("can't be read as TOML", "[result.nightly]"),
    'at_least = { "mrr@99" = 0.5 }': ("mrr@99 can't be taken", "a depth of 50 or less"),
}  # fmt: skip


@pytest.mark.parametrize("text", sampled(WRONG))
def test_an_invalid_file_is_refused_with_its_line(results_to_gate: Path, tmp_path: Path, text: str) -> None:
    shutil.copytree(results_to_gate / "night_20260101", tmp_path / "results/night_20260101")
    write(tmp_path, text)
    message = refused(tmp_path)
    assert [words for words in WRONG[text] if words not in message] == []


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path) == (
        "recallbench: there is no recallbench.toml here\n"
        f"  expected: {EXAMPLE}\n"
        "  what to do: recallbench gate DIR --init writes one from a result; --config FILE names another\n"
    )
    elsewhere = tmp_path / "none.toml"
    assert refused(tmp_path, "--config", str(elsewhere)).startswith(f"recallbench: there is no {elsewhere}\n")
