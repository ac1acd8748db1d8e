"""The process that commands of tests are forks of: it and its folder end with whoever started it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from commandline import recallbench

STARTER = """
import subprocess, sys
serve = "import sys, zygote; zygote.serve(sys.argv[1])"
process = subprocess.Popen([sys.executable, "-c", serve, sys.argv[1]], stdout=subprocess.PIPE, text=True)
assert process.stdout.readline() == "ready\\n"
print(process.pid)
"""


def test_it_and_its_folder_go_with_whoever_started_it(tmp_path: Path) -> None:
    folder = tmp_path / "z"
    folder.mkdir()
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", STARTER, str(folder / "s")]
    done = subprocess.run(
        command, cwd=here, env={"PYTHONPATH": here}, capture_output=True, text=True, check=True, timeout=60
    )
    assert int(done.stdout) > 0
    end = time.monotonic() + 30
    while folder.exists():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_fork_is_given_code_a_script_and_what_is_typed(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv, sys.stdin.read()); sys.exit(3)"
    done = recallbench("a", "b", cwd=tmp_path, program=("-c", code), typed="two\nlines\n")
    assert (done.returncode, done.stdout) == (3, "['-c', 'a', 'b'] two\nlines\n\n")
    script = tmp_path / "script.py"
    script.write_text("import sys\nif __name__ == '__main__':\n    print(sys.argv[1:], repr(sys.stdin.read()))\n")
    done = recallbench("c", cwd=tmp_path, program=(str(script),))
    assert (done.returncode, done.stdout) == (0, "['c'] ''\n")
    failed = recallbench(cwd=tmp_path, program=("-c", "import sys; sys.exit('no')"))
    assert (failed.returncode, failed.stderr) == (1, "no\n")
