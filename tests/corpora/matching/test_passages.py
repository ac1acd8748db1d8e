"""BM25 of the best passage, relative to the expected text's own score."""

from math import log

import pytest

from recallbench.corpora.matching.passages import Passages


def test_scores_by_hand() -> None:
    passages = Passages(["alpha beta", "gamma delta", ""], 60)
    # Three passages of 4/3 words on average; `alpha` is in one: ln(1 + 2.5 / 1.5). As a passage of two words it gets
    # 1 / (1 + 1.2 (.25 + .75 * 1.5)), alone 1 / (1 + 1.2 (.25 + .75 * .75)).
    assert passages.scores("alpha").tolist() == pytest.approx([(1 + 1.2 * 0.8125) / (1 + 1.2 * 1.375), 0, 0])
    # A word that nobody has is the rarest, and what is expected gets it too.
    rare, unknown = log(1 + 2.5 / 1.5), log(1 + 3.5 / 0.5)
    assert passages.scores("Alpha, omega!").tolist() == pytest.approx([rare / (rare + unknown), 0, 0])
    assert passages.scores("zebra").tolist() == [0, 0, 0]
    assert Passages([""], 60).scores("alpha").tolist() == [0]


def test_a_passage_that_is_the_expected_text_scores_1() -> None:
    texts = ["the ferry to Oslo leaves at nine", "the ferry the ferry the ferry", "nine trains leave"]
    for position, text in enumerate(texts):
        assert Passages(texts, 60).scores(text)[position] == 1.0


def test_length_costs_a_document_nothing_where_one_passage_has_the_words() -> None:
    filler = " ".join(f"word{n}" for n in range(600))
    long = f"{filler} the ferry leaves at nine {filler}"
    others = [" ".join(f"other{n + 60 * m}" for n in range(60)) for m in range(20)]
    by_passage = Passages([long, *others], 60).scores("the ferry leaves at nine")
    by_document = Passages([long, *others], None).scores("the ferry leaves at nine")
    assert by_passage[0] > 0.6 > 0.3 > by_document[0] > 0
    assert not by_passage[1:].any()


def test_a_word_that_is_expected_twice_counts_twice() -> None:
    scores = Passages(["new york", "york minster"], 60).scores("new new york")
    rare, common = log(1 + 1.5 / 1.5), log(1 + 0.5 / 2.5)
    own = 2 * rare * 2 / (2 + 1.2 * 1.375) + common / (1 + 1.2 * 1.375)
    assert scores.tolist() == pytest.approx([(2 * rare + common) / 2.2 / own, common / 2.2 / own])
