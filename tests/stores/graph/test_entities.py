from __future__ import annotations

import pytest

from recallbench.stores.graph.entities import entities, names, question_words, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yesterday I met Ann in New York.", {"ann", "new", "york"}),
        ("Ann left. Bob stayed! Cleo? Dan: Eve", set()),
        ("[1 May, 2023]\nAnn: I saw Bob's dog\nBob: Me too", {"may", "bob"}),
        ('He said "Run" to ÉMILE and Müller', {"run", "émile", "müller"}),
        ("a B c", set()),
        ("", set()),
    ],
)
def test_names_are_capitalised_words_inside_a_sentence(text: str, expected: set[str]) -> None:
    assert names(text) - {"i"} == expected


def test_words_are_letters() -> None:
    assert words("it's 42 x_y don’t 日本語 '); DROP TABLE--") == ["it's", "x", "y", "don’t", "日本語", "DROP", "TABLE"]
    assert words("a" * 65 + " b") == ["b"]
    assert question_words("Bob's dog, BOB’S dog?") == ["bob", "dog"]


def test_entities_of_a_scope() -> None:
    texts = [
        "we went sailing, and sailing again; there was wind",
        "nothing of note, but Ann came by there",
        "wind there",
        "wind wind there there",
    ]
    extracted = entities(texts)
    # Words of four letters that one text of four has, and the name; `wind` and `there` stand in too many.
    assert extracted.mentions == (("again", "sailing", "went"), ("ann", "came", "note", "nothing"), (), ())
    assert extracted.weights == dict.fromkeys(
        ("again", "ann", "came", "note", "nothing", "sailing", "went"), 1386
    )  # 1000 x ln 4


def test_a_text_has_its_32_rarest_entities_in_a_fixed_order() -> None:
    many = " ".join(f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(40))
    texts = [f"{many} {many}", "x", "y", "z"]
    assert len(entities(texts).mentions[0]) == 32
    assert entities(texts) == entities(texts)
    assert list(entities(texts).mentions[0]) == sorted(entities(texts).mentions[0])


def test_names_and_repeated_words_come_before_words_said_once() -> None:
    once = " ".join(f"aaaa{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(40))
    mentions = entities([f"{once} but Zoe went sailing, sailing on", "x", "y", "z"]).mentions[0]
    assert len(mentions) == 32
    assert {"zoe", "sailing"} <= set(mentions)
    assert "went" not in mentions


def test_few_texts_have_entities_too() -> None:
    assert entities(["the ferry leaves", "the train leaves"]).mentions == (("ferry",), ("train",))


def test_no_texts_have_no_entities() -> None:
    assert entities([]).mentions == ()
    assert entities(["", " \n"]).mentions == ((), ())
