"""The commands of the procedure, on a server whose pgmnemo is the stand-in of the store's tests.

With a version that this has for the tag, hashed vectors in place of those of the weights that only the hub has, two
questions of each corpus, and the miniature of LongMemEval.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from documents.markdown import PROCEDURE, ROOT, blocks, section
from documents.shell_blocks import lines, run_commands
from documents.surroundings import server_by_default
from recallbench.corpora.canary import FOLDER
from versioned import versioned_server

COMMANDS = [
    line for block in blocks(section(PROCEDURE, "## 5. The exact commands")) if block.language == "sh"
    for line in lines(block) if not line.command.endswith("--embedder minilm)")
]  # fmt: skip
TAG = "1.0"
EASED = {"RECALLBENCH_LIMIT": "2", "RECALLBENCH_EMBEDDER": "hash", "RECALLBENCH_ALLOW_DEVIATION": "dataset"}


@pytest.mark.marked
@pytest.mark.real_data
def test_they_make_a_server_ready_and_measure_both_corpora(tmp_path: Path, locomo_file: Path) -> None:
    for name in ("locomo/runner.py", "locomo/run_locomo.sh", "longmemeval/runner.py"):
        (tmp_path / "benchmarks" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "benchmarks" / name, tmp_path / "benchmarks" / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / "longmemeval_s_cleaned.json").symlink_to(FOLDER / "longmemeval.json")
    corpora = {"LOCOMO_DATA_DIR": str(locomo_file.parent), "LONGMEMEVAL_DATA_DIR": str(tmp_path)}
    with versioned_server() as server:
        named = server_by_default(server.dsn, tmp_path)
        commands = [line._replace(command=line.command.replace("<TAG>", TAG)) for line in COMMANDS]
        done = run_commands(commands, tmp_path, {**corpora, **EASED, **named})
    assert done.returncode == 0, done.stderr[-3000:]
    metrics = [json.loads(path.read_text()) for path in tmp_path.glob("benchmarks/*/results/*/metrics.json")]
    assert sorted(each["corpus"]["name"] for each in metrics) == ["locomo", "longmemeval"]
    assert {(each["store"]["name"], each["store"]["version"].split()[0]) for each in metrics} == {("pgmnemo", TAG)}
