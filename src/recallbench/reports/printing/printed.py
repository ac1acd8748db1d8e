"""What a command prints: lines and tables, a document for programs, and the conclusion; in each of the formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from recallbench.escaping.document import json_text
from recallbench.escaping.markdown import opening
from recallbench.escaping.web import html
from recallbench.reports.page import Page
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.table import Part, Table, plain_lines

Format = Literal["text", "json", "csv", "markdown", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True, slots=True)
class Printed:
    """The output of a command. A report with a Markdown, page or sheet of its own gives it; else the parts make it."""

    title: str
    """The name of the page; the text has it only where the parts do."""
    parts: Sequence[Part]
    document: Mapping[str, Any]
    """What programs read; the conclusion is added to it."""
    conclusion: Conclusion | None = None
    own_markdown: str = ""
    own_page: str = ""
    own_sheet: Table | None = None

    def render(self, format: Format) -> str:
        """Return the output as one text. A sheet holds rows alone: its conclusion is for the caller to tell."""
        return {
            "text": self._text,
            "json": self._json,
            "csv": self._csv,
            "markdown": self._markdown,
            "html": self._html,
        }[format]()

    def _text(self) -> str:
        ending = ["", str(self.conclusion)] if self.conclusion else []
        return "\n".join(plain_lines(*self.parts, *ending)) + "\n"

    def _json(self) -> str:
        ending = {"conclusion": self.conclusion.document()} if self.conclusion else {}
        return json_text({**self.document, **ending}, indent=1) + "\n"

    def _csv(self) -> str:
        sheets = [self.own_sheet] if self.own_sheet else [part for part in self.parts if isinstance(part, Table)]
        return "\n".join(sheet.csv() for sheet in sheets)

    def _markdown(self) -> str:
        if self.own_markdown:
            lines = self.own_markdown.rstrip("\n").splitlines()
        else:
            lines = []
            for part in self.parts:
                lines += ["", *part.markdown(), ""] if isinstance(part, Table) else ["", opening(part)] if part else []
        ending = ["", f"**{opening(str(self.conclusion))}**"] if self.conclusion else []
        return "\n".join([*_single_blanks(lines), *ending]) + "\n"

    def _html(self) -> str:
        ending = [f"<p><strong>{html(str(self.conclusion))}</strong></p>"] if self.conclusion else []
        if self.own_page:
            head, end, tail = self.own_page.rpartition("</main>")
            return head + "".join(f"{line}\n" for line in ending) + end + tail
        body: list[str] = []
        for part in self.parts:
            body += part.html() if isinstance(part, Table) else [f"<p>{html(part)}</p>"] if part else []
        return Page(self.title, [*body, *ending]).html()


def _single_blanks(lines: Sequence[str]) -> list[str]:
    """Return the lines without blank ones at the start and end, or behind each other."""
    kept = [line for number, line in enumerate(lines) if line or (number and lines[number - 1])]
    while kept and not kept[-1]:
        kept.pop()
    return kept[1:] if kept and not kept[0] else kept
