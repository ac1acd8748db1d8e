"""A page shows text, and its links lead to files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallbench.escaping.web import address, html


def test_text_is_no_tag_and_ends_no_attribute() -> None:
    assert html("</td><script>'\"&\x1b\u202e") == r"&lt;/td&gt;&lt;script&gt;&#x27;&quot;&amp;\x1b\u202e"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("0.9.1+local_20261118/report.md", "0.9.1+local_20261118/report.md"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
        ('a"onmouseover=b', "a%22onmouseover%3Db"),
        ("a b)", "a%20b%29"),
    ],
)
def test_an_address_is_a_relative_path(path: str, expected: str) -> None:
    assert address(path) == expected


@given(st.text())
def test_an_address_holds_nothing_but_words_and_slashes(path: str) -> None:
    assert not set(address(path)) & set(":<>()[]\"' \\\n")
