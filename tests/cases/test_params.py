"""The parameters of a retriever: recorded, shown and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recallbench
from recallbench.cases import baseline
from recallbench.errors import UsageError

GOLD = {"work?": ["acme"], "plan?": ["q3"]}


def report(params: Any = None) -> recallbench.Report:
    return recallbench.evaluate(GOLD, lambda query, k: ["acme"], k=2, params=params)


def test_every_output_has_the_parameters() -> None:
    tuned = report({"alpha": 0.3, "model": Path("a/b"), "rerank": True, "ef": np.int64(40)})
    assert tuned.params == {"alpha": 0.3, "model": "a/b", "rerank": True, "ef": "40"}
    words = "params: alpha 0.3, model a/b, rerank True, ef 40"
    assert str(tuned).endswith(f"; {words}")
    for text in (repr(tuned), tuned.table(), tuned.table("markdown"), tuned._repr_html_()):
        assert f"2 cases, k = 2, matching: id, {words}" in text
    assert json.loads(tuned.table("json"))["params"] == dict(tuned.params)
    assert tuned.as_dict()["params"]["retriever"] == dict(tuned.params)
    assert tuned.by(lambda case: case.query)["work?"].params == tuned.params
    assert "params" not in json.loads(report().table("json"))
    assert "retriever" not in report().as_dict()["params"]


def test_a_comparison_names_the_parameters_that_differ() -> None:
    change = report({"alpha": 0.5, "ef": 40}).compare(report({"alpha": 0.3, "ef": 40, "lists": 8}))
    assert change.sentences()[0] == "params: alpha 0.3 before, 0.5 after; lists 8 before, – after"
    assert change.document()["params"] == {"alpha": ["0.3", "0.5"], "lists": ["8", "–"]}
    same = report({"alpha": 0.3}).compare(report({"alpha": 0.3}))
    assert same.params == {}
    assert "params" not in same.document()


def test_a_baseline_keeps_the_parameters_and_older_files_have_none(tmp_path: Path) -> None:
    bare, tuned = tmp_path / "bare.json", tmp_path / "tuned.json"
    baseline.write(baseline.baseline_of(report()), bare)
    baseline.write(baseline.baseline_of(report({"alpha": 0.3})), tuned)
    assert "params" not in bare.read_text()
    assert baseline.read(tuned).params == {"alpha": 0.3}
    for path, before in ((bare, "–"), (tuned, "0.3")):
        change = baseline.compare(report({"alpha": 0.5}), baseline.read(path), None, strict=False)
        assert change.sentences()[0] == f"params: alpha {before} before, 0.5 after"


def test_secrets_are_no_parameters_to_be_shown() -> None:
    hidden = report({"api_key": "sk-123456", "dsn": "postgresql://me:hunter2@host/db"})
    assert "sk-123456" not in str(hidden)
    assert "hunter2" not in hidden.table("json")


@pytest.mark.parametrize("wrong", [["alpha"], {"": 1}, {1: 2}, "alpha=0.3"])
def test_params_are_values_by_name(wrong: Any) -> None:
    with pytest.raises(UsageError, match="params are values by name"):
        report(wrong)
