"""The stages behind the ranking: a model that answers, and judges of what it answered."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chat_server import MODEL, ChatServer, chat_server
from recallbench.corpora.records import Question, Segment
from recallbench.errors import InputError
from recallbench.retrieval.chat.prompts import PINS
from recallbench.retrieval.stages.answer_words import declines, same_words, word_f1
from recallbench.retrieval.stages.answering import AnswerStage, GivenAnswer, Judgement, JudgeStage
from recallbench.retrieval.stages.llm_judge import verdict_of
from recallbench.retrieval.stages.registry import stage_class
from recallbench.retrieval.stages.stage import Stage, StageRequest
from recallbench.usage import Usage

DAY = datetime(2023, 5, 8, tzinfo=UTC)
TALK = (Segment("c", 4, "Mel: I painted it in 2022.", DAY), Segment("c", 1, "Bo: Nice."), Segment("c", 0, "Bo: Hm."))
PAINTED = Question("c", "c/q1", "When did Mel paint?", frozenset({4}), "temporal", answer="In 2022.")
BASELESS = Question("c", "c/q2", "When did Bo paint?", frozenset({4}), "adversarial", declined=True)
UNKNOWN = Question("c", "c/q3", "Is Mel kind?", frozenset({4}), "open")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


def opened(kind: type[Stage], server: ChatServer, folder: Path, **options: str) -> Stage:
    return kind.open(StageRequest("it", {"endpoint": server.address, "model": MODEL, **options}, {}, folder))


def generator(server: ChatServer, folder: Path, **options: str) -> AnswerStage:
    stage = opened(stage_class("generate", "chat"), server, folder, **options)
    assert isinstance(stage, AnswerStage)
    return stage


def judge(server: ChatServer, folder: Path, **options: str) -> JudgeStage:
    stage = opened(stage_class("judge", "llm"), server, folder, **options)
    assert isinstance(stage, JudgeStage)
    return stage


def test_a_model_answers_from_the_first_segments(server: ChatServer, tmp_path: Path) -> None:
    stage = generator(server, tmp_path, top="2")
    assert stage.answer(PAINTED, TALK) == GivenAnswer("Paris", ("c/4", "c/1"), Usage(fresh=10, output=1))
    (asked,) = server.asked
    assert "Excerpt 1 (08 May 2023):\nMel: I painted it in 2022.\n\nExcerpt 2:\nBo: Nice.\n\nQuestion: When" in asked
    assert stage.settings()["prompt answer"] == f"sha256 {PINS['answer']}"


def test_the_context_ends_at_so_many_characters(server: ChatServer, tmp_path: Path) -> None:
    stage = generator(server, tmp_path, characters="30")
    assert stage.answer(PAINTED, TALK).context == ("c/4", "c/1")
    assert "Excerpt 2:\nBo: \n" in server.asked[0]
    assert generator(server, tmp_path).answer(PAINTED, ()).context == ()
    assert "(none)" in server.asked[1]


def test_a_question_without_an_answer_is_named(server: ChatServer, tmp_path: Path) -> None:
    server.says = lambda asked: (400, {"error": "context too long"}, {})
    with pytest.raises(InputError, match="while answering c/q1, `When did Mel paint\\?`"):
        generator(server, tmp_path).answer(PAINTED, TALK)


@pytest.mark.parametrize(
    ("answer", "gold", "same", "f1"),
    [
        ("The  OLIVE focaccia!", "an olive focaccia", 1.0, 1.0),
        ("focaccia, olive", "olive focaccia", 0.0, 1.0),
        ("olive bread", "olive focaccia", 0.0, 0.5),
        ("bread bread", "bread", 0.0, 2 / 3),
        ("the", "an", 0.0, 0.0),
        ("?", "!", 0.0, 0.0),
        ("7", "7", 1.0, 1.0),
    ],
)
def test_words_are_compared_without_case_punctuation_and_articles(
    answer: str, gold: str, same: float, f1: float
) -> None:
    assert (same_words(answer, gold), word_f1(answer, gold)) == (same, pytest.approx(f1))


@pytest.mark.parametrize(
    ("answer", "declined"),
    [("Not mentioned.", True), ("I don't know, sorry", True), ("She mentioned knots", False), ("unknown-ish", False)],
)
def test_an_answer_that_declines_is_known_by_its_words(answer: str, declined: bool) -> None:
    assert declines(answer) is declined


@pytest.mark.parametrize(
    ("method", "answer", "found"),
    [
        ("exact", "in 2022", (1.0, 0.0)),
        ("exact", "2022", (0.0, 0.0)),
        ("token-f1", "2022", (2 / 3, 0.0)),
        ("exact", "not mentioned", (0.0, 1.0)),
        ("token-f1", "not mentioned", (0.0, 1.0)),
    ],
)
def test_judges_of_words(method: str, answer: str, found: tuple[float, float]) -> None:
    stage = stage_class("judge", method).open(StageRequest(method, {}))
    assert isinstance(stage, JudgeStage)
    judged = [stage.judge(question, TALK, answer) for question in (PAINTED, BASELESS, UNKNOWN)]
    assert [judgement.correct for judgement in judged] == [*map(pytest.approx, found), None]
    assert {judgement.faithful for judgement in judged} == {None}


def test_a_model_judges_correctness_and_faithfulness_apart(server: ChatServer, tmp_path: Path) -> None:
    server.says = lambda asked: "They agree.\nVERDICT: YES" if "Reference answer: In 2022." in asked else "verdict: No."
    stage = judge(server, tmp_path)
    judged = stage.judge(PAINTED, TALK[:1], "2022")
    raw = {"correctness": "They agree.\nVERDICT: YES", "faithfulness": "verdict: No."}
    assert judged == Judgement(1.0, 0.0, raw, Usage(fresh=20, output=6))
    assert "Mel: I painted it in 2022." in server.asked[1]
    assert type(stage).again(PAINTED, "2022", raw) == Judgement(1.0, 0.0, raw)
    assert stage.settings()["prompt correctness"] == f"sha256 {PINS['correctness']}"


def test_what_a_model_is_asked_depends_on_what_is_known(server: ChatServer, tmp_path: Path) -> None:
    server.says = lambda asked: "VERDICT: YES"
    stage = judge(server, tmp_path, faithfulness="false")
    assert stage.judge(BASELESS, TALK, "not mentioned").correct == 1.0
    assert "can't be answered from what is known" in server.asked[0]
    assert stage.judge(UNKNOWN, TALK, "yes") == Judgement()
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("No doubt.\nVERDICT: YES", 1.0),
        ("**Verdict:** no", 0.0),
        ("VERDICT: NO\nWait.\nVERDICT: YES", 1.0),
        ("Yes.", 1.0),
        ("no", 0.0),
        ("Yes, the answer says what the reference says", None),
        ("VERDICT: MAYBE", None),
        ("", None),
    ],
)
def test_a_verdict_is_read_from_its_line(text: str, verdict: float | None) -> None:
    assert verdict_of(text) == verdict
