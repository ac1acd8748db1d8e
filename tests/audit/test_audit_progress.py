"""An audit tells how far it is: of the dataset, of the control, and of its checks."""

from pathlib import Path

from commandline import recallbench
from recallbench.audit.audit import audit
from recallbench.compare.thresholds import gate
from recallbench.compare.thresholds_file import read_thresholds
from recorded_progress import RecordedProgress


def test_each_part_is_told_to_its_end(tmp_path: Path) -> None:
    run = ("run", "canary-locomo", "--store", "bm25", "--folder", "result", "-q")
    assert recallbench(*run, cwd=tmp_path).returncode == 0
    heard = RecordedProgress()
    found = audit(tmp_path / "result", environ={}, rerun_control=True, progress=heard)
    assert heard.stages == [
        ("reading the dataset", 103, "segments", 103),
        ("ingesting and asking", 158, "answers", 158),
        ("auditing result", len(found.checks), "checks", len(found.checks)),
    ]
    # So does a gate that asks for one.
    (tmp_path / "recallbench.toml").write_text('[result.night]\nfolder = "result"\naudit = true\n')
    again = RecordedProgress()
    gate(read_thresholds(tmp_path / "recallbench.toml"), tmp_path, {}, {}, again)
    assert again.stages == heard.stages
