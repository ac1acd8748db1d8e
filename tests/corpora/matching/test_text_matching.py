from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallbench.corpora.matching.method import Matching
from recallbench.corpora.matching.text_matching import (
    Likeness,
    ParsedText,
    first_match,
    likeness,
    random_matches,
    refuse_random_matches,
)
from recallbench.corpora.matching.tokens import overlap, words
from recallbench.corpora.records import RandomMatches
from recallbench.errors import InputError, UsageError

texts = st.text(alphabet="abc de.,'Fé", max_size=30)


def token_f1(expected: str, text: str) -> float:
    return ParsedText(text).f1(ParsedText(expected))


def test_the_example_of_the_capital() -> None:
    # 6 expected tokens, 10 retrieved, 6 shared: 12 / 16.
    long = "Paris is the capital and most populous city of France…"
    assert overlap(set(words("Paris is the capital of France.")), set(words(long))) == 0.75
    assert likeness(ParsedText("Paris is the capital of France."), ParsedText(long)).matches(Matching("tokens"))


def test_tokens_are_words_in_lower_case_without_punctuation() -> None:
    assert words("Don't PANIC: “42” – it’s…\n€5!") == ["dont", "panic", "42", "its", "5"]
    assert words("...") == []


@pytest.mark.parametrize(
    ("expected", "text", "f1"),
    [
        ("blue", "blue", 1.0),
        ("blue blue", "Blue.", 1.0),
        ("red", "blue", 0.0),
        ("", "blue", 0.0),
        ("", "", 0.0),
        ("a b", "b c d", 2 * 1 / 5),
    ],
)
def test_f1_by_hand(expected: str, text: str, f1: float) -> None:
    assert overlap(set(words(expected)), set(words(text))) == pytest.approx(f1)


@given(texts, texts)
def test_f1_is_symmetric_and_0_without_overlap(first: str, second: str) -> None:
    value = overlap(set(words(first)), set(words(second)))
    assert value == overlap(set(words(second)), set(words(first)))
    shared = set(words(first)) & set(words(second))
    assert (value > 0) == bool(shared)
    assert (value == 1) == (set(words(first)) == set(words(second)) and bool(shared))


def test_a_short_answer_in_a_long_text_needs_chunks() -> None:
    filler = " ".join(f"word{n}" for n in range(500))
    session = f"{filler} the answer is Portland, Oregon {filler}"
    whole, chunked = ParsedText(session), ParsedText(session, 10)
    answer = ParsedText("answer: Portland, Oregon")
    assert whole.f1(answer) == pytest.approx(6 / (3 + 505))
    assert chunked.f1(answer) == pytest.approx(6 / 13)


@pytest.mark.parametrize("position", range(40))
def test_an_answer_of_half_a_chunk_is_whole_in_some_chunk(position: int) -> None:
    other = [f"w{n}" for n in range(40)]
    text = " ".join([*other[:position], "a", "b", "c", *other[position:]])
    chunks = ParsedText(text, 6).chunks
    assert any({"a", "b", "c"} <= chunk for chunk in chunks)
    assert max(map(len, chunks)) == 6
    assert frozenset().union(*chunks) == set(text.split())


def test_exact_is_the_same_words_in_the_same_order_anywhere_in_the_text() -> None:
    assert ParsedText("Blue!").says(ParsedText("blue"))
    assert not ParsedText("blue sky").says(ParsedText("sky blue"))
    assert ParsedText("a blue sky").says(ParsedText("blue sky"))
    assert ParsedText("a blue sky", 60).says(ParsedText("blue sky"))
    assert not ParsedText("a bluest sky").says(ParsedText("blue"))
    assert not ParsedText("").says(ParsedText("..."))
    assert not ParsedText("a blue sky", whole=True).says(ParsedText("blue sky"))
    assert ParsedText("Blue sky", whole=True).says(ParsedText("blue sky"))


def test_the_first_match_by_method_and_threshold() -> None:
    likes = [Likeness(False, 0.2), Likeness(False, 0.4), Likeness(True, 1.0)]
    assert first_match(likes, Matching("tokens")) == 1
    assert first_match(likes, Matching("tokens"), 0.1) == 0
    assert first_match(likes, Matching("tokens", 0.5)) == 2
    assert first_match(likes, Matching("exact")) == 2
    assert first_match(likes[:1], Matching("tokens")) is None


def test_words_in_a_run_match_by_exact_and_by_tokens_only_with_their_f1() -> None:
    run = Likeness(True, 0.25)
    assert run.matches(Matching("exact", chunk=60))
    assert [run.matches(Matching("tokens", t, 60)) for t in (0.1, 0.25, 0.3, 0.5)] == [True, True, False, False]
    # "no" is in three of the pool: F1 1, 2 / 3 and 2 / 8; one of them alone is drawn.
    pool = [ParsedText(text, 60) for text in ("no", "oh no", "there is no ferry on that day")]
    drawn = random_matches([ParsedText("No.")], pool, [{0, 1}], (0.2, 0.3))
    assert (drawn.exact, drawn.rates) == (1.0, {0.2: 1.0, 0.3: 0.0})


@pytest.mark.parametrize(
    ("expected", "threshold", "most"),
    [
        ("no", 0.3, 5),  # 2 / 6 is .333, 2 / 7 is .286
        ("the ferry leaves at nine", 0.3, 28),  # 10 / 33 is .303, 10 / 34 is .294
        ("nine, nine, NINE", 0.5, 3),  # 2 / 4
        ("no", 1.0, 1),
        ("one two three", 0.1, 57),  # 6 / 60
    ],
)
def test_how_long_a_text_may_be_to_match_an_answer(expected: str, threshold: float, most: int) -> None:
    matching = Matching("tokens", threshold)
    assert matching.longest_chunk(expected) == most
    answer = set(words(expected))
    fits, beyond = ({*answer, *(f"w{n}" for n in range(size - len(answer)))} for size in (most, most + 1))
    assert overlap(answer, fits) >= threshold > overlap(answer, beyond)


def test_answers_that_no_chunk_can_match_are_counted() -> None:
    answers = ["no", "the ferry leaves at nine", " ".join(map(str, range(11)))]
    warning = Matching("tokens", 0.3, 60).out_of_reach(answers)
    assert warning is not None
    assert warning.startswith("2 of 3 expected texts are too short for chunks of 60 tokens")
    assert warning.endswith("--match-chunk 5 lets the shortest match")
    assert Matching("tokens", 0.3, 5).out_of_reach(["no"]) is None
    assert Matching("tokens", 0.3).out_of_reach(["no"]) is None
    assert Matching("exact", chunk=60).out_of_reach(["no"]) is None


def test_a_matching_as_text() -> None:
    matchings = [
        Matching(),
        Matching("exact"),
        Matching("tokens"),
        Matching("tokens", 0.5, 60),
        Matching("exact", chunk=60),
    ]
    names = ["id", "exact", "tokens f1>=0.3", "tokens f1>=0.5, chunk 60", "exact, chunk 60"]
    assert [str(matching) for matching in matchings] == names


@pytest.mark.parametrize(
    "wrong",
    [("words", 0.3, None), ("tokens", 0.0, None), ("tokens", 1.1, None), ("tokens", float("nan"), None),
     ("tokens", 0.3, 0), ("id", 0.3, 60)],
)  # fmt: skip
def test_an_invalid_matching_is_refused(wrong: tuple) -> None:
    with pytest.raises(UsageError):
        Matching(*wrong)


def test_random_texts_that_match() -> None:
    pool = [ParsedText("alpha beta"), ParsedText("gamma"), ParsedText("alpha")]
    # Drawn for "alpha" are the first (F1 2/3) and the second (0), each about half the time.
    drawn = random_matches([ParsedText("alpha")], pool, [{2}], (0.3, 0.7), draws=400)
    assert drawn.pairs == 400
    assert drawn.exact == drawn.rates[0.3]
    assert drawn.rates[0.3] == pytest.approx(0.5, abs=0.1)
    assert drawn.rates[0.7] == 0
    assert random_matches([ParsedText("alpha")], pool, [{2}], (0.3, 0.7), draws=400) == drawn
    assert random_matches([ParsedText("alpha")], [ParsedText("alpha")], [{0}]).pairs == 0
    assert random_matches([], pool, []).rates == {}


def test_random_matches_are_refused_above_a_fifth() -> None:
    random = RandomMatches(2000, 0.0, {0.1: 0.61, 0.2: 0.2001, 0.3: 0.2, 0.4: 0.05})
    with pytest.raises(InputError) as caught:
        refuse_random_matches(random, Matching("tokens", 0.1), "team")
    assert caught.value.found == "61% of 2,000 pairs drawn at random: such gold says nothing"
    assert caught.value.remedy.startswith("a threshold of 0.3 (--match-threshold), where 20% do; ")
    with pytest.raises(InputError):
        refuse_random_matches(random, Matching("tokens", 0.2), "team")
    refuse_random_matches(random, Matching("tokens", 0.3), "team")
    refuse_random_matches(random, Matching("exact"), "team")
    with pytest.raises(InputError) as caught:
        refuse_random_matches(RandomMatches(9, 0.0, {0.6: 0.5}), Matching("tokens", 0.6), "team")
    assert caught.value.remedy.startswith("match by exact texts (--match exact); ")
