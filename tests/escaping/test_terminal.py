"""Nothing hidden reaches a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallbench.escaping.terminal import hidden, visible, visible_lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, café, 日本語\u3000と\xa0x ✅ ⚠\ufe0f", "plain, café, 日本語\u3000と\xa0x ✅ ⚠\ufe0f"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\nverdict: VERIFIED\r\t", r"a\nverdict: VERIFIED\r\t"),
        ("\x9b2J\x7f", r"\x9b2J\x7f"),
        ("\u202egnp\u2066\u200b\ufeff", r"\u202egnp\u2066\u200b\ufeff"),
        ("\u2028\u2029\x85", r"\u2028\u2029\x85"),
        ("\u3164\u034f", r"\u3164\u034f"),
        ("\U000e0041\ud800", r"\U000e0041\ud800"),
        ("[red]bold[/red]", "[red]bold[/red]"),
    ],
)
def test_hidden_characters_are_written_out_and_the_rest_is_unchanged(text: str, expected: str) -> None:
    assert visible(text) == expected
    assert hidden(text) == (text != expected)


def test_lines_of_a_block_stay_lines() -> None:
    assert visible_lines("a\x1b\n\tb") == "a\\x1b\n\\tb"


@given(st.text(st.characters()))
def test_no_hidden_character_is_left_and_no_other_is_changed(text: str) -> None:
    shown = visible(text)

    assert not hidden(shown)
    assert len(shown.splitlines()) <= 1
    assert shown.encode() is not None
    assert hidden(text) == (shown != text)
