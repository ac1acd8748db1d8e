"""A string of a TOML file reads back as the text, whatever it is."""

from __future__ import annotations

import tomllib

import pytest

from recallbench.escaping.toml import toml_string


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("nights/main_*", '"nights/main_*"'),
        ('a "b" \\ c', '"a \\"b\\" \\\\ c"'),
        ("a\nb\tc\x7f\x00", '"a\\nb\\tc\\u007F\\u0000"'),
        ("hidden \u202e \U000e0001 é", '"hidden \\u202E \\U000E0001 é"'),
        ("", '""'),
    ],
)
def test_a_string_reads_back_as_the_text(text: str, written: str) -> None:
    assert toml_string(text) == written
    assert tomllib.loads(f"{written} = {written}") == {text: text}
