"""The version that a foreign folder names, claims and measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recallbench.audit.named_version import version_in
from recallbench.foreign.audit import audit_foreign


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v0.4.0_session_via_router_20260516", "0.4.0"),
        ("0.2.2-hybrid", "0.2.2"),
        ("pgmnemo-v9", "9"),
        ("v062_sparse_safe", "062"),
        ("baseline_fusion_20260516", ""),
        ("locomo10", ""),
        ("pgmnemo0.3.1-locomo", "0.3.1"),
        ("locomo10.2", ""),
        ("run_2026.05.16", ""),
        ("2026.05.16_v0.4.0", "0.4.0"),
        ("", ""),
    ],
)
def test_the_version_that_a_text_names(text: str, version: str) -> None:
    assert version_in(text) == version


@pytest.mark.parametrize(
    ("folder", "claimed", "measured", "status", "observed"),
    [
        ("v0.4.0_run", "v0.4.0", "0.4.0", "pass", "named 0.4.0, says 0.4.0, measured was 0.4.0"),
        ("v0.4.0_run", "v0.4.0", "0.4.1", "fail", "named 0.4.0, says 0.4.0, measured was 0.4.1"),
        ("run", "v0.4.0", "0.3.1", "fail", "says 0.4.0, measured was 0.3.1"),
        ("v0.2.1", "v0.2.2-sim", "", "fail", "named 0.2.1, says 0.2.2; no pgmnemo_version is stated"),
        ("v0.2.1", "", "", "cannot-tell", "named 0.2.1; no pgmnemo_version is stated"),
        ("v0.4_run", "", "0.4.1", "pass", "named 0.4, measured was 0.4.1"),
        ("v062_run", "", "0.6.2", "pass", "named 062, measured was 0.6.2"),
        ("run", "", "0.6.2", "pass", "neither folder nor field names one"),
    ],
)  # fmt: skip
def test_a_version_that_was_not_measured_is_a_finding_of_its_own(
    tmp_path: Path, folder: str, claimed: str, measured: str, status: str, observed: str
) -> None:
    (tmp_path / folder).mkdir()
    stated = {"version": claimed, "pgmnemo_version": measured, "overall": {"recall@10": 0.5}}
    (tmp_path / folder / "metrics.json").write_text(json.dumps(stated))
    audit = audit_foreign(tmp_path / folder, (), {"RECALLBENCH_DATA_DIR": str(tmp_path)})
    (check,) = (check for check in audit.checks if check.code == "RB-F-VERSION")
    expected = observed.replace("named", "the folder is named").replace("says", "its field version says")
    assert (check.status, check.observed) == (status, expected)


def test_the_working_directory_has_a_name_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "v0.4.0").mkdir()
    monkeypatch.chdir(tmp_path / "v0.4.0")
    Path("metrics.json").write_text(json.dumps({"pgmnemo_version": "0.3.1", "overall": {"recall@10": 0.5}}))
    audit = audit_foreign(Path("."), (), {"RECALLBENCH_DATA_DIR": str(tmp_path)})
    (check,) = (check for check in audit.checks if check.code == "RB-F-VERSION")
    assert (check.status, check.observed) == ("fail", "the folder is named 0.4.0, measured was 0.3.1")


@pytest.mark.parametrize(
    ("label", "status"), [("v0.4.0 session router", "fail"), ("0.3.1 with numpy 2.4.6", "pass"), ("router v2", "pass")]
)
def test_a_label_may_claim_a_version_too(tmp_path: Path, label: str, status: str) -> None:
    (tmp_path / "run").mkdir()
    stated = {"run_label": label, "pgmnemo_version": "0.3.1", "overall": {"recall@10": 0.5}}
    (tmp_path / "run" / "metrics.json").write_text(json.dumps(stated))
    audit = audit_foreign(tmp_path / "run", (), {"RECALLBENCH_DATA_DIR": str(tmp_path)})
    (check,) = (check for check in audit.checks if check.code == "RB-F-VERSION")
    assert check.status == status
