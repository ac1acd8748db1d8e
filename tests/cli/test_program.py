"""The program as a whole: help, exit codes, a changed protocol, an interruption."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from commandline import environment, recallbench
from recallbench.cli import main
from recallbench.cli.misuse import usage_error
from recallbench.cli.program import COMMANDS, PANELS, program
from recallbench.errors import UsageError

SOURCE = Path(__file__).parents[2] / "src"


def test_help_and_version(tmp_path: Path) -> None:
    assert "Measure a store on a corpus" in recallbench("--help", cwd=tmp_path).stdout
    assert recallbench("--version", cwd=tmp_path).stdout.startswith("recallbench 0.")
    assert recallbench("run", "--nonsense", cwd=tmp_path).returncode == 2
    assert recallbench(cwd=tmp_path).returncode == 2


def test_an_option_is_never_the_value_of_the_option_before_it(tmp_path: Path) -> None:
    done = recallbench("run", "canary-locomo", "--version", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2
    assert "--version has no value" in done.stderr
    assert "found: --dry-run" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_option_is_never_the_value_of_a_variable_or_a_setting(tmp_path: Path) -> None:
    words = ("run", "canary-locomo", "--store", "bm25", "--limit", "1")
    done = recallbench(*words, cwd=tmp_path, env={"RECALLBENCH_LABEL": "--dry-run"})
    assert (done.returncode, "--label has no value" in done.stderr) == (2, True)
    (tmp_path / "own.toml").write_text('folder = "--strict"\n')
    done = recallbench(*words, "--config", "own.toml", cwd=tmp_path)
    assert (done.returncode, "--folder has no value" in done.stderr) == (2, True)
    done = recallbench(*words, cwd=tmp_path, env={"RECALLBENCH_ALLOW_DEVIATION": "--dry-run"})
    assert (done.returncode, "--allow-deviation has no value" in done.stderr) == (2, True)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command by its name."""
    for name in COMMANDS:
        command = program.get_command(click.Context(program), name)
        assert command is not None
        yield name, command


def innermost() -> Iterator[tuple[list[str], click.Command]]:
    """Yield every command that has no others in it, by its words."""
    for name, command in commands():
        if isinstance(command, click.Group):
            context = click.Context(command)
            for inner in command.list_commands(context):
                found = command.get_command(context, inner)
                assert found is not None
                yield [name, inner], found
        else:
            yield [name], command


def test_every_option_that_takes_a_value_refuses_an_option() -> None:
    looked_at = 0
    for words, command in innermost():
        for parameter in command.params:
            if not isinstance(parameter, click.Option) or parameter.is_flag:
                continue
            for written in ([parameter.opts[0], "--quiet"], [f"{parameter.opts[0]}=--quiet"]):
                with pytest.raises(UsageError, match="has no value"):
                    program.main(args=[*words, *written], standalone_mode=False)
            looked_at += 1
    assert looked_at > 150


def test_the_help_lists_each_commands_own_summary() -> None:
    summaries = {name: summary for panel in PANELS.values() for name, summary in panel.summaries.items()}
    assert summaries == {
        name: (command.help or "").partition("\n\n")[0].replace("\n", " ") for name, command in commands()
    }


def test_the_help_has_a_panel_for_each_folder_of_commands(tmp_path: Path) -> None:
    printed = recallbench("--help", cwd=tmp_path).stdout
    places = [printed.index(f"\n{title}:\n") for title in ("Options", "Measure", "Judge", "Own data", "Set-up")]
    assert places == sorted(places)
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", printed, re.MULTILINE), name


def test_a_command_imports_no_other(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom recallbench.cli.program import program\n"
        "program.main(['audit', '--help'], standalone_mode=False)\n"
        "print([name for name in sys.modules if name.startswith('recallbench.cli.') and name.count('.') > 2])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['recallbench.cli.judge.audit']"


@pytest.mark.parametrize(
    ("words", "problem", "helps"),
    [
        (("run", "--nonsense"), "No such option '--nonsense'", "recallbench run --help"),
        (("compare",), "A is missing", "recallbench compare --help"),
        (("run", "locomo", "--depth", "3"), "Invalid value for '--depth': 3 is not in the range from 10 to 10", "run"),
        (("evaluated",), "No such command 'evaluated'. Did you mean 'evaluate'?", "recallbench --help"),
        (("history",), "add is missing", "recallbench history --help"),
        (("rnu",), "No such command 'rnu'. Did you mean 'run'?", "recallbench --help"),
    ],
)
def test_wrong_usage_is_written_as_every_other_error(words: tuple[str, ...], problem: str, helps: str) -> None:
    with pytest.raises(click.UsageError) as raised:
        program.invoke(program.make_context("recallbench", list(words)))
    lines = str(usage_error(raised.value)).splitlines()
    assert lines[0].startswith(problem)
    assert helps in lines[-1]


@pytest.mark.parametrize("listing", ["corpora", "stores", "embedders", "measures"])
def test_every_listing_names_its_entries(tmp_path: Path, listing: str) -> None:
    expected = {
        "corpora": "canary-locomo",
        "stores": "pgvector",
        "embedders": "dragon-plus",
        "measures": "recall_any@k",
    }
    assert expected[listing] in recallbench(listing, cwd=tmp_path).stdout


@pytest.mark.parametrize("name", ["1.0.0.toml", "1.0.0-clarifications.toml"])
@pytest.mark.parametrize("command", [["run", "canary"], ["doctor"], ["audit", "x"], ["fetch", "locomo"], ["corpora"]])
def test_a_changed_frozen_file_stops_every_command(tmp_path: Path, name: str, command: list[str]) -> None:
    shutil.copytree(SOURCE / "recallbench", tmp_path / "recallbench", ignore=shutil.ignore_patterns("__pycache__"))
    frozen = tmp_path / "recallbench" / "protocol" / name
    frozen.write_text(frozen.read_text() + "# one comment\n")
    done = recallbench(*command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 2
    assert name in done.stderr
    assert len([word for word in done.stderr.split() if len(word.strip("`',.")) == 64]) == 2


def test_ctrl_c_ends_cleanly(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\ndef make(items, vectors):\n    print('searching', flush=True)\n    time.sleep(60)\n"
    )
    command = [
        sys.executable,
        "-m",
        "recallbench",
        "run",
        "canary-locomo",
        "--store",
        "callable",
        "--call",
        "slow:make",
    ]
    env = environment(tmp_path, {"PYTHONPATH": str(tmp_path), "RECALLBENCH_EMBEDDER": "hash"})
    process = subprocess.Popen(
        command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "searching\n"
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGINT)
    _, printed = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted; no half result is left, and vectors that were computed are kept" in printed
    assert "Traceback" not in printed
    assert not list(tmp_path.rglob("metrics.json"))
    assert not list(tmp_path.rglob("*.partial*"))


def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path) -> None:
    pipe = f"{sys.executable} -m recallbench measures | head -1"
    done = subprocess.run(pipe, shell=True, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
    assert done.stderr == ""


def test_help_imports_no_heavy_library(tmp_path: Path) -> None:
    code = (
        "import sys, recallbench.cli.main\n"
        "heavy = {'numpy', 'scipy', 'torch', 'transformers', 'openvino', 'psycopg', 'pydantic', 'matplotlib',"
        " 'huggingface_hub', 'securesystemslib', 'pytrec_eval', 'ir_measures', 'ijson'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_interruption_of_its_own_imports_leaves_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Pressed:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'click':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Pressed())\n"
    )
    done = recallbench("corpora", cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "recallbench: interrupted before it began\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("recallbench rep", ["plain,repeat", "plain,report"]),
        ("recallbench run --graph-r", ["plain,--graph-ranker"]),
        ("recallbench run locomo --store-option dat", ["plain,dates=constant", "plain,dates=dataset"]),
    ],
)
def test_a_shell_completes_commands_options_and_what_stores_declare(
    tmp_path: Path, line: str, expected: list[str]
) -> None:
    asking = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1), "_RECALLBENCH_COMPLETE": "bash_complete"}
    assert recallbench(cwd=tmp_path, env=asking).stdout.splitlines() == expected


def test_the_completion_of_a_shell_can_be_printed(tmp_path: Path) -> None:
    script = recallbench(cwd=tmp_path, env={"_RECALLBENCH_COMPLETE": "zsh_source"}).stdout
    assert "#compdef recallbench" in script


def test_what_may_not_be_touched_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(_context: object) -> int:
        raise PermissionError(13, "Permission denied", "runs/mine.jsonl")

    monkeypatch.setattr(main.program, "invoke", refuse)  # root may touch everything
    assert main._run(["doctor"]) == 2
    assert capsys.readouterr().err == (
        "recallbench: no permission for runs/mine.jsonl\n  what to do: allow it, as by chmod, then run again\n"
    )
