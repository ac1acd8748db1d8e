"""How what a result used is told in sentences: from which question on a memory pays."""

import pytest

from recallbench.reports.costs import BreakEvenPart, CostDocument, EstimatesPart, _amount, sentences


@pytest.mark.parametrize(
    ("question", "last", "when"),
    [
        (None, None, "a memory never costs less than sending the whole history"),
        (3, None, "from question 3 on a memory costs less than sending the whole history"),
        (
            1,
            4,
            "up to question 4 a memory costs less than sending the whole history, from question 5 on it costs more",
        ),
    ],
)
def test_the_question_from_which_on_a_memory_pays(question: int | None, last: int | None, when: str) -> None:
    even = BreakEvenPart(prompts="uncached", question=question, last=last, memory=0.5, history=0.25)
    estimates = EstimatesPart(
        by="words", context=10, context_tokens=90, history_tokens=900, model="m", break_even=[even], unpriced=[]
    )
    document = CostDocument(
        schema_version="1", recallbench_version="1", result="r", date="2026-01-01", currency="USD", prices="a list",
        lines=[], per=[], hit_rates=[], context_tokens=None, estimates=estimates, unstated=[],
    )  # fmt: skip
    assert sentences(document)[-2:] == [
        f"estimate for m, where every prompt is read anew: {when} (0.500 against 0.250 USD a question)",
        "another model that is sent the hits, or the history: --answering NAME",
    ]


@pytest.mark.parametrize(
    ("amount", "told"),
    [(4.95e-10, "under 0.000001"), (1.2345e-6, "0.00000123"), (0.000725, "0.000725"), (0.0, "0.00"), (None, "–")],
)
def test_what_is_next_to_nothing_is_told_to_be_so(amount: float | None, told: str) -> None:
    assert _amount(amount) == told


def test_of_next_to_nothing_there_may_be_more() -> None:
    assert [_amount(amount, at_least=True) for amount in (4.95e-10, 0.5, None)] == ["at least 0", "at least 0.500", "–"]
