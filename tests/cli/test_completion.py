"""`recallbench completion` in the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from commandline import environment, installed, recallbench


def completed(line: str, cwd: Path) -> list[str]:
    """The words that bash would be told for this line."""
    words = line.split(" ")
    asking = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_RECALLBENCH_COMPLETE": "bash_complete"}
    return [text.partition(",")[2] for text in recallbench(cwd=cwd, env=asking).stdout.splitlines()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("recallbench compl", ["completion"]),
        ("recallbench completion ", ["bash", "zsh", "fish"]),
        ("recallbench run canary-", ["canary-locomo", "canary-longmemeval"]),
        ("recallbench run --store pgm", ["pgmnemo"]),
        ("recallbench run --embedder dragon", ["dragon-plus"]),
        ("recallbench fetch bge-m", ["bge-m3"]),
        ("recallbench doctor realta", ["realtalk", "realtalk-turns"]),
        ("recallbench evaluate hub:scif", ["hub:scifact"]),
        ("recallbench table --measures recall_any@10,recall_f", ["recall_any@10,recall_frac@10"]),
        ("recallbench score --forma", ["--format"]),
        ("recallbench score --format ht", ["html"]),
        ("recallbench export par", ["parquet"]),
    ],
)
def test_commands_options_and_names_are_completed(tmp_path: Path, line: str, expected: list[str]) -> None:
    assert completed(line, tmp_path) == expected


def test_the_stages_of_a_result_are_completed(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "metrics.json").write_text('{"pipeline": {"stages": [{"name": "words"}, {"name": "fuse"}]}}')
    assert completed("recallbench stages r --stage w", tmp_path) == ["words"]
    (tmp_path / "r" / "metrics.json").write_text("{")
    assert completed("recallbench stages r --stage w", tmp_path) == ["w"]


def test_former_names_are_not_offered(tmp_path: Path) -> None:
    assert "--folder" in completed("recallbench site --", tmp_path)
    assert "--out" not in completed("recallbench site --", tmp_path)


def test_the_last_line_says_where_the_script_goes(tmp_path: Path) -> None:
    for shell, place in (("bash", "bash-completion"), ("zsh", "fpath"), ("fish", "completions/recallbench.fish")):
        last = recallbench("completion", shell, cwd=tmp_path).stdout.splitlines()[-1]
        assert last.startswith(f"# For every new session: recallbench completion {shell} > ")
        assert place in last
    refused = recallbench("completion", "tcsh", cwd=tmp_path)
    assert (refused.returncode, "'tcsh' is not one of 'bash', 'zsh', 'fish'" in refused.stderr) == (2, True)


BASH = """
eval "$(recallbench completion bash)"
COMP_WORDS=({line}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_recallbench_completion recallbench
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
autoload -Uz compinit; compinit -u
_arguments() {{ :; }}
compadd() {{ while [[ $1 != -- && $# -gt 0 ]]; do [[ $1 == -a ]] && {{ print -l ${{(P)2}}; return; }}; shift; done; }}
_describe() {{ print -l ${{(P)3}}; }}
eval "$(recallbench completion zsh)"
words=({line}); CURRENT=$#words
_recallbench_completion
"""
FISH = """
recallbench completion fish | source
complete -C "{line}"
"""


@pytest.mark.parametrize(("shell", "script"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
@pytest.mark.parametrize(
    ("line", "expected"),
    [("recallbench comple", "completion"), ("recallbench run canary-loc", "canary-locomo")],
)
def test_the_shell_itself_completes(tmp_path: Path, shell: str, script: str, line: str, expected: str) -> None:
    if (program := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not on this machine")
    env = environment(tmp_path, {"PATH": installed(tmp_path / "bin"), "HOME": str(tmp_path)})
    alone = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [program, *alone, "-c", script.format(line=line)],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert [word.partition("\t")[0].partition(":")[0] for word in done.stdout.split("\n") if word] == [expected], (
        done.stderr
    )
