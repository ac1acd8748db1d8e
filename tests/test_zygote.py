"""The process that commands of tests are forks of: it and its folder end with whoever started it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commandline import recallbench
from forked import COMMAND
from zygote import WANTED, wants_encoder

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


def test_a_fork_imports_from_the_folders_it_is_given_and_in_place_of_what_is_loaded_only_afresh(tmp_path: Path) -> None:
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "mine" / "memory.py").write_text("")
    (tmp_path / "other" / "numpy.py").write_text("")
    code = "import sys; loaded = 'recallbench' in sys.modules; import memory, numpy; print(loaded, numpy.__file__)"
    for folders, loaded in (("mine",), "True"), (("mine", "other"), "False"):
        places = [str(tmp_path / folder) for folder in folders]
        done = recallbench(cwd=tmp_path, program=("-c", code), env={"PYTHONPATH": ":".join(places)})
        assert done.returncode == 0
        found, file = done.stdout.split()
        assert (found, file.startswith(places[-1])) == (loaded, len(folders) == 2)


def test_the_libraries_of_an_encoder_are_loaded_with_the_variables_of_a_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(WANTED, "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", "/here")
    given = dict(os.environ)
    request = {"program": list(COMMAND), "words": ["run", "--embedder", "minilm"], "environment": given}
    assert wants_encoder(request | {"environment": given | {"HF_HOME": "/there"}})
    assert not wants_encoder(request | {"environment": given | {"HF_ENDPOINT": "http://127.0.0.1:1"}})
    assert not wants_encoder(request | {"words": ["run", "--embedder", "hash"]})
    assert not wants_encoder(request | {"program": ["-c", "pass"]})
    monkeypatch.delenv(WANTED)
    assert not wants_encoder(request)
