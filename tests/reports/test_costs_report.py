"""How what a result used is told in sentences: from which question on a memory pays."""

import pytest

from recallbench.reports.costs import BreakEvenPart, CostDocument, EstimatesPart, sentences


@pytest.mark.parametrize(
    ("question", "last", "when"),
    [
        (None, None, "a memory is never cheaper than sending the whole history"),
        (3, None, "from question 3 on a memory is cheaper than sending the whole history"),
        (1, 4, "a memory is cheaper than sending the whole history up to question 4, and dearer after it"),
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
    assert sentences(document)[-1] == (
        f"estimate: {when} to m where every prompt is read anew: 0.500 against 0.250 USD a question"
    )
