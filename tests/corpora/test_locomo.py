"""LoCoMo's reader on a tiny conversation."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from recallbench.corpora.locomo import DENOMINATORS, Locomo
from recallbench.errors import InputError
from recallbench.protocol import load

Make = Callable[..., Locomo]


def test_sessions_become_segments_in_the_order_of_their_numbers(locomo: Make) -> None:
    (haystack,) = locomo().haystacks()
    assert haystack.scope == "conv-1"
    assert [(segment.id, segment.session) for segment in haystack.segments] == [
        ("conv-1/0", "session_2"),
        ("conv-1/1", "session_10"),
    ]


def test_text_is_the_date_and_a_line_per_turn_without_captions(locomo: Make) -> None:
    """Clarification 13."""
    (haystack,) = locomo().haystacks()
    assert haystack.segments[0].text == "[1:56 pm on 8 May, 2022]\nAnn: Hello!\nBo: I bought a boat."
    assert haystack.questions[0].text == "What did Bo buy?"


def test_segments_have_their_sessions_time(locomo: Make) -> None:
    (haystack,) = locomo().haystacks()
    assert [segment.occurred_at for segment in haystack.segments] == [
        datetime(2022, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 3, 1, 0, 5, tzinfo=UTC),
    ]
    assert {question.asked_at for question in haystack.questions} == {None}


def test_questions_carry_gold_kind_cluster_and_denominators(locomo: Make) -> None:
    """Clarifications 3 and 5."""
    (haystack,) = locomo().haystacks()
    assert [
        (question.id, question.gold, question.kind, sorted(question.denominators)) for question in haystack.questions
    ] == [
        ("conv-1/q0", {0}, "single-hop", ["all", "non-adversarial", "with-evidence"]),
        ("conv-1/q1", {0, 1}, "multi-hop", ["all", "non-adversarial", "with-evidence"]),
        ("conv-1/q2", {1}, "adversarial", ["all", "with-evidence"]),
        ("conv-1/q3", set(), "open-domain", ["all"]),
    ]
    assert {question.cluster for question in haystack.questions} == {"conv-1"}
    answers = [(question.answer, question.declined) for question in haystack.questions]
    assert answers == [("a boat", False), ("1", False), ("", True), ("No", False)]
    assert locomo().clustered


def test_the_second_category_is_temporal(locomo: Make) -> None:
    """Clarification 3: the file's order, not the paper's."""
    (haystack,) = locomo(lambda data: data[0]["qa"][0].update(category=2)).haystacks()
    assert haystack.questions[0].kind == "temporal"


def test_denominators_are_those_of_the_protocol() -> None:
    """Clarification 5."""
    assert list(load().corpora["locomo"].denominators) == list(DENOMINATORS)


def test_gold_turns_say_where_evidence_starts(locomo: Make) -> None:
    (haystack,) = locomo().haystacks()
    first, second = haystack.segments
    assert [first.text[start:] for start in first.gold_turns] == ["Bo: I bought a boat."]
    assert [second.text[start:] for start in second.gold_turns] == ["Ann: The boat is sold."]


def test_gold_stays_in_its_own_conversation(locomo: Make) -> None:
    """Clarification 2: the same session number in another conversation is not an answer."""

    def twice(data: Any) -> None:
        other = copy.deepcopy(data[0])
        other["sample_id"] = "conv-2"
        other["conversation"]["session_10"][0]["text"] = "Nothing new."
        data.append(other)

    first, second = locomo(twice).haystacks()
    assert {question.scope for question in first.questions} == {"conv-1"}
    assert {question.scope for question in second.questions} == {"conv-2"}
    assert [question.gold for question in first.questions] == [question.gold for question in second.questions]
    assert {segment.scope for segment in second.segments} == {"conv-2"}


@pytest.mark.parametrize(
    ("reference", "sessions"),
    [
        ("D8:6; D9:17", {8, 9}),
        ("D", set()),
        ("D:11:26", {11}),
        ("D9:1 D4:4 D4:6", {9, 4}),
        ("D22:1 D22:2 D9:10 D9:11", {22, 9}),
        ("D21:18 D21:22 D11:15 D11:19", {21, 11}),
    ],
)
def test_a_listed_repair_is_applied(locomo: Make, reference: str, sessions: set[int]) -> None:
    """Clarifications 4 and 13."""

    def edit(data: Any) -> None:
        talk = data[0]["conversation"]
        for number in (4, 8, 9, 11, 21, 22):
            talk[f"session_{number}_date_time"] = "9:00 am on 2 March, 2023"
            talk[f"session_{number}"] = [
                {"speaker": "Bo", "dia_id": f"D{number}:{turn}", "text": f"{turn}"} for turn in range(1, 30)
            ]
        data[0]["qa"][0]["evidence"] = [reference]

    corpus = locomo(edit)
    (haystack,) = corpus.haystacks()
    assert {int(haystack.segments[spot].session[8:]) for spot in haystack.questions[0].gold} == sessions
    survey = corpus.survey()
    assert (survey.repaired_evidence, survey.missing_turns) == (1, 0)


def test_a_turn_that_does_not_exist_is_counted_and_its_session_is_gold(locomo: Make) -> None:
    """Clarification 4."""
    corpus = locomo(lambda data: data[0]["qa"][0].update(evidence=["D10:19"]))
    (haystack,) = corpus.haystacks()
    assert haystack.questions[0].gold == {1}
    assert corpus.survey().missing_turns == 1


def test_a_survey_counts_and_holds_the_counts_against_the_protocol(locomo: Make) -> None:
    survey = locomo().survey()
    assert (survey.scopes, survey.segments, survey.turns, survey.questions, survey.with_evidence) == (1, 2, 3, 4, 3)
    assert survey.kinds == {"multi-hop": 1, "open-domain": 1, "single-hop": 1, "adversarial": 1}
    assert survey.denominators == {"with-evidence": 3, "all": 4, "non-adversarial": 2}
    assert survey.segments_per_scope == (2,)
    assert not survey.registered
    wrong = {check.name: (check.expected, check.found) for check in survey.checks if not check.holds}
    assert wrong["segments"] == ("272", "2")
    assert wrong["turns"] == ("5882", "3")
    assert wrong["questions with evidence"] == ("1982", "3")
    assert wrong["questions of kind adversarial"] == ("446", "1")
    assert wrong["segments per scope"] == ("19,19,32,29,29,28,31,30,25,30", "2")
    assert wrong["denominator non-adversarial"] == ("1536", "2")


def test_empty_turns_are_counted_as_long_as_something_is_said(locomo: Make) -> None:
    corpus = locomo(lambda data: data[0]["conversation"]["session_2"][0].update(text=""))
    assert corpus.survey().empty_turns == 1
    assert next(corpus.haystacks()).segments[0].text.splitlines()[1] == "Ann: "


def drop(record: Any, field: str) -> None:
    del record[field]


@pytest.mark.parametrize(
    ("edit", "parts"),
    [
        (lambda d: drop(d[0], "sample_id"), ["conversation 1", "sample_id", "missing"]),
        (lambda d: d[0].update(sample_id="conv 1"), ["conversation 1", "sample_id", "without blanks", "'conv 1'"]),
        (lambda d: d.append(d[0]), ["conversation 2", "sample_id", "conv-1 again"]),
        (lambda d: drop(d[0], "qa"), ["conversation conv-1", "field qa", "a list", "missing"]),
        (lambda d: drop(d[0], "conversation"), ["conversation conv-1", "field conversation", "missing"]),
        (lambda d: d[0].update(conversation=[]), ["conversation conv-1", "an object", "a list, empty"]),
        (lambda d: d[0].update(conversation={"speaker_a": "Ann"}), ["conversation conv-1", "no session"]),
        (lambda d: drop(d[0]["conversation"], "session_2_date_time"), ["conv-1", "session_2_date_time", "missing"]),
        (
            lambda d: d[0]["conversation"].update(session_2_date_time="8 May"),
            ["conv-1", "session_2_date_time", "1:56 pm on 8 May, 2023", "'8 May'"],
        ),
        (
            lambda d: d[0]["conversation"].update(session_2_date_time="1:56 pm on 31 June, 2023"),
            ["conv-1", "session_2_date_time", "31 June"],
        ),
        (lambda d: d[0]["conversation"].update(session_2="Hi"), ["session_2", "a list", "'Hi'"]),
        (lambda d: d[0]["conversation"].update(session_2=[]), ["session_2", "0 turns, none with text"]),
        (
            lambda d: d[0]["conversation"]["session_10"][0].update(text=" "),
            ["conv-1", "session_10", "1 turns, none with text"],
        ),
        (lambda d: drop(d[0]["conversation"]["session_2"][1], "text"), ["session_2, turn 2", "field text", "missing"]),
        (lambda d: drop(d[0]["conversation"]["session_2"][1], "speaker"), ["turn 2", "field speaker", "missing"]),
        (lambda d: d[0]["conversation"]["session_2"][1].update(text=7), ["turn 2", "text", "a whole number, 7"]),
        (lambda d: d[0]["conversation"]["session_2"][1].update(dia_id=3), ["turn 2", "dia_id", "a whole number, 3"]),
        (lambda d: d[0]["conversation"]["session_2"].append("Hi"), ["session_2, turn 3", "'Hi'"]),
        (lambda d: d[0]["conversation"]["session_2"][1].update(text="a\0b"), ["session_2", "NUL"]),
        (lambda d: d[0]["qa"].append(None), ["question conv-1/q4", "null"]),
        (lambda d: drop(d[0]["qa"][1], "question"), ["question conv-1/q1", "field question", "missing"]),
        (lambda d: d[0]["qa"][1].update(question=""), ["question conv-1/q1", "field question", "empty"]),
        (lambda d: drop(d[0]["qa"][1], "evidence"), ["question conv-1/q1", "field evidence", "missing"]),
        (lambda d: d[0]["qa"][1].update(evidence="D2:1"), ["question conv-1/q1", "a list", "'D2:1'"]),
        (lambda d: d[0]["qa"][1].update(evidence=[2]), ["question conv-1/q1", "a list of texts", "2"]),
        (lambda d: d[0]["qa"][1].update(evidence=["D2:1, D2:2"]), ["question conv-1/q1", "repair", "'D2:1, D2:2'"]),
        (
            lambda d: d[0]["qa"][1].update(evidence=["D3:1"]),
            ["question conv-1/q1", "evidence", "2, 10", "unreachable gold", "session 3"],
        ),
        (lambda d: d[0]["qa"][1].update(category=6), ["question conv-1/q1", "category", "5 (adversarial)", "6"]),
        (lambda d: d[0]["qa"][1].update(category="1"), ["question conv-1/q1", "category", "'1'"]),
        (lambda d: d[0]["qa"][1].update(category=True), ["question conv-1/q1", "category", "True"]),
        (lambda d: drop(d[0]["qa"][1], "category"), ["question conv-1/q1", "category", "missing"]),
    ],
)
def test_bad_input_is_refused_by_file_item_and_field(locomo: Make, edit: Any, parts: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        locomo(edit).survey()
    message = str(refused.value)
    assert "locomo10.json" in message
    for part in [*parts, "expected:", "found:", "what to do:"]:
        assert part in message
