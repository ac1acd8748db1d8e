"""Indexes of the reference store on the command line: said before the run, measured, audited, refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench

ON_CANARY = ("run", "canary-locomo", "--embedder", "hash", "--store", "pgvector")
CAPPED = "ef_search 10 caps every answer at 10 of the 50 hits asked for: --set ef_search=50, or --set iterative_scan="


@pytest.mark.marked
def test_a_capped_index_is_said_before_the_run_and_metered_after(tmp_path: Path) -> None:
    asked = (*ON_CANARY, "--weights", "cosine", "--set", "index=hnsw", "--set", "ef_search=10")
    rehearsed = recallbench(*asked, "--dry-run", cwd=tmp_path)
    assert CAPPED in rehearsed.stdout
    done = recallbench(*asked, "--verdict", "--folder", "r", cwd=tmp_path)
    assert done.returncode == 0
    assert CAPPED in done.stderr
    assert (
        "deviation: settings: weights cosine=1 and index hnsw and ef_search 10 instead of the defaults" in done.stdout
    )
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    assert metrics["retrieval"]["calls"] == [10, 50]
    assert metrics["retrieval"]["agreement"]["depth"] == 10
    rows = [json.loads(line) for line in (tmp_path / "r" / "raw_retrievals.jsonl").read_text().splitlines()]
    assert max(len(row["hits"]) for row in rows) <= 10
    _metered_alike(done.stdout, rows, tmp_path)
    audited = recallbench("audit", "r", cwd=tmp_path)
    assert "  fail " not in audited.stdout
    report, environment = tmp_path / "r" / "report.md", tmp_path / "r" / "environment.json"
    report.write_text(report.read_text().replace("| 50 | 7,900 | 4,055 |", "| 50 | 7,900 | 4,054 |"))
    environment.write_text(environment.read_text().replace('"ef_search": "10"', '"ef_search": "11"'))
    altered = recallbench("audit", "r", cwd=tmp_path).stdout
    assert "setting hnsw.ef_search 10, which no run with these options states" in altered
    assert "7,900 | 4,054 |" in altered


def _metered_alike(told: str, rows: list[dict[str, Any]], place: Path) -> None:
    """Hold the meter of a command, a report, a page, a table and a gate to the rows."""
    returned = sum(len(row["hits"]) for row in rows)
    eligible = sum(min(50, row["candidates"]) for row in rows)
    assert eligible == 4055
    part = f"{returned / eligible:.1%}"
    sentence = f"rows of the calls for 50: 7,900 asked, 4,055 eligible, {returned:,} returned ({part} of the eligible)"
    assert sentence in told
    assert f"r: {sentence}" in recallbench("table", "r", cwd=place).stdout
    row = ("50", "7,900", "4,055", f"{returned:,}", part, "158")
    assert f"| {' | '.join(row)} |" in (place / "r" / "report.md").read_text()
    assert f"<td>{returned:,}</td>" in (place / "r" / "report.html").read_text()
    rules = '["returned_share@10 >= 0.01", "returned_share@50 >= 1"]'
    (place / "recallbench.toml").write_text(f'[result.night]\nfolder = "r"\nrules = {rules}\n')
    gated = recallbench("gate", cwd=place)
    assert gated.returncode == 1
    share = sum(len(row["hits"]) / min(50, row["candidates"]) for row in rows) / len(rows)
    assert re.search(rf"returned_share@50 >= 1 +{share:.4f}", gated.stdout)
    assert "1 of 2 thresholds" in gated.stdout


@pytest.mark.parametrize(
    ("options", "problem", "remedy"),
    [
        (("index=hsnw",), "--set index hsnw is not known", "you may mean hnsw"),
        (("index=hnsw", "ef_serch=40"), "the store `pgvector` has no use for --set ef_serch", "you may mean ef_search"),
        (("index=hnsw", "ef_search=0"), "0, which is no whole number from 1 to 1000", ""),
        (("index=ivfflat", "lists=0"), "0, which is no whole number from 1 to 32768", ""),
        (("index=ivfflat", "lists=8", "probes=9"), "there are not so many lists to read", "--set probes=8"),
        (("index=ivfflat", "iterative_scan=strict_order"), "no iterative scan in strict order", "relaxed_order"),
        (("index=ivfflat", "m=8"), "--set index=ivfflat has no use for --set m", "add --set index=hnsw"),
        (("index=hnsw", "m=40"), "the graph of hnsw can't be built like this", "--set ef_construction=80"),
        (("index=hnsw", "candidates=50"), "nothing is scored again", "--set vector_type=halfvec"),
        (("vector_type=bit",), "--set index=exact has no use for --set vector_type", "add --set index=hnsw"),
    ],
)
def test_what_no_index_can_be_is_refused(tmp_path: Path, options, problem: str, remedy: str) -> None:
    given = [word for option in options for word in ("--set", option)]
    refused = recallbench(*ON_CANARY, "--weights", "cosine", *given, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert problem in refused.stderr
    assert remedy in refused.stderr


def test_an_index_of_vectors_ranks_by_nothing_else(tmp_path: Path) -> None:
    refused = recallbench(*ON_CANARY, "--set", "index=hnsw", cwd=tmp_path)
    assert refused.returncode == 2
    assert "an index of vectors can't rank by words, dates or neighbours" in refused.stderr
    assert "add --weights cosine, or leave out --set index" in refused.stderr
