"""Somebody who knows the README and the guides that it links, and types what stands there."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from documents.markdown import GUIDES, README, ROOT, section
from documents.shell_blocks import Line, Section, run_commands, write_files


class Walker:
    """Reads in a folder with a checkout's examples, and types commands in the order that they are told in."""

    def __init__(self, folder: Path, env: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.env = {**(env or {})}
        (folder / "examples").symlink_to(ROOT / "examples")

    def reads(self, title: str, guide: str = "", json_names: tuple[str, ...] = ()) -> list[Line]:
        """Write the files that a section shows, and return its commands; without a guide, of the README."""
        text = section(self.opens(guide) if guide else README, f"## {title}")
        write_files(text, self.folder, json_names)
        return Section(title, text).commands

    def opens(self, guide: str) -> str:
        """Return the text of a guide, which the README links itself or by the index of the guides."""
        linked = {*re.findall(r"\(docs/([\w-]+)\.md", README), *re.findall(r"\]\(([\w-]+)\.md", GUIDES["README"])}
        assert guide in linked, f"nobody finds docs/{guide}.md"
        return GUIDES[guide]

    def types(self, line: Line, replaced: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Type a command, and return how it ended; the words that are replaced stand for another corpus or folder."""
        command = line.command
        for old, new in (replaced or {}).items():
            assert old in command, f"{old} is not in {command}"
            command = command.replace(old, new)
        return run_commands([Line(command, line.exit_code)], self.folder, self.env)


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """The line in words that a command ends with."""
    return [line for line in done.stdout.splitlines() if line.strip()][-1]


def named(lines: list[Line], word: str) -> Line:
    """The one command among them that has this word."""
    (line,) = [line for line in lines if word in line.command.split()]
    return line
