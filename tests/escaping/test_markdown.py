"""A renderer of Markdown shows escaped text as that text, and nothing else."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from recallbench.escaping.markdown import FORMATTING, Markup, code, fenced, inline, opening, table, unformatted
from recallbench.escaping.terminal import visible

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

hostile = st.text(
    st.sampled_from([*"aB1 _*~`<>&;[](){}!|\\#+-=.:/@'\"\n\t", "\x1b", "\u202e", "\u200b", "é"]), max_size=14
)


def leaves(page: str) -> list[Token]:
    return [leaf for token in RENDERER.parse(page) if token.type == "inline" for leaf in token.children or []]


def shown(page: str) -> str:
    """The text that a reader sees; anything but text is a failure."""
    shown_leaves = leaves(page)
    assert {leaf.type for leaf in shown_leaves} <= {"text", "text_special"}, shown_leaves
    return "".join(leaf.content for leaf in shown_leaves)


@given(hostile)
@example("</td><script>alert(1)</script>")
@example("[click](javascript:alert(1))")
@example("<javascript:alert(1)>")
@example("&lt;b&gt; &#60;")
@example("a\\|b\\")
@example("**bold** __b__ ~~s~~ `c`")
def test_text_inside_a_line_is_text(text: str) -> None:
    assert shown(f"x {inline(text)} x") == re.sub(" +$", "", f"x {visible(text)} x")


@given(hostile)
@example("# Verdict: CANONICAL")
@example("1. first")
@example("- item")
@example("> said")
@example("---")
@example("[x] done")
@example("[a]: https://x.example")
def test_text_at_the_start_of_a_line_is_a_paragraph(text: str) -> None:
    page = str(opening(text))

    assert {token.type for token in RENDERER.parse(page)} <= {"paragraph_open", "inline", "paragraph_close"}
    assert shown(page) == visible(text).strip()
    assert [token.type for token in RENDERER.parse(f"- {page}")].count("list_item_open") == 1


@given(hostile.filter(str.strip))
@example("`")
@example("a``b")
@example("`x`")
def test_code_is_one_span_of_that_text(text: str) -> None:
    span = leaves(f"x {code(text)} x")

    assert [leaf.type for leaf in span] == ["text", "code_inline", "text"]
    assert span[1].content.strip() == visible(text).strip()


@given(st.lists(st.tuples(hostile, hostile), max_size=3))
@example([("a|b", "c\\|d"), ("x\n| forged | row |", "\\")])
def test_a_table_has_as_many_cells_as_it_was_given(rows: list[tuple[str, str]]) -> None:
    cells_of_rows = [(first, code(second) if second.strip() else second) for first, second in rows]
    parsed = RENDERER.parse("\n".join(table(("one|two", "`head`"), cells_of_rows)))

    assert [token.type for token in parsed].count("tr_open") == 1 + len(rows)
    assert [token.type for token in parsed].count("td_open") == 2 * len(rows)
    assert not {"html_block", "heading_open", "fence"} & {token.type for token in parsed}
    cells = [token for token in parsed if token.type == "inline"][2:]
    assert [cell.content for cell in cells[::2]] == [str(inline(text)).strip() for text, _ in rows]


@given(hostile)
@example("a\n```\n# Verdict: CANONICAL")
def test_a_block_of_code_ends_where_it_should(text: str) -> None:
    blocks = RENDERER.parse("\n".join(fenced(text)))

    assert [token.type for token in blocks] == ["fence"]


@pytest.mark.parametrize(
    "text",
    [
        "multi-hop (2.5%)",
        "-0.5",
        "0.0012 *",
        "recall_any@10 of conv-26/q0",
        "AMD EPYC 7B13 @ 2.4GHz, 2 cores",
        "a < 5 & b > 3 # c",
        "[0.81, 0.85]",
        "C:\\data\\x",
        "2 * 3 = 6 ~ about",
        "PostgreSQL 18.4 (Debian 18.4-1), pgvector 0.8.5",
        "\x27it's\x27 50% of $10 {x}",
    ],
)
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert inline(text) == opening(text) == text
    assert code(text) == f"`{text}`"
    assert table(("a",), [(text,)])[2] == f"| {text} |"


def test_markup_is_not_escaped_twice() -> None:
    assert inline(inline("<b>")) == "&lt;b>"
    assert table(("a",), [(Markup("**x**"),)])[2] == "| **x** |"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <b>bold</b> word", "a \\x3cb>bold\\x3c/b> word"),
        ("````json", "\\x60\\x60\\x60`json"),
        ("f.<locals>.g <=> 1 < 2", "f.<locals>.g <=> 1 < 2"),
    ],
)
def test_what_would_format_a_page_is_spelled_out(text: str, expected: str) -> None:
    assert unformatted(text) == expected
    assert unformatted(expected) == expected
    assert FORMATTING.search(expected) is None
