"""The commands of a document, run as its reader would: in order, in one folder, with the files that the text gives."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from commandline import environment, installed
from documents.markdown import Block, blocks

FILE_OF_A_BLOCK = re.compile(r"# ([\w.-]+\.(?:py|toml))\b")
"""The first line of a block that is a file, which names it."""
EXPECTED_EXIT = re.compile(r"# .*\bexit (\d) here\b")
HEAVY = re.compile(
    r"(?<!-)\b(locomo|longmemeval|realtalk|realtalk-turns|beam-100k|realmem|run all|canary-longmemeval"
    r"|minilm|graph|http_memory)\b"
)
"""What makes a section one of the marked stage: a real corpus, a real encoder, a server."""


class Line(NamedTuple):
    """A command of a shell block, continuation lines joined."""

    command: str
    exit_code: int

    @property
    def program(self) -> str:
        """Its first word."""
        return self.command.split()[0]


class Section(NamedTuple):
    """What stands under one heading of a document."""

    title: str
    text: str

    @property
    def commands(self) -> list[Line]:
        """Its shell commands."""
        return [line for block in blocks(self.text) if block.language == "sh" for line in lines(block)]

    @property
    def heavy(self) -> bool:
        """Whether it belongs to the marked stage."""
        return any(HEAVY.search(line.command) for line in self.commands)


def sections(text: str) -> list[Section]:
    """Cut a document at its headings, those in fenced blocks left alone."""
    found, title, kept, fenced = [], "", [], False
    for line in text.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if not fenced and re.match(r"##+ ", line):
            found.append(Section(title, "".join(kept)))
            title, kept = line.strip("# \n"), []
        kept.append(line)
    return [*found, Section(title, "".join(kept))]


def lines(block: Block) -> Iterator[Line]:
    """Yield the commands of a block; a comment that says `exit 1` names the exit code."""
    for line in block.body.replace("\\\n", " ").splitlines():
        command = re.sub(r"(^|\s+)# .*", "", line).strip()
        if command:
            told = EXPECTED_EXIT.search(line)
            yield Line(" ".join(command.split()), int(told[1]) if told else 0)


def write_files(text: str, folder: Path, json_names: Sequence[str] = ()) -> None:
    """Write the files that a document shows: those that name themselves, and its JSON blocks under these names."""
    names = iter(json_names)
    for block in blocks(text):
        named = FILE_OF_A_BLOCK.match(block.body)
        if block.language in ("python", "toml") and named:
            (folder / named[1]).write_text(block.body, "utf-8")
        elif block.language == "json" and (name := next(names, "")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(block.body, "utf-8")


def run_commands(commands: Sequence[Line], folder: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run them in one shell, which stops at the first that ends otherwise than the document says."""
    script = ["set -euo pipefail", "shopt -s expand_aliases", "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT"]
    for line in commands:
        told = f"ended otherwise than the document says: {line.command}".replace("'", "'\\''")
        if line.exit_code:
            ended = f"if {line.command}; then false; else [ $? = {line.exit_code} ]; fi"
            script.append(f"{ended} || {{ echo '{told}' >&2; exit 99; }}")
        elif line.command.endswith("&"):
            script += [line.command, "sleep 1"]
        elif re.match(r"alias |\w+=", line.command):
            script.append(line.command)
        else:
            script.append(f"{{ {line.command}\n}} || {{ echo '{told}' >&2; exit 99; }}")
    forks, _, others = installed(folder / "bin").partition(":")
    path = {"PATH": ":".join([forks, str(Path(sys.executable).parent), others])}
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env=environment(folder, {"RECALLBENCH_QUIET": "1", **path, **env}),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    print(done.stdout, done.stderr)
    return done
