"""The language of rules in compare, in gate and in the check of an evaluation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench import BelowThreshold, Case, evaluate
from recallbench.errors import UsageError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a result of BM25 over the canary: recall_any@10 is .8354, mrr@50 .4575."""
    folder = tmp_path_factory.mktemp("ruled")
    words = ("run", "canary-locomo", "--store", "bm25", "--folder", "night_20260101", "--quiet")
    assert recallbench(*words, cwd=folder).returncode == 0
    return folder


@pytest.mark.parametrize(
    ("rule", "code", "message"),
    [
        ("recall_any@10 below 0.83", 0, "passes: recall_any@10 below 0.83: it is 0.8354"),
        ("recall_any@10 < 0.9", 1, "fails: recall_any@10 below 0.9: it is 0.8354"),
        ("recall_any@10 drops 0.01", 0, "passes: recall_any@10 drops 0.01: no question's value differs"),
        ("recall_any@10 >= 0.9", 2, "--fail-if 'recall_any@10 >= 0.9' says what must hold"),
        ("recall_any@10 rises 0.1", 2, "MEASURE drops SHARE"),
    ],
)
def test_compare_fails_by_a_rule(folder: Path, rule: str, code: int, message: str) -> None:
    done = recallbench("compare", "night_20260101", "night_20260101", "--fail-if", rule, cwd=folder)
    assert done.returncode == code
    assert message in " ".join((done.stdout + done.stderr).split())


def test_gate_takes_rules(folder: Path) -> None:
    rules = '["recall_any@10 at_least 0.8", "mrr@50 >= 0.9", "mrr@50 drops 0.01"]'
    (folder / "recallbench.toml").write_text(
        f'[result.night]\nfolder = "night_20260101"\nbaseline = "night_20260101"\nrules = {rules}\n'
    )
    done = recallbench("gate", "--format", "json", cwd=folder)
    thresholds = json.loads(done.stdout)["thresholds"]
    assert (
        done.returncode,
        [
            (threshold["what"], threshold["measure"], threshold["required"], threshold["outcome"])
            for threshold in thresholds
        ],
    ) == (
        1,
        [
            ("at_least", "recall_any@10", 0.8, "holds"),
            ("at_least", "mrr@50", 0.9, "falls short"),
            ("drops", "mrr@50", 0.01, "holds"),
        ],
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('rules = ["mrr@50 rises 0.1"]', "recallbench.toml: the rule 'mrr@50 rises 0.1' can't be understood"),
        ('rules = ["recall@10 >= 0.9"]', "say recall_any@10, which the protocol calls recall@10"),
        ('rules = ["mrr@50 >= 0.9", "mrr@50 below 0.4"]', "mrr@50 has two thresholds of the same kind"),
        ('rules = ["mrr@50 >= 0.9"]\nat_least = {"mrr@50" = 0.4}', "mrr@50 has two thresholds of the same kind"),
    ],
)
def test_gate_refuses_rules_that_it_could_not_keep(folder: Path, more: str, message: str) -> None:
    (folder / "recallbench.toml").write_text(f'[result.night]\nfolder = "night_20260101"\n{more}\n')
    done = recallbench("gate", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_the_check_of_an_evaluation_takes_rules() -> None:
    report = evaluate([Case("a", ["d1"]), Case("b", ["d2"])], lambda query, k: ["d1"], k=1)
    report.check("recall >= 0.5")
    with pytest.raises(BelowThreshold, match=r"recall_any@1 is 0\.5000, 0\.6 required"):
        report.check("recall_any@1 below 0.6")
    with pytest.raises(UsageError, match="a drop needs a baseline"):
        report.check("recall drops 0.1")
