"""Escaped JSON is the same document, without hidden characters."""

import json

from hypothesis import given
from hypothesis import strategies as st

from recallbench.escaping.document import json_text, plain
from recallbench.escaping.terminal import hidden


@given(st.dictionaries(st.text(), st.lists(st.text() | st.floats(allow_nan=False, allow_infinity=False))))
def test_json_is_the_same_document_and_hides_nothing(document: object) -> None:
    for indent in (None, 1):
        text = json_text(document, indent)

        assert json.loads(text) == document
        assert not hidden(text.replace("\n", ""))


def test_visible_characters_are_unchanged() -> None:
    assert plain('{"é": "\x9b\u202e\U000e0041"}') == '{"é": "\\u009b\\u202e\\udb40\\udc41"}'
