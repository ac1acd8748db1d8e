"""The worked examples of the definitions give what stands beside them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from commandline import environment
from documents.markdown import DEFINITIONS, blocks


def test_each_example_prints_the_text_beside_it(tmp_path: Path) -> None:
    inside = [block for block in blocks(DEFINITIONS) if block.language in ("python", "text")]
    assert [block.language for block in inside] == ["python", "text"] * (len(inside) // 2)
    command = [sys.executable, "-c", "\n".join(block.body for block in inside[::2])]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=True)
    assert done.stdout == "".join(block.body for block in inside[1::2])
