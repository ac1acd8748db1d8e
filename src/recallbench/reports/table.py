"""A table of text, for a terminal, a pipe, Markdown, a page, a spreadsheet and a program."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TextIO

from recallbench.escaping import markdown, web
from recallbench.escaping.markdown import Markup
from recallbench.escaping.sheet import csv_text
from recallbench.escaping.terminal import visible


class Link(str):
    """A cell that links to a file, in Markdown and on a page."""

    __slots__ = ("path",)

    def __new__(cls, text: str, path: str) -> Link:
        """Return a link with this text to the relative path of a file."""
        link = super().__new__(cls, text)
        link.path = path
        return link

    path: str


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows. A cell is text, a `Link`, or `Markup` where it holds Markdown of its own."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    """The title above the table on a page."""
    left: Sequence[str] | None = None
    """The columns that are left-aligned in plain text, while the others are right-aligned; None for all."""
    indent: int = 0
    """Blanks before each line of plain text."""

    def text(self) -> list[str]:
        """Return a line for each row, every column as wide as its widest cell."""
        every = [[visible(cell) for cell in row] for row in (self.columns, *self.rows)]
        widths = [max(map(len, cells)) for cells in zip(*every, strict=True)]
        at_left = [self._is_left(i) for i in range(len(widths))]
        return [
            " " * self.indent
            + "  ".join(
                cell.ljust(width) if left else cell.rjust(width)
                for cell, width, left in zip(row, widths, at_left, strict=True)
            ).rstrip()
            for row in every
        ]

    def __str__(self) -> str:
        return "\n".join(self.text())

    def _repr_html_(self) -> str:
        return "\n".join(self.html())

    def markdown(self) -> list[str]:
        """Return a line for each row, with bars between the cells."""
        return markdown.table(self.columns, ([_markdown(cell) for cell in row] for row in self.rows))

    def html(self) -> list[str]:
        """Return a table whose rows are named by their first cells."""
        head = "".join(f'<th scope="col">{web.html(cell)}</th>' for cell in self.columns)
        body = [
            f'<tr><th scope="row">{_html(first)}</th>{"".join(f"<td>{_html(cell)}</td>" for cell in rest)}</tr>'
            for first, *rest in self.rows
        ]
        caption = web.html(self.caption)
        region = f' role="region" aria-label="{caption}" tabindex="0"' if caption else ""
        return [
            f'<div class="wide"{region}>',
            "<table>",
            *([f"<caption>{caption}</caption>"] if caption else []),
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *body,
            "</tbody>",
            "</table>",
            "</div>",
        ]

    def csv(self) -> str:
        """Return the rows below their header, for a spreadsheet."""
        return csv_text([self.columns, *self.rows])

    def records(self) -> list[dict[str, str]]:
        """Return a mapping for each row, by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def draw(self, file: TextIO) -> None:
        """Write the table to a terminal, which wraps a wide one: no figure is cut."""
        # Imported here: rich takes long to import, and only a terminal needs it.
        from rich import box
        from rich.console import Console
        from rich.padding import Padding
        from rich.table import Table as Grid
        from rich.text import Text

        grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for i, name in enumerate(self.columns):
            justify: Literal["left", "right"] = "left" if self._is_left(i) else "right"
            grid.add_column(Text(visible(name)), justify=justify, no_wrap=True)
        for row in self.rows:
            grid.add_row(*(Text(visible(cell)) for cell in row))
        indented = Padding(grid, (0, 0, 0, self.indent), expand=False)
        # Written as to a file: rich takes a dumb terminal for one of 80 columns and cuts cells, and its codes for
        # bold letters would be shown as text by the filter that hides control characters.
        wide = Console(file=file, highlight=False, force_terminal=False, color_system=None, width=10_000)
        wide.width = wide.measure(indented).maximum
        wide.print(indented)

    def _is_left(self, column: int) -> bool:
        return self.left is None or self.columns[column] in self.left


Part = str | Table
"""A part of the printed output: a line, or a table."""


def print_parts(*parts: Part) -> None:
    """Print lines and tables on stdout: tables drawn by rich in a terminal, plain text elsewhere."""
    for part in parts:
        if isinstance(part, Table) and sys.stdout.isatty():
            part.draw(sys.stdout)
        else:
            print("\n".join(plain_lines(part)))
    sys.stdout.flush()


def plain_lines(*parts: Part) -> list[str]:
    """Return lines and tables as lines of plain text."""
    return [line for part in parts for line in (part.text() if isinstance(part, Table) else [visible(part)])]


def _markdown(cell: str) -> str:
    if isinstance(cell, Link):
        return Markup(f"[{markdown.inline(str(cell))}]({web.address(cell.path)})")
    return cell


def _html(cell: str) -> str:
    text = web.html(cell)
    return f'<a href="{web.address(cell.path)}">{text}</a>' if isinstance(cell, Link) else text
