"""A result must name the version that was measured."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from recallbench.audit.gates.version import check


@dataclass
class StoreRecord:
    name: str
    version: str
    version_after: str
    asked_version: str | None


@dataclass
class MetricsRecord:
    store: StoreRecord
    pgmnemo_version: str | None


@dataclass
class Evidence:
    metrics: MetricsRecord
    folder: Path | None = None


REFERENCE = "recallbench-pgvector/1 (PostgreSQL 18.4, pgvector 0.8.5)"


@pytest.mark.parametrize(
    ("store", "version", "after", "requested", "pinned", "status"),
    [
        ("pgvector", REFERENCE, REFERENCE, None, None, "pass"),
        ("pgvector", REFERENCE, REFERENCE, "recallbench-pgvector/1", None, "pass"),
        ("pgvector", REFERENCE, REFERENCE, "v1", None, "pass"),
        ("pgvector", REFERENCE, REFERENCE, "0.8.5", None, "fail"),
        ("pgvector", REFERENCE, REFERENCE, "PostgreSQL", None, "fail"),
        ("pgvector", REFERENCE, REFERENCE, "", None, "fail"),
        ("pgvector", REFERENCE, REFERENCE, None, "0.2.1", "fail"),
        ("pgvector", REFERENCE, REFERENCE.replace("18.4", "18.5"), None, None, "fail"),
        ("pgmnemo", "0.2.1", "0.2.1", "v0.2.1", "0.2.1", "pass"),
        ("pgmnemo", "0.2.1", "0.2.1", None, "0.2.1", "pass"),
        ("pgmnemo", "0.2.1", "0.2.1", "v0.4.1", "0.2.1", "fail"),
        ("pgmnemo", "0.2.1", "0.2.1", "v0.2.1", "0.4.1", "fail"),
        ("pgmnemo", "0.2.1", "0.2.1", "v0.2.1", None, "fail"),
    ],
)
def test_the_pinned_version_must_be_the_measured_version(
    store: str, version: str, after: str, requested: str | None, pinned: str | None, status: str
) -> None:
    evidence = Evidence(MetricsRecord(StoreRecord(store, version, after, requested), pinned))
    assert check(evidence).status == status  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("store", "name", "status"),
    [
        ("pgmnemo", "0.2.1_20261119", "pass"),
        ("pgmnemo", "v0.2_20261119_numpy-2.4.6", "pass"),
        ("pgmnemo", "0.2.1_20261119_asked-for-0.4.1", "pass"),
        ("pgmnemo", "pgmnemo_20261119_numpy-2.4.6", "pass"),
        ("pgmnemo", "20261119", "pass"),
        ("pgmnemo", "0.4.1_20261119", "fail"),
        ("pgmnemo", "v0.4.1_20261119", "fail"),
        ("exact", "0.4.1_exact_20261119", "pass"),
    ],
)
def test_a_folder_named_after_another_version_fails(store: str, name: str, status: str) -> None:
    pinned = "0.2.1" if store == "pgmnemo" else None
    evidence = Evidence(MetricsRecord(StoreRecord(store, "0.2.1", "0.2.1", None), pinned), Path("results") / name)
    finding = check(evidence)  # type: ignore[arg-type]
    assert finding.status == status
    assert status == "pass" or finding.observed == "the folder is named 0.4.1, measured was 0.2.1"
