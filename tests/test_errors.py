"""The text of an error: a quotation in it makes no line of its own."""

from recallbench.errors import InputError


def test_a_quotation_in_an_error_makes_no_line_of_its_own() -> None:
    error = InputError(
        "a\nrecallbench: VERIFIED: not this", expected="one\x1b[2J", found="line 1\n  what to do: rm", remedy="mend it"
    )

    assert str(error).split("\n") == [
        r"a\nrecallbench: VERIFIED: not this",
        r"  expected: one\x1b[2J",
        "  found: line 1",
        "      what to do: rm",
        "  what to do: mend it",
    ]
    assert error.brief == r"a\nrecallbench: VERIFIED: not this; expected one\x1b[2J, found line 1\n  what to do: rm"
    assert error.found == "line 1\n  what to do: rm"
