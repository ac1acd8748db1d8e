"""The commands of the page about other memories give its table."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
from pathlib import Path

import pytest

from bolt import bolt_server
from commandline import recallbench

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "benchmarks" / "locomo" / "STORES.md").read_text("utf-8")
COMMANDS = {
    name: shlex.split(command)[1:]
    for command, name in re.findall(r"^(recallbench run locomo .*?) +# (.+)$", PAGE, re.M)
}
ROWS = {
    name.strip(): [cell.strip() for cell in cells.strip("|").split("|")]
    for name, cells in re.findall(r"^\| (\w[^|`]*) \|(.+\|)$", PAGE.split("## Which")[0], re.M)
    if name.strip() != "system"
}


def test_every_row_has_its_command() -> None:
    assert list(ROWS) == list(COMMANDS)
    assert len(ROWS) == 8


@pytest.mark.marked
@pytest.mark.real_data
@pytest.mark.parametrize("name", COMMANDS)
def test_the_commands_give_the_rows(name: str, tmp_path: Path, locomo_vectors: dict[str, str]) -> None:
    words = COMMANDS[name]
    env = locomo_vectors | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    for package, word in (("chromadb", "chroma"), ("lancedb", "lance")):
        if word in " ".join(words) and importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'recallbench[examples]'")
    options = ("--folder", tmp_path / "made", "--quiet")
    if "graph" in words:
        (tmp_path / "bolt").mkdir()
        with bolt_server(tmp_path / "bolt") as server:
            assert recallbench(*words, *options, cwd=tmp_path, env=env | server).returncode == 0
    else:
        assert recallbench(*words, *options, cwd=tmp_path, env=env).returncode == 0
    estimates = json.loads((tmp_path / "made" / "metrics.json").read_text())["estimates"]["overall"]
    by_name = {estimate["measure"]: estimate for estimate in estimates}
    first, last = by_name["recall_any@10"], by_name["mrr@50"]
    assert ROWS[name] == [
        f"{first['value']:.4f}",
        f"{first['low']:.4f} to {first['high']:.4f}",
        f"{by_name['recall_frac@10']['value']:.4f}",
        f"{by_name['recall_all@10']['value']:.4f}",
        f"{last['value']:.4f}",
        f"{last['low']:.4f} to {last['high']:.4f}",
    ]
