"""The documents of the project, and what stands in them: blocks, code marks, sections, commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "PROTOCOL.md",
    ROOT / "HISTORY.md",
    *sorted((ROOT / "benchmarks").glob("*/README.md")),
    *sorted((ROOT / "benchmarks").glob("*/VERSIONS.md")),
    *sorted((ROOT / "benchmarks").glob("*/STORES.md")),
    ROOT / "benchmarks" / "AUDIT.md",
    ROOT / "benchmarks" / "PUBLISHED.md",
    ROOT / "benchmarks" / "RANKERS.md",
    *sorted((ROOT / "benchmarks").glob("*/ADDENDA/*.md")),
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
]
README = (ROOT / "README.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
HISTORY = (ROOT / "HISTORY.md").read_text("utf-8")
GUIDES = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
"""The text of each guide, by the name of its file."""
DEFINITIONS = (ROOT / "docs" / "definitions.md").read_text("utf-8")
PROCEDURE = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
WRITTEN = [path for path in DOCUMENTS if path.parent.name != "reference"]
"""Those that nobody makes from the program."""
each_written = pytest.mark.parametrize("document", WRITTEN, ids=[str(path.relative_to(ROOT)) for path in WRITTEN])
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)


class Block(NamedTuple):
    """A fenced block of a document."""

    language: str
    body: str


def blocks(text: str) -> list[Block]:
    return [Block(*match) for match in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def prose(text: str) -> str:
    """The text without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def spans(text: str) -> list[str]:
    """The texts in code marks."""
    return re.findall(r"`([^`\n]+)`", prose(text))


def section(text: str, title: str) -> str:
    """From the heading `title` to the next of its level or above."""
    level, fenced, lines = title.index(" "), False, []
    for line in text.split(f"\n{title}\n", 1)[1].splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if not fenced and re.match(rf"#{{1,{level}}} ", line):
            break
        lines.append(line)
    return "".join(lines)


def slugs(text: str) -> set[str]:
    """The anchors that a reader's software makes of headings."""
    headings = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def command_lines(text: str) -> Iterator[list[str]]:
    """Every command of the documents that is ours, as the words of `recallbench …`."""
    lines = [line for block in blocks(text) if block.language == "sh" for line in block.body.splitlines()]
    for line in [*lines, *spans(text)]:
        plain = re.sub(r"\$\([^)]*\)", "DATE", line).replace("…", "").strip("()")
        for piece in re.split(r"&&|\|", plain):
            try:
                words = shlex.split(piece.strip("() "), comments=True)
            except ValueError:
                continue  # prose in code marks, such as an apostrophe
            if words[:1] and words[0] in ("recallbench", ".venv/bin/recallbench"):
                yield words[1:]
            elif words[:1] == ["scripts/run"] and len(words) > 1:
                yield ["run", *words[1:]]
            elif words[:2] == ["python", "runner.py"]:
                yield ["run", "locomo", *words[2:]]
            elif words[:2] == ["bash", "run_locomo.sh"]:
                assert len(words) >= 4
                yield ["run", "locomo", *words[4:]]
