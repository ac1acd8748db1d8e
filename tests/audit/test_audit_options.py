"""Command, recorded options and result must agree on every declared option."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import click
import pytest
from mutations import Change, Mutation, commanded, environment
from test_audit_mutations import audited, run_result

from commandline import recallbench
from recallbench.audit.checks.options import OPTIONS
from recallbench.audit.subject import AuditSubject
from recallbench.cli.program import program
from recallbench.corpora.registry import facts
from recallbench.protocol.frozen import load
from recallbench.results.metrics import Metrics
from recallbench.results.result import Result
from recallbench.runs.options import Options
from recallbench.stores.bm25 import BM25Store
from recallbench.stores.options import StoreOption
from recallbench.stores.registry import variant_of

DEFAULT = "cosine=1,bm25=0.5,recency=0.05,importance=0.05,graph=0.05"
NOT_RECORDED = {"environ", "cache_dir", "corpus_file", "out", "folder"}
"""Locations of files, which decide nothing."""
WARMTH = StoreOption("warmth", "How warm it is", default="cold", flag="exact-warmth")


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a result of a group of corpora, with a limit beyond its questions and an option given twice."""
    folder = tmp_path_factory.mktemp("group")
    words = ("--store", "bm25", "--limit", "99999", "--depth", "20", "--depth=50", "--no-download", "--label", "twice")
    assert recallbench("run", "canary", *words, "--out", "out", "-q", cwd=folder).returncode == 0
    return min((folder / "out").iterdir())


def contradiction_of_audit(genuine: Path, folder: Path, mutation: Mutation | None) -> str | None:
    """Return what an audit has against the options; None where nothing."""
    report = audited(genuine, folder, mutation)
    (check,) = (check for check in report.checks if check.code == "RB-OPTIONS")
    return None if check.status == "pass" else check.observed


def test_valid_options_are_no_contradiction(genuine: Path, tmp_path: Path) -> None:
    assert contradiction_of_audit(genuine, tmp_path, None) is None


def test_an_option_is_covered_as_soon_as_it_is_declared(
    genuine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_command = Mutation("", "RB-OPTIONS", commanded("--exact-warmth", "hot"))
    in_options = Mutation("", "RB-OPTIONS", environment("options", "warmth", to="hot"))
    by_default = Mutation("", "RB-OPTIONS", environment("options", "warmth", to="cold"))
    assert contradiction_of_audit(genuine, tmp_path / "undeclared", in_command) is None
    monkeypatch.setattr(BM25Store, "options", (WARMTH,))
    assert (
        contradiction_of_audit(genuine, tmp_path / "command", in_command)
        == "--exact-warmth hot in the command, None in the options"
    )
    assert contradiction_of_audit(genuine, tmp_path / "options", in_options) == "variant: warmth hot asked for,  stated"
    assert contradiction_of_audit(genuine, tmp_path / "default", by_default) is None


def test_any_recorded_option_is_covered_by_its_name_alone(genuine: Path, tmp_path: Path) -> None:
    mutation = Mutation("", "RB-OPTIONS", environment("options", "half_measures", to=3))
    assert contradiction_of_audit(genuine, tmp_path / "alone", mutation) is None

    def both(folder: Path) -> None:
        mutation.change(folder)
        commanded("--half-measures", "4")(folder)

    message = contradiction_of_audit(genuine, tmp_path / "both", Mutation("", "RB-OPTIONS", both))
    assert message == "--half-measures 4 in the command, 3 in the options"


def test_an_option_without_a_flag_of_its_own_is_covered_too(
    genuine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BM25Store, "options", (replace(WARMTH, flag=""),))
    in_command = Mutation("", "RB-OPTIONS", commanded("--set", "warmth=hot"))
    in_options = Mutation("", "RB-OPTIONS", environment("options", "store_options", to={"warmth": "hot"}))
    unknown = Mutation("", "RB-OPTIONS", environment("options", "store_options", to={"wind": "none"}))
    message = "--set warmth hot in the command, None in the options"
    assert contradiction_of_audit(genuine, tmp_path / "command", in_command) == message
    assert contradiction_of_audit(genuine, tmp_path / "options", in_options) == "variant: warmth hot asked for,  stated"
    assert (
        contradiction_of_audit(genuine, tmp_path / "unknown", unknown)
        == "wind: none asked for, which bm25 has no use for"
    )


def test_options_that_differ_from_the_defaults_are_named_in_words() -> None:
    assert variant_of("pgvector", {"weights": DEFAULT}) == ""
    assert variant_of("pgvector", {"weights": "cosine"}) == "weights cosine=1"
    assert variant_of("callable", {"call": "a:b"}) == ""
    assert variant_of("pgmnemo", {"function": "recall_lessons", "dates": "constant"}) == ""
    both = {"dates": "dataset", "function": "recall_fast"}
    assert variant_of("pgmnemo", both) == "function recall_fast and created_at from the dataset"
    assert variant_of("graph", {"ranker": "neighbours"}) == ""
    assert variant_of("graph", {"ranker": "importance"}) == "ranker importance"


LIES = {"weights": "cosine", "function": "recall_fast", "dates": "dataset", "ranker": "importance", "limit": 3}
"""Values that a run would have shown; for other options any value will do."""
HELD_TO_NOTHING = {
    "dsn": "the server is what the store says of itself",
    "label": "a part of the folder's name",
    "download": "where files came from; their hashes are stated",
    "allow_deviations": "may allow what did not come to pass",
    "keep_going": "may spare what did not fail",
}
DECIDES_NOTHING = frozenset(
    {"corpus-file", "out", "folder", "cache-dir", "quiet", "config", "require-verified", "dry-run", "strict"}
    | {"resume", "json", "verdict", "k", "by", "format", "ks", "plot", "compare", "stale-after"}
    | {"precision", "ndcg", "percentiles", "allow-random-matches", "require-quiet", "engine", "ray-address"}
)
"""Options of where files lie, of where is computed, of what is shown, and of what is let pass."""
IN_THE_NAME = frozenset(
    {"match", "match-threshold", "match-chunk", "match-embedder", "match-cosine", "split", "qrels-revision", "pin"}
    | {"corpus-shape", "name"}
)
"""Options of a set that its name holds; the gold is derived by the name."""
NO_RESULT = frozenset({"run", "gold", "texts", "ties"})
"""Options for rankings in files, which make no result."""


def contradiction(genuine: Path, folder: Path, change: Change) -> str | None:
    """Return what the check alone has against a changed folder, neither sealed nor committed again."""
    shutil.copytree(genuine, folder)
    change(folder)
    stated, rules = Metrics.model_validate_json((folder / "metrics.json").read_bytes()), load()
    check = OPTIONS.check(AuditSubject(Result(folder, stated), rules, facts(stated.corpus.name, rules), [], {}))
    return None if check.status == "pass" else check.observed


def lie(value: object) -> object:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else ["dataset"] if isinstance(value, list) else "other"


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_result(tmp_path_factory.mktemp("exact"), "canary-locomo")


def test_a_lie_about_any_recorded_option_is_seen(exact: Path, tmp_path: Path) -> None:
    recorded = json.loads((exact / "environment.json").read_text())["options"]
    assert set(recorded) == Options("").recorded().keys() - NOT_RECORDED
    for name, value in recorded.items():
        message = contradiction(exact, tmp_path / name, environment("options", name, to=LIES.get(name, lie(value))))
        assert (message is None) == (name in HELD_TO_NOTHING), name


def test_a_lie_in_the_command_about_any_option_is_seen(exact: Path, tmp_path: Path) -> None:
    options = {
        flag.removeprefix("--"): param
        for command in ("run", "versions", "repeat", "evaluate")
        for param in program.get_command(click.Context(program), command).params  # type: ignore[union-attr]
        for flag in (*param.opts, *param.secondary_opts)
        if flag.startswith("--")
    }
    for name, option in options.items():
        word = f"--{name}" if option.is_flag else f"--{name}=77"
        message = contradiction(exact, tmp_path / name, commanded(word))
        unseen = {*DECIDES_NOTHING, *IN_THE_NAME, *NO_RESULT, "download", "with-text", "label", "version", "dsn"}
        unseen |= {"store"}  # one command measures several stores
        assert (message is None) == (name in unseen), (name, message)


def test_a_command_names_the_store_among_several_or_alone(exact: Path, tmp_path: Path) -> None:
    def named(*stores: str) -> Change:
        words = [word for store in stores for word in ("--store", store)]
        command = ["recallbench", "run", "canary-locomo", "--embedder", "hash", *words]
        return environment("command", to=command)

    assert contradiction(exact, tmp_path / "alone", named("exact")) is None
    assert contradiction(exact, tmp_path / "several", named("exact", "bm25")) is None
    for i, stores in enumerate((("bm25",), ("bm25", "pgvector"))):
        message = contradiction(exact, tmp_path / str(i), named(*stores))
        assert message == f"--store {stores[-1]} in the command, exact in the options"


@pytest.mark.parametrize(("option", "value"), [("--embedder", "minilm"), ("--max-tokens", "64"), ("--dtype", "bf16")])
def test_an_encoders_option_is_for_those_of_several_stores_that_search_vectors(
    genuine: Path, tmp_path: Path, option: str, value: str
) -> None:
    words = ["recallbench", "run", "canary-locomo", option, value]
    several = environment("command", to=[*words, "--store", "exact", "--store", "bm25"])
    assert contradiction(genuine, tmp_path / "several", several) is None
    alone = environment("command", to=[*words, "--store", "bm25"])
    assert f"{option} {value} in the command" in str(contradiction(genuine, tmp_path / "alone", alone))


def test_an_option_that_the_store_refuses_is_seen(exact: Path, tmp_path: Path) -> None:
    called = environment("options", "call", to="mine:search")
    assert contradiction(exact, tmp_path / "call", called) == "call: mine:search asked for, which exact has no use for"
    weighed = environment("options", "weights", to=DEFAULT)
    assert "which exact has no use for" in str(contradiction(exact, tmp_path / "weights", weighed))
    backed = environment("options", "backend", to="abacus")
    assert contradiction(exact, tmp_path / "backend", backed) == "backend: abacus asked for, which is not known"
