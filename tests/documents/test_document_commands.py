"""Commands, options and variables of the documents are the program's."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Collection, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from commandline import recallbench
from documents.markdown import (
    CONTRIBUTING,
    GUIDES,
    PROCEDURE,
    README,
    ROOT,
    blocks,
    command_lines,
    each_written,
    section,
    spans,
)
from recallbench.cli.program import COMMANDS, program
from recallbench.corpora.registry import CORPORA, GROUPS, facts
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.registry import form_of
from recallbench.exports.registry import TARGETS
from recallbench.protocol.frozen import load, read_data
from recallbench.stores.registry import STORES, find_store


@cache
def options_of(*command: str) -> frozenset[str]:
    """The options in the real `--help` of a command, given by its words."""
    done = recallbench(*command, "--help", cwd=ROOT)
    assert done.returncode == 0
    return frozenset(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", done.stdout))


WITHIN: Mapping[str, Collection[str]] = {"export": TARGETS, "vectors": ("pack", "verify", "use")}
"""The commands that have others in them."""
INNERMOST = [[name] for name in COMMANDS if name not in WITHIN]
INNERMOST += [[name, inner] for name, others in WITHIN.items() for inner in others]
"""Every command that has no others in it, by its words."""


KNOWN: Mapping[str, Any] = {"--store": STORES, "--embedder": {*ENCODERS, "hash"}}


@each_written
def test_commands_parse(document: Path) -> None:
    for words in command_lines(document.read_text("utf-8")):
        if words and words[0].startswith("--"):
            assert words == ["--help"]
            continue
        command = words[0] if words else ""
        if not words:
            continue
        assert command in COMMANDS, words
        options = [word for word in words[1:] if word.startswith("-")]
        if command in WITHIN:
            assert len(words) == 1 or words[1] in WITHIN[command], words
        assert set(options) <= options_of(*words[: 2 if command in WITHIN and len(words) > 1 else 1]), words
        examples = {"diary", "newest"}  # what CONTRIBUTING adds
        for option, value in pairwise(words):
            if option in KNOWN and not value.startswith("-"):
                form = find_store(value) if option == "--store" else form_of(value)
                assert value in {*KNOWN[option], *examples} or form, words
        if command in ("run", "doctor") and len(words) > 1 and re.fullmatch(r"[a-z][a-z-]*", words[1]):
            assert words[1] in {*CORPORA, *GROUPS, *examples}, words
        if command == "fetch" and len(words) > 1 and words[1] != "NAME":
            assert words[1] in {*CORPORA, *ENCODERS}, words


def test_commands_are_found_at_all() -> None:
    assert len(list(command_lines(README))) >= 10
    assert ["run", "canary-locomo", "--store", "newest"] in list(command_lines(CONTRIBUTING))
    assert ["run", "locomo", "--version", "<TAG>", "--dry-run", "--strict"] in list(command_lines(PROCEDURE))


@each_written
def test_options_that_are_named_exist(document: Path) -> None:
    known = frozenset().union(*(options_of(*words) for words in INNERMOST)) | {
        "--all",
        "--version",
        "--help",
        "--strict",
    }
    written = [span for span in spans(document.read_text("utf-8")) if span.startswith("--")]
    named = {span.split()[0].split("=")[0].rstrip(",") for span in written}
    assert named <= known


@each_written
def test_modules_that_are_run_exist(document: Path) -> None:
    for module in re.findall(r"python -m ([\w.]+)", document.read_text("utf-8")):
        assert importlib.util.find_spec(module), module


def test_variables_are_read() -> None:
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    rows = re.findall(r"^\| (`[A-Z_`, ]+) \|", section(GUIDES["settings"], "## Variables"), re.MULTILINE)
    named = re.findall(r"[A-Z][A-Z_]+", " ".join(rows))
    assert len(named) == 15
    corpora = {facts(name, load()).variable for name in CORPORA}
    assert [name for name in named if f'"{name}"' not in source and name not in corpora] == []
    # The rule for options, shown by one example.
    assert "`RECALLBENCH_STORE=exact`" in GUIDES["settings"]
    variables = {"RECALLBENCH_STORE": "none-such"}
    assert "none-such" in recallbench("doctor", "locomo", cwd=ROOT, env=variables).stderr


def test_every_option_has_its_variable() -> None:
    context = click.Context(program)
    found = [program.get_command(context, name) for name in program.list_commands(context)]
    groups = {str(command.name): command for command in found if isinstance(command, click.Group)}
    assert groups.keys() == WITHIN.keys()
    found += [group.get_command(context, name) for group in groups.values() for name in group.list_commands(context)]
    for command in found:
        assert command is not None
        options = [
            param for param in command.params if isinstance(param, click.Option) and "--config" not in param.opts
        ]
        # An older spelling that no help shows is for the command line alone.
        for option in [option for option in options if not option.hidden]:
            long = [name[2:] for name in option.opts if name.startswith("--")]
            assert option.envvar == [f"RECALLBENCH_{name.upper().replace('-', '_')}" for name in long]


def test_the_settings_file_of_the_guide_works(tmp_path: Path) -> None:
    (block,) = [block for block in blocks(GUIDES["settings"]) if block.body.startswith("# night.toml")]
    (tmp_path / "night.toml").write_text(block.body)
    assert recallbench("run", "canary-locomo", "--config", "night.toml", cwd=tmp_path).returncode == 0
    (folder,) = (tmp_path / "benchmarks/canary-locomo/results").iterdir()
    assert re.fullmatch(r"bm25_\d{8}_nightly", folder.name)


def test_section_5_has_the_commands_of_the_protocol() -> None:
    procedure = read_data().frozen["procedure"]
    commands = [row["detail"] for row in procedure if row.get("detail", "").startswith("cd ")]
    assert len(commands) == 3
    commands_section = section(PROCEDURE, "## 5. The exact commands")
    assert [command for command in commands if command not in commands_section] == []
    assert "export PYTHONHASHSEED=42" in commands_section
    assert "export PGMNEMO_DSN=" in commands_section
    assert commands_section.count("--dry-run --strict") == 2
