"""The command that measures once more what a result states."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from recallbench.audit.anew import command_anew
from recallbench.results.metrics import Metrics
from recallbench.results.pipeline_part import PipelinePart
from recallbench.results.result import Result

GOLDEN = Path(__file__).parents[1] / "golden" / "results"


def told(options: dict[str, Any] | None = None, golden: str = "canary_pgvector", **changed: Any) -> str:
    metrics = Metrics.model_validate_json((GOLDEN / golden / "metrics.json").read_bytes())
    result = Result(GOLDEN / golden, metrics.model_copy(update=changed))
    if options is not None:
        result.__dict__["environment"] = {"options": options}
    return command_anew(result)


def test_encoder_and_what_is_no_default_are_named() -> None:
    assert told() == "recallbench run canary-locomo --store pgvector --embedder hash --limit 8"


def test_options_are_quoted_and_hold_no_secret() -> None:
    options = {
        "embedder": "python:my enc:f",
        "max_tokens": 128,
        "weights": "cosine=1",
        "store_options": {"api_token": "s3cr3t-s3cr3t", "where": "a b", "url": "http://me:hidden-word@host/"},
    }
    command = told(options)
    assert shlex.split(command)[5:] == [
        "--embedder", "python:my enc:f", "--limit", "8", "--max-tokens", "128", "--set", "weights=cosine=1",
        "--set", "api_token=VALUE", "--set", "where=a b", "--set", "url=http://***@host/",
    ]  # fmt: skip
    assert "s3cr3t" not in command


def test_a_pipeline_is_named_without_a_store_that_it_had_no_use_for() -> None:
    pipeline = PipelinePart.model_construct()
    assert told({"store": None}, pipeline=pipeline) == (
        "recallbench run canary-locomo --pipeline FILE --embedder hash --limit 8"
    )
    assert told({"store": "pgvector"}, pipeline=pipeline).startswith(
        "recallbench run canary-locomo --store pgvector --pipeline FILE "
    )


def test_a_record_that_cannot_be_read_leaves_what_the_metrics_say(tmp_path: Path) -> None:
    metrics = Metrics.model_validate_json((GOLDEN / "canary_pgvector" / "metrics.json").read_bytes())
    retrieval = metrics.retrieval.model_copy(update={"depth": 20, "scope": "pooled", "limit": None})
    result = Result(tmp_path, metrics.model_copy(update={"retrieval": retrieval}))
    assert command_anew(result) == (
        "recallbench run canary-locomo --store pgvector --embedder hash --depth 20 --scope pooled"
    )


def test_a_set_of_ones_own_has_none() -> None:
    assert told(golden="team_exact") == ""
