"""An audit reports its progress: through the dataset, the control and its checks."""

from datetime import date
from pathlib import Path

from commandline import recallbench
from recallbench.audit.audit import audit
from recallbench.compare.thresholds import gate
from recallbench.compare.thresholds_file import read_thresholds
from recorded_progress import RecordedProgress


def test_each_stage_is_reported_to_its_end(tmp_path: Path) -> None:
    run = ("run", "canary-locomo", "--store", "bm25", "--folder", "result", "-q")
    assert recallbench(*run, cwd=tmp_path).returncode == 0
    progress = RecordedProgress()
    report = audit(tmp_path / "result", environ={}, rerun_control=True, progress=progress)
    assert progress.stages == [
        ("reading the dataset", 103, "segments", 103),
        ("ingesting and asking", 158, "answers", 158),
        ("auditing result", len(report.checks), "checks", len(report.checks)),
    ]
    # A gate with an audit reports the same stages.
    (tmp_path / "recallbench.toml").write_text('[result.night]\nfolder = "result"\naudit = true\n')
    again = RecordedProgress()
    file = tmp_path / "recallbench.toml"
    gate(read_thresholds(file), file, {}, {}, again, today=date(2026, 1, 2))
    assert again.stages == progress.stages
