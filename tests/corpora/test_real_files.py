"""The two real corpora through the readers."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallbench.corpora.registry import open_corpus
from recallbench.errors import InputError
from recallbench.protocol import load

pytestmark = [pytest.mark.marked, pytest.mark.real_data]


def test_locomo_has_every_registered_count(locomo_file: Path) -> None:
    """Clarifications 3, 4 and 5, and every registered count."""
    corpus = open_corpus("locomo", rules=load(), environ={}, file=locomo_file)
    survey = corpus.survey()
    assert survey.sha256 == "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
    assert survey.registered
    assert all(check.holds for check in survey.checks)
    assert (survey.scopes, survey.segments, survey.turns) == (10, 272, 5882)
    assert survey.segments_per_scope == (19, 19, 32, 29, 29, 28, 31, 30, 25, 30)
    assert survey.kinds == {"multi-hop": 282, "temporal": 321, "open-domain": 96, "single-hop": 841, "adversarial": 446}
    assert survey.denominators == {"with-evidence": 1982, "all": 1986, "non-adversarial": 1536}
    assert (survey.repaired_evidence, survey.missing_turns, survey.empty_turns) == (6, 3, 0)


def test_locomo_gold_lies_within_its_haystack(locomo_file: Path) -> None:
    """Clarifications 2, 4 and 13."""
    haystacks = list(open_corpus("locomo", rules=load(), environ={}, file=locomo_file).haystacks())
    segments = [segment for haystack in haystacks for segment in haystack.segments]
    questions = {question.id: question for haystack in haystacks for question in haystack.questions}
    assert (len(segments), len(questions)) == (272, 1986)
    assert all(segment.occurred_at and segment.text.startswith("[") for segment in segments)
    assert all(segment.text[start - 1] == "\n" for segment in segments for start in segment.gold_turns)
    assert {
        len(haystack.segments) > max(question.gold, default=0)
        for haystack in haystacks
        for question in haystack.questions
    } == {True}
    # Sessions count from 1, positions from 0.
    assert questions["conv-26/q37"].gold >= {7, 8}
    assert questions["conv-42/q88"].gold == {0}
    assert questions["conv-49/q31"].gold == {3, 8}
    assert questions["conv-49/q38"].gold == {8, 21}
    assert questions["conv-49/q46"].gold == {10, 20}
    assert 10 in questions["conv-43/q18"].gold


def test_longmemeval_with_an_item_missing_is_refused_and_can_be_allowed(longmemeval_file: Path) -> None:
    """Clarifications 5, 6 and 7."""
    with pytest.raises(InputError) as refused:
        open_corpus("longmemeval", rules=load(), environ={}, file=longmemeval_file)
    assert "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442" in refused.value.expected
    assert "b6060898fa74a1ce207fcf5ef81085a8b7b17fc35d7782b516d1c5fd8ff2f320" in refused.value.found
    corpus = open_corpus("longmemeval", rules=load(), environ={}, file=longmemeval_file, allow_dataset_deviation=True)
    survey = corpus.survey()
    assert not survey.registered
    assert (survey.scopes, survey.segments, survey.turns, survey.with_evidence) == (499, 23806, 246189, 499)
    assert survey.denominators == {"all": 499, "without-abstention": 469, "official": 418}
    assert (survey.repeated_sessions, survey.empty_turns) == (13, 12)
    assert sum(size < 50 for size in survey.segments_per_scope) == 343
    failed = {check.name: (check.expected, check.found) for check in survey.checks if not check.holds}
    assert failed == {
        "questions": ("500", "499"),
        "questions with evidence": ("500", "499"),
        "segments": ("23867", "23806"),
        "scopes": ("500", "499"),
        "denominator all": ("500", "499"),
        "denominator without-abstention": ("470", "469"),
        "denominator official": ("419", "418"),
        "questions of kind temporal-reasoning": ("133", "132"),
    }


def test_longmemeval_has_late_segments_and_telling_ids(longmemeval_file: Path) -> None:
    corpus = open_corpus("longmemeval", rules=load(), environ={}, file=longmemeval_file, allow_dataset_deviation=True)
    abstentions = late = leaks = 0
    for haystack in corpus.haystacks():
        (question,) = haystack.questions
        assert question.asked_at is not None
        assert question.gold
        abstentions += question.abstention
        late += any(segment.occurred_at > question.asked_at for segment in haystack.segments if segment.occurred_at)
        leaks += sum(segment.session.startswith("answer_") for segment in haystack.segments)
        assert not any("answer_" in segment.id for segment in haystack.segments)
    assert (abstentions, late, leaks) == (30, 76, 946)
