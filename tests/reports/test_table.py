"""One table in every form: text, Markdown, HTML, CSV, JSON, and what rich draws in a terminal."""

from __future__ import annotations

import io

import pytest

from recallbench.escaping.markdown import Markup
from recallbench.reports.table import Link, Table, plain_lines, print_parts

TABLE = Table(("name", "value"), [("a|b", "0.5"), (Link("<c>", "runs/c d.md"), Markup("**10**"))], caption="Two & more")


def test_plain_text_is_as_wide_as_its_widest_cell() -> None:
    assert TABLE.text() == ["name  value", "a|b   0.5", "<c>   **10**"]
    at_right = Table(("name", "n"), [("a", "1"), ("bcdef", "100")], left=("name",), indent=2)
    assert at_right.text() == ["  name     n", "  a        1", "  bcdef  100"]
    assert Table(("x",), [("a\x1b[2Jb\nc",)]).text() == ["x", "a\\x1b[2Jb\\nc"]


def test_markdown_escapes_text_and_links_cells() -> None:
    assert TABLE.markdown() == [
        "| name | value |",
        "|---|---|",
        "| a\\|b | 0.5 |",
        "| [&lt;c>](runs/c%20d.md) | **10** |",
    ]


def test_html_names_its_columns_and_rows() -> None:
    assert TABLE.html() == [
        '<div class="wide" role="region" aria-label="Two &amp; more" tabindex="0">',
        "<table>",
        "<caption>Two &amp; more</caption>",
        '<thead><tr><th scope="col">name</th><th scope="col">value</th></tr></thead>',
        "<tbody>",
        '<tr><th scope="row">a|b</th><td>0.5</td></tr>',
        '<tr><th scope="row"><a href="runs/c%20d.md">&lt;c&gt;</a></th><td>**10**</td></tr>',
        "</tbody>",
        "</table>",
        "</div>",
    ]
    assert Table(("x",), []).html()[:2] == ['<div class="wide">', "<table>"]


def test_a_sheet_and_records_hold_the_cells_as_they_are() -> None:
    assert TABLE.csv() == "name,value\na|b,0.5\n<c>,**10**\n"
    assert Table(("x",), [("=1+1",)]).csv() == "x\n'=1+1\n"
    assert TABLE.records() == [{"name": "a|b", "value": "0.5"}, {"name": "<c>", "value": "**10**"}]


def test_a_row_of_another_width_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        Table(("a", "b"), [("1",)]).text()


class Terminal(io.StringIO):
    """A stdout that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_drawn_to_and_a_pipe_gets_plain_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    print_parts("two:\x1b[2J", TABLE)
    assert capsys.readouterr().out.splitlines() == ["two:\\x1b[2J", *TABLE.text()] == plain_lines("two:\x1b[2J", TABLE)
    screen = Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    print_parts("two:", Table(("name", "value"), [("[red]a[/red]\x1b[2J", "0.5")]))
    lines = [line.rstrip() for line in screen.getvalue().splitlines()]
    name, rule = "name" + " " * 18 + "value", "─" * 27
    assert lines == ["two:", name, rule, r"[red]a[/red]\x1b[2J   0.5"]


def test_no_figure_is_cut_where_a_terminal_is_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("COLUMNS", "20")
    print_parts(Table(("interval", "difference"), [("0.12345 to 0.54321 and more", "-0.3333")]))
    assert "0.12345 to 0.54321 and more" in screen.getvalue()
    assert "-0.3333" in screen.getvalue()
