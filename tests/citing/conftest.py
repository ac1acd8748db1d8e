"""A result for the tests of citations, and the audits that are wanted of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.audit.audit import Audit
from recallbench.audit.decision import Label, Verdict
from recallbench.citing.citation import AuditedResult
from recallbench.results.result import Result, open_result


@pytest.fixture(scope="package")
def bm25_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the bundled canary with BM25, in a repository of its own: recall_any@10 0.8354, n = 158."""
    place = tmp_path_factory.mktemp("cited")
    (place / ".git").mkdir()
    words = ("run", "canary-locomo", "--store", "bm25", "--folder", "results/r", "-q")
    assert recallbench(*words, cwd=place).returncode == 0
    return place / "results" / "r"


@pytest.fixture
def side(bm25_result: Path) -> Callable[..., AuditedResult]:
    """That result as if an audit had found it to be this; without deviations it is as if it had none."""

    def audited(label: Label, *deviations: str) -> AuditedResult:
        result = open_result(bm25_result)
        if not deviations:
            result = Result(bm25_result, result.metrics.model_copy(update={"deviations": []}))
        verdict = Verdict(label, (), (), canonical=label == "VERIFIED" and not deviations)
        return AuditedResult(result, Audit(bm25_result, (), verdict, deviations))

    return audited
