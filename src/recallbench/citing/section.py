"""A section of a Markdown text: a heading and what stands under it, with what it declares of its figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from markdown_it.tree import SyntaxTreeNode

from recallbench.citing.declaration import Declaration, declaration, measuring
from recallbench.citing.figure_grammar import MEASURE, SHARE

_INLINE = ("inline", "link", "strong", "em")
_CODE = ("fence", "code_block")
_COMMAND = re.compile(
    r"^\s*(?:\$\s*)?(?:recallbench|python3?|pip|git|scripts/\S+)\s|(?:^|\s)--?[a-z][\w-]*|\w\(.*[:=]|[<>]=?|[{}]"
    r"|\bdrops?\b",
    re.DOTALL,
)
"""What is typed rather than said, in code marks."""
_BOUND = re.compile(rf"{MEASURE.pattern}\s*(?:[<>]=?|[≤≥])\s*{SHARE.pattern}", re.IGNORECASE)
"""A measure and its bound, which is a rule or a claim by the words around it."""


@dataclass(slots=True)
class Section:
    """The blocks from one heading to the next, with the sections whose headings stand above it."""

    level: int
    """Of its heading; 0 before the first."""
    blocks: list[SyntaxTreeNode] = field(default_factory=list)
    path: list[Section] = field(default_factory=list)
    """Itself, then the sections above it."""
    declared: list[Declaration] = field(default_factory=list)
    """Its own, in order, behind the one in force at its heading."""

    @property
    def heading(self) -> str:
        """Return the words of its heading; empty before the first."""
        return text_of(self.blocks[0]).strip() if self.level else ""

    @property
    def text(self) -> str:
        """Return its words, without those of code blocks."""
        return "\n".join(map(text_of, self.blocks))

    @property
    def code(self) -> list[str]:
        """Return its code blocks."""
        return [block.content for block in self.blocks if block.type in _CODE]

    def declared_at(self, line: int) -> Declaration | None:
        """Return what is declared of the figures of a line."""
        return next((one for one in reversed(self.declared) if one.line < line), None)


def sections_of(blocks: Iterable[SyntaxTreeNode]) -> list[Section]:
    """Return the sections of a text, the first of which stands before any heading."""
    sections = [Section(0)]
    for block in blocks:
        if block.type == "heading":
            sections.append(Section(int(block.tag[1:])))
        sections[-1].blocks.append(block)
    reach: dict[int, list[Section]] = {}
    """The sections that each declaration holds for and those that it stands in, by its line."""
    above: list[Section] = []
    for section in sections:
        above = [other for other in above if other.level < section.level]
        section.path = [section, *reversed(above)]
        if above and (inherited := above[-1].declared[-1:]):
            section.declared += inherited
        for block in section.blocks:
            if block.type == "html_block" and (found := declaration(block.content, line_of(block))):
                section.declared.append(found)
        for one in section.declared:
            reach.setdefault(one.line, [*section.path[1:]]).append(section)
        above.append(section)
    for section in sections:
        section.declared = [
            replace(
                one,
                commands="\n".join(filter(None, (measuring(block) for part in reach[one.line] for block in part.code))),
            )
            for one in section.declared
        ]
    return sections


def line_of(node: SyntaxTreeNode) -> int:
    """Return the line where a block begins, from 1."""
    return node.map[0] + 1 if node.map else 1


def text_of(node: SyntaxTreeNode) -> str:
    """Return the words of a block or inline element; pictures and code blocks hold none, commands no figures."""
    match node.type:
        case "text":
            return node.content
        case "code_inline":
            return _without_figures_of_commands(node.content)
        case "softbreak" | "hardbreak":
            return "\n"
        case "image":
            return ""
    words = ("" if node.type in _INLINE else "\n").join(map(text_of, node.children))
    return f"{words} {node.attrs['href']} " if node.type == "link" else words


def _without_figures_of_commands(code: str) -> str:
    """Return the text between code marks, with spaces for the measures and numbers of what is a command or a rule."""
    if not _COMMAND.search(code) or _BOUND.fullmatch(code.strip()):
        return code
    for form in (MEASURE, SHARE):
        code = form.sub(lambda match: " " * len(match[0]), code)
    return code
