"""The bundled corpora: reproducible, as registered, and with the hard cases in them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from recallbench.corpora.canary import FOLDER, facts
from recallbench.corpora.records import Corpus
from recallbench.corpora.registry import open_corpus
from recallbench.protocol import load

MAKER = Path(__file__).parents[2] / "scripts" / "make_canary.py"


@pytest.fixture(scope="module")
def conversations() -> Corpus:
    return open_corpus("canary-locomo", rules=load(), environ={})


@pytest.fixture(scope="module")
def items() -> Corpus:
    return open_corpus("canary-longmemeval", rules=load(), environ={})


def test_the_script_makes_the_committed_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, MAKER, tmp_path], check=True)
    for name in ("canary/locomo.json", "canary/longmemeval.json", "canary.toml"):
        assert (tmp_path / name).read_bytes() == (FOLDER.parent / name).read_bytes()


def test_the_committed_files_are_the_registered_ones(conversations: Corpus, items: Corpus) -> None:
    for corpus in (conversations, items):
        survey = corpus.survey()
        assert survey.registered
        assert survey.checks
        assert all(check.holds for check in survey.checks)
        assert corpus.path.stat().st_size < 700_000


def test_the_counts_of_the_conversations(conversations: Corpus) -> None:
    survey = conversations.survey()
    assert survey.segments_per_scope == (19, 24, 28, 32)
    assert survey.kinds == {"multi-hop": 25, "temporal": 24, "open-domain": 13, "single-hop": 73, "adversarial": 24}
    assert survey.denominators == {"with-evidence": 158, "all": 159, "non-adversarial": 134}
    assert (survey.repaired_evidence, survey.missing_turns) == (1, 1)
    assert facts()["canary-locomo"].forbidden_segments == survey.turns


def test_the_counts_of_the_items(items: Corpus) -> None:
    survey = items.survey()
    assert survey.kinds == {
        "single-session-user": 12,
        "multi-session": 8,
        "temporal-reasoning": 9,
        "knowledge-update": 8,
        "single-session-assistant": 5,
        "single-session-preference": 5,
    }
    assert survey.denominators == {"all": 47, "without-abstention": 43, "official": 38}
    assert survey.repeated_sessions == 3
    assert survey.empty_turns > 0
    assert min(survey.segments_per_scope) >= 15
    assert sum(size > 50 for size in survey.segments_per_scope) == 4


def test_an_update_has_the_old_value_before_the_new(items: Corpus) -> None:
    checked = 0
    for haystack in items.haystacks():
        (question,) = haystack.questions
        if question.kind == "knowledge-update" and not question.abstention:
            old, new = (haystack.segments[position] for position in sorted(question.gold))
            assert old.occurred_at is not None
            assert new.occurred_at is not None
            assert old.occurred_at < new.occurred_at
            assert (old.session[-2:], new.session[-2:]) == ("_1", "_2")
            checked += 1
    assert checked == 7


def test_near_duplicates_share_the_words_of_the_evidence(items: Corpus) -> None:
    """Many haystacks hold the answering sentence a second time, said by somebody else."""
    echoed = 0
    for haystack in items.haystacks():
        golds = [segment for segment in haystack.segments if segment.gold_turns]
        others = [segment.text.lower() for segment in haystack.segments if not segment.gold_turns]
        for gold in golds:
            evidence = gold.text[gold.gold_turns[0] :].split("\n")[0].lower()
            echoed += any(evidence[-40:-1] in other for other in others)
    assert echoed >= 20


def test_the_fields_are_those_of_the_real_files() -> None:
    talks = json.loads((FOLDER / "locomo.json").read_text("utf-8"))
    assert {tuple(talk) for talk in talks} == {
        ("qa", "conversation", "event_summary", "observation", "session_summary", "sample_id")
    }
    turns = [
        turn for talk in talks for value in talk["conversation"].values() if isinstance(value, list) for turn in value
    ]
    assert {tuple(sorted(turn)) for turn in turns} == {
        ("dia_id", "speaker", "text"),
        ("blip_caption", "dia_id", "img_url", "query", "speaker", "text"),
    }
    questions = [question for talk in talks for question in talk["qa"]]
    assert {("adversarial_answer" in question) == (question["category"] == 5) for question in questions} == {True}
    assert "session_20_date_time" in talks[0]["conversation"]
    assert "session_20" not in talks[0]["conversation"]
    items = json.loads((FOLDER / "longmemeval.json").read_text("utf-8"))
    assert {tuple(item) for item in items} == {
        (
            "question_id",
            "question_type",
            "question",
            "question_date",
            "answer",
            "answer_session_ids",
            "haystack_dates",
            "haystack_session_ids",
            "haystack_sessions",
        )
    }
    turns = [turn for item in items for session in item["haystack_sessions"] for turn in session]
    assert {tuple(turn) for turn in turns} == {("role", "content"), ("role", "content", "has_answer")}
