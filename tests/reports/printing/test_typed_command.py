"""The next command, made of the one that was typed."""

from __future__ import annotations

import pytest

from recallbench.reports.printing.typed_command import TypedCommand

VALUED = {"--store", "--factors", "--set"}


def typed(*words: str) -> TypedCommand:
    return TypedCommand.read(("recallbench", "grow"), words, VALUED)


@pytest.mark.parametrize(
    ("words", "again"),
    [
        (("locomo", "--factors", "2"), "recallbench grow locomo --factors 1,2"),
        (("locomo", "--factors=2", "-q"), "recallbench grow locomo -q --factors 1,2"),
        # What looks like an option behind one that takes a value is that value.
        (("--store", "--dry-run", "my team"), "recallbench grow --store --dry-run 'my team' --factors 1,2"),
        (("--dry-run", "team"), "recallbench grow team --factors 1,2"),
        (("-q", "--", "--factors", "2"), "recallbench grow -q --factors 1,2 -- --factors 2"),
        (("team", "--store"), "recallbench grow team --store --factors 1,2"),
        (("team", "--set", "note=it's"), "recallbench grow team --set 'note=it'\"'\"'s' --factors 1,2"),
    ],
)
def test_options_are_left_out_with_their_values_and_others_put_in_their_place(
    words: tuple[str, ...], again: str
) -> None:
    assert typed(*words).again("--dry-run", factors="1,2") == again


def test_a_flag_has_no_value_and_another_command_has_the_same_options() -> None:
    command = typed("locomo", "--require-quiet", "--store", "bm25").named("latency")
    assert command.again(require_quiet="") == "recallbench latency locomo --store bm25 --require-quiet"


def test_a_login_and_a_password_are_masked_before_they_are_quoted() -> None:
    again = typed("--set", "password=hidden", "--dsn", "postgresql://me:hidden@host/x").again()
    assert "hidden" not in again
    assert again.startswith("recallbench grow --set ")
    assert "host/x" in again


def test_the_form_of_what_is_printed_is_left_out() -> None:
    command = TypedCommand.read(
        ("recallbench", "score"), ("--format", "csv", "a", "--json", "--format=html"), {"--format"}
    )
    assert command.again() == "recallbench score a"


def test_the_value_of_an_option_becomes_an_argument() -> None:
    words = ("--run", "my run.json", "--gold=g;d", "--k", "3")
    command = TypedCommand.read(("recallbench", "evaluate"), words, {"--run", "--gold", "--k"}).named("score")
    assert command.with_argument("--run").again() == "recallbench score 'my run.json' '--gold=g;d' --k 3"
    assert command.with_argument("--gold").again() == "recallbench score --run 'my run.json' 'g;d' --k 3"


def test_of_an_option_that_is_repeated_some_values_are_kept() -> None:
    words = ("team", "--query", "A dog?", "--query=A cat?", "-q", "--query", "password=my own")
    command = TypedCommand.read(("recallbench", "label"), words, {"--query"})
    assert command.with_values("--query", {"A cat?"}).again() == "recallbench label team --query 'A cat?' -q"
    masked = command.with_values("--query", {"password=my own"}).again()
    assert masked.startswith("recallbench label team -q --query ")
    assert "my own" not in masked
