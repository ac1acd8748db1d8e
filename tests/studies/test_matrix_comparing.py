"""Which systems of a matrix are compared with which."""

from __future__ import annotations

from hit_rankings import hits, rankings
from recallbench.progress import Silent
from recallbench.reports.matrix.document import BM25, EncoderPart
from recallbench.scoring.measures.registry import parse
from recallbench.studies.matrix.comparing import asking_again, compare_corpus, compare_together

ANY = [parse("recall_any@1")]


def encoder(name: str, max_tokens: int | None) -> EncoderPart:
    return EncoderPart(
        name=name,
        encoder=name.partition("@")[0],
        max_tokens=max_tokens,
        dims=2,
        vector_bytes=8,
        fingerprint_sha256="",
    )


ENCODERS = [encoder("a@512", 512), encoder("a@128", 128), encoder("b", None)]


def test_every_pair_each_against_the_first_and_neighbouring_windows() -> None:
    systems = {name: rankings(hits(count)) for name, count in (("a@512", 30), ("a@128", 20), ("b", 30), (BM25, 39))}
    compared = compare_corpus("team", systems, ENCODERS, ANY)
    by_family = {
        family: [(pair.first_system, pair.second_system) for pair in compared.pairs if pair.family == family]
        for family in ("all", "reference", "windows")
    }
    assert len(by_family["all"]) == 6
    assert by_family["reference"] == [("a@512", "a@128"), ("a@512", "b"), ("a@512", BM25)]
    assert by_family["windows"] == [("a@128", "a@512")]
    assert {system: letters["recall_any@1"] for system, letters in compared.letters.items()} == {
        BM25: "a",
        "a@512": "b",
        "b": "b",
        "a@128": "c",
    }
    (window,) = [pair for pair in compared.pairs if pair.family == "windows"]
    assert (window.difference, window.p_holm) == (0.25, window.p)


def test_together_are_the_systems_of_every_corpus_best_first() -> None:
    corpora = [
        {"a@512": rankings(hits(10)), "a@128": rankings(hits(4)), "b": rankings(hits(40))},
        {"a@512": rankings(hits(30)), "a@128": rankings(hits(40))},
    ]
    together, pairs = compare_together(corpora, ["one", "two"], ENCODERS, ANY, Silent())
    assert [(part.system, part.values["recall_any@1"]) for part in together] == [("a@128", 0.55), ("a@512", 0.5)]
    assert {pair.corpus for pair in pairs} == {""}
    assert compare_together(corpora[:1], ["one"], ENCODERS, ANY, Silent()) == ([], [])


def test_questions_that_two_corpora_share_count_in_the_first_one() -> None:
    assert asking_again(["realtalk", "locomo", "realtalk-turns"]) == ["realtalk-turns"]
    assert asking_again(["realtalk-turns", "realtalk"]) == ["realtalk"]
    assert asking_again(["realtalk-turns", "locomo"]) == []
