"""LongMemEval's reader on a tiny item."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from recallbench.corpora.longmemeval import ABILITIES, DENOMINATORS, LongMemEval, ability
from recallbench.errors import InputError
from recallbench.protocol import load

Make = Callable[..., LongMemEval]


def test_text_is_a_line_per_turn_of_both_roles(longmemeval: Make) -> None:
    """Clarification 13."""
    (haystack,) = longmemeval().haystacks()
    assert [segment.text for segment in haystack.segments] == [
        "user: Hi\nassistant: Hello\nthere",
        "assistant: Yes?\nuser: The key is in the shoe.",
    ]


def test_an_item_is_a_scope_with_one_question(longmemeval: Make) -> None:
    """Clarification 2: one haystack per item."""
    corpus = longmemeval()
    (haystack,) = corpus.haystacks()
    (question,) = haystack.questions
    assert (haystack.scope, question.scope, question.id) == ("q1", "q1", "q1")
    assert (question.text, question.kind, question.gold) == ("Where is my key?", "multi-session", {1})
    assert question.asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert (question.answer, question.declined) == ("In the shoe", False)
    assert haystack.segments[0].occurred_at == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    assert (question.cluster, corpus.clustered) == ("", False)


def test_gold_turns_say_where_evidence_starts(longmemeval: Make) -> None:
    (haystack,) = longmemeval().haystacks()
    assert haystack.segments[0].gold_turns == ()
    (start,) = haystack.segments[1].gold_turns
    assert haystack.segments[1].text[start:] == "user: The key is in the shoe."


def test_the_dataset_id_is_kept_apart_from_what_identifies_a_segment(longmemeval: Make) -> None:
    """Clarification 7: `answer_…` gives the answer away."""
    (haystack,) = longmemeval().haystacks()
    assert [segment.session for segment in haystack.segments] == ["chat_1", "answer_1"]
    for segment in haystack.segments:
        assert "answer" not in segment.id
        assert "answer" not in segment.text


@pytest.mark.parametrize(
    ("name", "by", "counted"),
    [
        ("q1", 1, {"all", "without-abstention", "official"}),
        ("q1", 0, {"all", "without-abstention"}),
        ("q1", None, {"all", "without-abstention"}),
        ("q1_abs", 1, {"all"}),
    ],
)
def test_each_question_has_its_denominators(longmemeval: Make, name: str, by: int | None, counted: set[str]) -> None:
    """Clarification 5: the official scorer drops abstention, and evidence outside of user turns."""

    def edit(data: Any) -> None:
        data[0]["question_id"] = name
        for position, turn in enumerate(data[0]["haystack_sessions"][1]):
            turn["has_answer"] = position == by

    (haystack,) = longmemeval(edit).haystacks()
    assert haystack.questions[0].denominators == counted
    assert haystack.questions[0].gold == {1}
    assert haystack.questions[0].abstention == name.endswith("_abs")


def test_denominators_are_those_of_the_protocol() -> None:
    """Clarification 5."""
    assert list(load().corpora["longmemeval"].denominators) == list(DENOMINATORS)


@pytest.mark.parametrize(("repeated", "gold"), [("chat_1", {1}), ("answer_1", {1, 2})])
def test_a_repeated_session_id_is_two_segments(longmemeval: Make, repeated: str, gold: set[int]) -> None:
    """Clarification 6: scope and position identify a segment."""

    def edit(data: Any) -> None:
        position = data[0]["haystack_session_ids"].index(repeated)
        for field in ("haystack_session_ids", "haystack_dates", "haystack_sessions"):
            data[0][field].append(data[0][field][position])

    corpus = longmemeval(edit)
    (haystack,) = corpus.haystacks()
    assert [segment.id for segment in haystack.segments] == ["q1/0", "q1/1", "q1/2"]
    assert haystack.questions[0].gold == gold
    assert corpus.survey().repeated_sessions == 1


def test_single_empty_turns_are_counted(longmemeval: Make) -> None:
    corpus = longmemeval(lambda data: data[0]["haystack_sessions"][0][1].update(content=""))
    survey = corpus.survey()
    assert (survey.empty_turns, survey.turns, survey.segments) == (1, 4, 2)


def test_a_survey_counts_and_holds_the_counts_against_the_protocol(longmemeval: Make) -> None:
    survey = longmemeval().survey()
    assert (survey.scopes, survey.questions, survey.with_evidence) == (1, 1, 1)
    assert survey.denominators == {"all": 1, "without-abstention": 1, "official": 1}
    wrong = {check.name: (check.expected, check.found) for check in survey.checks if not check.holds}
    assert wrong["questions"] == ("500", "1")
    assert wrong["segments"] == ("23867", "2")
    assert wrong["abstention questions"] == ("30", "0")
    assert wrong["questions of kind temporal-reasoning"] == ("133", "0")


def test_an_unknown_kind_is_read_and_fails_its_check(longmemeval: Make) -> None:
    survey = longmemeval(lambda data: data[0].update(question_type="riddle")).survey()
    assert survey.kinds == {"riddle": 1}
    (check,) = [check for check in survey.checks if check.name == "questions of kind riddle"]
    assert (check.expected, check.found, check.holds) == ("0", "1", False)


def drop(record: Any, field: str) -> None:
    del record[field]


def no_sessions(data: Any) -> None:
    data[0].update(haystack_sessions=[], haystack_session_ids=[], haystack_dates=[])


@pytest.mark.parametrize(
    ("edit", "parts"),
    [
        (lambda d: d.insert(0, 3), ["item 1", "question_id", "a whole number, 3"]),
        (lambda d: drop(d[0], "question_id"), ["item 1", "question_id", "missing"]),
        (lambda d: d[0].update(question_id=5), ["item 1", "question_id", "a whole number, 5"]),
        (lambda d: d[0].update(question_id="q 1"), ["item 1", "question_id", "without blanks"]),
        (lambda d: d.append(d[0]), ["item 2", "question_id", "q1 again"]),
        (no_sessions, ["item q1", "haystack_sessions", "at least one session", "none"]),
        (lambda d: d[0]["haystack_dates"].pop(), ["item q1", "haystack_dates", "2, one per session", "1"]),
        (lambda d: d[0]["haystack_session_ids"].append("x"), ["item q1", "haystack_session_ids", "2, one per", "3"]),
        (lambda d: d[0]["haystack_session_ids"].__setitem__(0, None), ["item q1", "haystack_session_ids", "null"]),
        (lambda d: d[0]["haystack_dates"].__setitem__(1, "2023-05-20"), ["item q1", "haystack_dates[1]", "2023-05-20"]),
        (lambda d: d[0].update(question_date="2023/13/30 (Tue) 23:40"), ["item q1", "question_date", "2023/13/30"]),
        (lambda d: drop(d[0], "question_date"), ["item q1", "question_date", "missing"]),
        (lambda d: d[0].update(question=" "), ["item q1", "field question", "only blanks"]),
        (lambda d: d[0].update(question=["?"]), ["item q1", "field question", "a list"]),
        (lambda d: drop(d[0], "question_type"), ["item q1", "question_type", "missing"]),
        (lambda d: drop(d[0], "answer_session_ids"), ["item q1", "answer_session_ids", "missing"]),
        (lambda d: d[0]["answer_session_ids"].append("answer_2"), ["item q1", "unreachable gold: answer_2"]),
        (lambda d: d[0]["haystack_sessions"].__setitem__(0, "Hi"), ["item q1", "haystack_sessions[0]", "'Hi'"]),
        (lambda d: d[0]["haystack_sessions"].__setitem__(0, []), ["item q1", "haystack_sessions[0]", "0 turns"]),
        (
            lambda d: [turn.update(content="") for turn in d[0]["haystack_sessions"][0]],
            ["item q1", "haystack_sessions[0]", "2 turns, none with text"],
        ),
        (lambda d: drop(d[0]["haystack_sessions"][0][1], "role"), ["haystack_sessions[0][1]", "role", "missing"]),
        (lambda d: drop(d[0]["haystack_sessions"][0][1], "content"), ["haystack_sessions[0][1]", "content", "missing"]),
        (lambda d: d[0]["haystack_sessions"][0][1].update(content=None), ["sessions[0][1]", "content", "null"]),
        (lambda d: d[0]["haystack_sessions"][0].append("Hi"), ["haystack_sessions[0][2]", "'Hi'"]),
        (lambda d: d[0]["haystack_sessions"][0][1].update(has_answer="yes"), ["has_answer", "true or false", "'yes'"]),
        (lambda d: d[0]["haystack_sessions"][0][1].update(content="\0"), ["haystack_sessions[0]", "NUL"]),
    ],
)
def test_bad_input_is_refused_by_file_item_and_field(longmemeval: Make, edit: Any, parts: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        longmemeval(edit).survey()
    message = str(refused.value)
    assert "longmemeval_s_cleaned.json" in message
    for part in [*parts, "expected:", "found:", "what to do:"]:
        assert part in message


def test_types_roll_up_into_the_five_abilities_of_the_paper() -> None:
    types = ("single-session-user", "single-session-assistant", "single-session-preference", "multi-session",
             "temporal-reasoning", "knowledge-update")  # fmt: skip
    abilities = [ability(kind, abstention=False) for kind in types]
    assert abilities == [
        *["information extraction"] * 3, "multi-session reasoning", "temporal reasoning", "knowledge updates",
    ]  # fmt: skip
    assert {ability(kind, abstention=True) for kind in types} == {"abstention"}
    assert tuple(dict.fromkeys([*abilities, "abstention"])) == ABILITIES
    assert ability("small talk", abstention=False) == ""
