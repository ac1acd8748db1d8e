"""Whatever option is declared, the audit holds the command, the options and the result to each other by it."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

import pytest
from mutations import Mutation, commanded, environment
from test_audit_mutations import audited

from commandline import recallbench
from recallbench.cli.run import run
from recallbench.experiment.options import Options
from recallbench.stores import options
from recallbench.stores.options import STORE_OPTIONS, StoreOption, variant_of
from recallbench.stores.registry import STORES, Wanted

WARMTH = StoreOption("exact-warmth", "warmth", lambda value: "" if value == "cold" else f"warmth {value}")


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of two corpora of a group, asked for more questions than it has, with an option that is named twice."""
    place = tmp_path_factory.mktemp("group")
    words = ("--store", "bm25", "--limit", "99999", "--depth", "20", "--depth=50", "--no-download", "--label", "twice")
    assert recallbench("run", "canary", *words, "--out", "out", "-q", cwd=place).returncode == 0
    return min((place / "out").iterdir())


def told(genuine: Path, place: Path, mutation: Mutation | None) -> str | None:
    """What the check has against the options; None where nothing."""
    found = audited(genuine, place, mutation)
    (check,) = (one for one in found.checks if one.code == "RB-OPTIONS")
    return None if check.status == "pass" else check.observed


def test_what_a_user_may_type_is_no_contradiction(genuine: Path, tmp_path: Path) -> None:
    assert told(genuine, tmp_path, None) is None


def test_an_option_is_covered_as_soon_as_it_is_declared(
    genuine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_command = Mutation("", "RB-OPTIONS", commanded("--exact-warmth", "hot"))
    in_options = Mutation("", "RB-OPTIONS", environment("options", "warmth", to="hot"))
    by_default = Mutation("", "RB-OPTIONS", environment("options", "warmth", to="cold"))
    assert told(genuine, tmp_path / "undeclared", in_command) is None
    monkeypatch.setattr(options, "STORE_OPTIONS", (*STORE_OPTIONS, WARMTH))
    assert told(genuine, tmp_path / "command", in_command) == "--exact-warmth hot in the command, None in the options"
    assert told(genuine, tmp_path / "options", in_options) == "variant: warmth hot asked for,  stated"
    assert told(genuine, tmp_path / "default", by_default) is None


def test_any_recorded_option_is_covered_by_its_name_alone(genuine: Path, tmp_path: Path) -> None:
    mutation = Mutation("", "RB-OPTIONS", environment("options", "half_measures", to=3))
    assert told(genuine, tmp_path / "alone", mutation) is None

    def both(folder: Path) -> None:
        mutation.change(folder)
        commanded("--half-measures", "4")(folder)

    found = told(genuine, tmp_path / "both", Mutation("", "RB-OPTIONS", both))
    assert found == "--half-measures 4 in the command, 3 in the options"


def test_each_declared_option_is_one_of_runs_and_stores() -> None:
    names = {one.name for one in STORE_OPTIONS}
    assert names == set().union(*(entry.takes for entry in STORES.values()))
    assert {one.field for one in STORE_OPTIONS} <= {one.name for one in fields(Options)} & set(Wanted._fields)
    assert {name.replace("-", "_") for name in names} <= set(inspect.signature(run).parameters)


def test_what_departs_from_the_defaults_is_said_in_words() -> None:
    assert variant_of({"weights": "cosine=1,bm25=0.5,recency=0.05,importance=0.05,graph=0.05", "call": "a:b"}) == ""
    assert variant_of({"function": "recall_lessons", "dates": "constant", "ranker": "neighbours"}) == ""
    asked = {"weights": "cosine", "function": "recall_fast", "dates": "dataset", "ranker": "importance"}
    words = ("weights cosine=1", "function recall_fast", "created_at from the dataset", "ranker importance")
    assert variant_of(asked) == " and ".join(words)
