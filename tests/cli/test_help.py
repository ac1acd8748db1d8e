"""The help of every command: whole sentences, one meaning for each option, groups where there are many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from commandline import recallbench
from recallbench.cli.option_groups import GROUPS, MANY, OWN, group_options
from recallbench.cli.program import COMMANDS, PANELS, program
from recallbench.reports.printing.printed import FORMATS

MEANINGS = {
    "--out": {"The folder that result folders go into."},
    "--label": {"A word added to the folder's name."},
    "--k": {"How many of the first hits count."},
    "--json": {"The same as --format json."},
}
DEFAULT = re.compile(r" ?\[default: [^\]]*\]")


def commands() -> Iterator[tuple[str, click.Command]]:
    for name in COMMANDS:
        command = program.get_command(click.Context(program), name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for inner in command.list_commands(context):
                found = command.get_command(context, inner)
                assert found is not None
                yield f"{name} {inner}", found


def shown() -> Iterator[tuple[str, click.Option]]:
    for name, command in commands():
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                yield name, param


def test_an_option_means_one_thing_wherever_it_is() -> None:
    seen = 0
    for name, option in shown():
        for word in option.opts:
            if word in MEANINGS:
                assert DEFAULT.sub("", option.help or "") in MEANINGS[word], f"{name} {word}"
                seen += 1
    assert seen > 40


def test_every_command_prints_in_any_format() -> None:
    """A script for a shell is in no other form."""
    without = set()
    for name, command in commands():
        formats = [param.type for param in command.params if param.name == "format"]
        if not isinstance(command, click.Group) and [getattr(each, "choices", ()) for each in formats] != [FORMATS]:
            without.add(name)
    assert without == {"completion"}


def test_every_help_is_made_of_whole_sentences() -> None:
    for name, command in commands():
        assert re.match(r"[A-Z]", command.help or ""), name
        assert (command.help or "").rstrip().endswith("."), name
    for name, option in shown():
        text = DEFAULT.sub("", option.help or "")
        assert re.match(r"[A-Z]", text), f"{name} {option.opts[0]}: {text}"
        assert text.endswith((".", "?", "…")), f"{name} {option.opts[0]}: {text}"
    for panel in PANELS.values():
        for name, summary in panel.summaries.items():
            assert summary.endswith("."), name


def test_no_help_speaks_of_labelled_sets() -> None:
    for name, command in commands():
        assert "labelled" not in (command.help or ""), name
    for name, option in shown():
        assert "labelled" not in (option.help or ""), f"{name} {option.opts[0]}"


def test_a_command_with_many_options_shows_them_in_groups(tmp_path: Path) -> None:
    printed = recallbench("run", "--help", cwd=tmp_path).stdout
    titles = [group for group in GROUPS if f"\n{group}:\n" in printed]
    assert titles == [group for group in GROUPS if group != "How hits are judged"]
    places = [printed.index(f"\n{title}:\n") for title in titles]
    assert places == sorted(places)
    system = printed[printed.index("\nThe system under test:") : printed.index("\nWhat is written, and where:")]
    for name in ("--store", "--dsn", "--set"):
        assert f"  {name}" in system
    assert "  --graph-ranker " in printed[printed.index("\nOptions of one store alone:") : places[-1]]
    assert "Examples: recallbench run canary-locomo --store bm25; " in " ".join(printed.split())
    assert "--reproduce BASELINE " in printed
    assert "  -h, --help " in printed[printed.index("\nHow it is printed:") :]
    few = recallbench("costs", "--help", cwd=tmp_path).stdout
    assert "\nOptions:\n" in few


def test_groups_lose_no_option() -> None:
    names = [f"own_{number}" for number in range(MANY)] + ["store", "out", "flag"]
    grouped = group_options(names, ["flag"])
    assert sorted(name for members in grouped.values() for name in members) == sorted(names)
    assert grouped["The system under test"] == ["store"]
    assert grouped["Options of one store alone"] == ["flag"]
    assert grouped["What is written, and where"] == ["out"]
    assert next(iter(grouped)) == OWN
    assert group_options(["store", "out"], []) == {"Options": ["store", "out"]}


@pytest.mark.parametrize("title", ["Measure", "Look", "Judge", "Own data", "Set-up"])
def test_the_program_lists_its_commands_in_panels(tmp_path: Path, title: str) -> None:
    printed = recallbench("--help", cwd=tmp_path).stdout
    assert f"\n{title}:\n" in printed


def test_the_program_explains_its_words_and_exit_codes(tmp_path: Path) -> None:
    printed = recallbench("--help", cwd=tmp_path).stdout
    assert "1 `gate`, `audit` or something that you required failed" in " ".join(printed.split())
    words = printed.rpartition("\n\n")[2].splitlines()
    assert [line.split()[0] for line in words] == [
        *("corpus", "haystack", "store", "encoder", "protocol", "gate", "deviation", "VERIFIED", "CANONICAL", "pgmnemo")
    ]
    assert words[4] == "  protocol   the frozen rules of a measurement: corpora, settings, and what is counted"
    assert max(map(len, words)) <= 110


def test_each_help_with_the_variables_says_where_words_are_explained_and_each_but_one_has_an_example() -> None:
    without = set()
    for name, command in commands():
        told = " ".join([command.help or "", command.epilog or ""])
        if "With --config" in told:
            assert "`recallbench --help` explains the words" in told, name
        if not isinstance(command, click.Group) and "Example" not in told:
            without.add(name)
    assert without == {"audit", "completion"}


def test_an_option_of_one_store_says_of_which(tmp_path: Path) -> None:
    printed = " ".join(recallbench("run", "--help", cwd=tmp_path).stdout.split())
    assert "--weights TEXT Of pgvector: what each part of the score counts" in printed
    assert "--call TEXT Of callable: your function or class, as `module:name`." in printed


def test_a_k_that_run_has_not_is_answered_by_depth(tmp_path: Path) -> None:
    done = recallbench("run", "canary-locomo", "--k", "100", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "recallbench: No such option '--k'\n  what to do: leave it out: figures are at 1, 5, 10 and more at once; "
        "--depth is how many hits a ranking keeps\n",
    )
    near = recallbench("run", "canary-locomo", "--stroe", "bm25", cwd=tmp_path).stderr
    assert "No such option '--stroe'. (Did you mean" in near
    assert "depth" not in recallbench("costs", "x", "--k", "3", cwd=tmp_path).stderr
