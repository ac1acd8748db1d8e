"""`match="hybrid"` and `match="bm25"` in the Python API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recallbench as api
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.matching.text_matching import Likeness
from recallbench.errors import InputError, UsageError

TEXTS = {
    "a": "Acme ships from Portland.",
    "b": "As far as anyone in the office knows Acme ships from Portland, Oregon, by rail and by road.",
    "c": "From Portland Acme ships things.",
    "d": "Bob likes Python.",
    "e": "Acme ships",
}
CASES = [
    api.Case("by id", ["d"], expected="Acme ships from Portland", id="q1"),
    api.Case("by exact", ["z"], expected="Acme ships from Portland", id="q2"),
    api.Case("by tokens", expected="Acme ships things from Portland by sea", id="q3"),
    api.Case("by cosine", expected="Acme ships from Portland", id="q4"),
    api.Case("ids alone", ["d"], id="q5"),
    api.Case("nowhere", expected="zebra", id="q6"),
    api.Case("nothing", kind="abstention", id="q7"),
]
RANKED = {
    "by id": ["d", "b", "a"],
    "by exact": ["b", "d"],
    "by tokens": ["d", "c"],
    "by cosine": ["d", "e"],
    "ids alone": ["a", "d"],
    "nowhere": ["a"],
    "nothing": ["a"],
}


def evaluated(**more: object) -> api.Report:
    return api.evaluate(CASES, lambda query, k: RANKED[query][:k], k=3, texts=TEXTS, **more)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALLBENCH_CACHE_DIR", str(tmp_path))


def test_the_first_step_that_matches_counts_and_each_step_is_shown() -> None:
    words = {"match_threshold": 0.7, "allow_random_matches": True}
    report = evaluated(match="hybrid", match_embedder="hash", match_cosine=0.5, **words)
    assert str(report.matching) == "hybrid f1>=0.7, cosine>=0.5 by hash"
    assert report.matched_by == ["id", "exact", "tokens", "cosine", "id", "", ""]
    # q1: d by id, b and a by text: three hits, of which the first decides.
    assert [(share.step, share.cases, share.hits) for share in report.shares] == [
        ("id", 2, 2), ("exact", 1, 3), ("tokens", 1, 1), ("cosine", 1, 1),
    ]  # fmt: skip
    assert [share.share for share in report.shares] == pytest.approx([2 / 6, 1 / 6, 1 / 6, 1 / 6])
    assert report.recall == pytest.approx(5 / 6)
    assert report.mrr == pytest.approx((1 + 1 + 1 / 2 + 1 / 2 + 1 / 2) / 6)
    assert report.precision == pytest.approx((3 + 1 + 1 + 1 + 1) / 3 / 6)
    document = json.loads(report.table("json"))
    assert document["shares"]["cosine"] == {"cases": 1, "share": pytest.approx(1 / 6), "hits": 1}
    assert [row["matched_by"] for row in document["rows"]] == ["id", "exact", "tokens", "cosine", "id", None, None]
    for form in ("text", "markdown"):
        table = report.table(form)  # type: ignore[arg-type]
        assert all(word in table for word in ("first match by", "cosine>=0.5 by hash", "not found"))
    assert ',"hybrid f1>=0.7, cosine>=0.5 by hash",cosine,' in report.table("csv").splitlines()[4]
    assert "2 by id, 1 by exact, 1 by tokens, 1 by cosine" in str(report)
    assert report.by(lambda case: case.name)["q4"].matched_by == ["cosine"]


def test_without_an_encoder_there_is_no_cosine() -> None:
    report = evaluated(match="hybrid", match_threshold=0.7, allow_random_matches=True)
    assert [share.step for share in report.shares] == ["id", "exact", "tokens"]
    assert report.matched_by == ["id", "exact", "tokens", "", "id", "", ""]


def test_a_relevant_id_needs_no_text() -> None:
    case = api.Case("q", ["gone"], expected="Acme ships")
    report = api.evaluate([case], lambda query, k: ["gone", "e"], k=2, match="hybrid", texts=TEXTS)
    assert (report.matched_by, report.precision) == (["id"], 1.0)


def test_bm25_finds_in_a_long_document_what_token_f1_can_not() -> None:
    filler = {f"f{n}": " ".join(f"word{n * 60 + m}" for m in range(60)) for n in range(20)}
    long = f"{filler['f1']} {filler['f2']} Acme ships from Portland {filler['f3']} {filler['f4']}"
    texts = {**filler, "long": long}
    cases = [api.Case("q", expected="Acme ships from Portland by sea")]

    def evaluated_by(**more: object) -> api.Report:
        return api.evaluate(cases, lambda query, k: ["f9", "long"], k=2, texts=texts, **more)  # type: ignore[arg-type]

    assert (evaluated_by(match="tokens").recall, evaluated_by(match="exact").recall) == (0.0, 0.0)
    report = evaluated_by(match="bm25", match_threshold=0.3)
    assert (report.recall, report.mrr, report.precision) == (1.0, 0.5, 0.5)
    assert str(report.matching) == "bm25>=0.3, chunk 60"
    assert str(evaluated_by(match="bm25").matching) == "bm25>=0.5, chunk 60"
    assert "bm25>=0.6" in report.table()
    assert report.notes == ("bm25: how rare a word is, is counted over all 21 texts that are known",)
    assert evaluated_by(match="bm25", match_threshold=1.0).recall == 0.0


def test_bm25_ignores_missing_texts_unless_they_are_retrieved() -> None:
    texts: dict[str, object] = {"a": "Acme ships from Portland", "b": None, "c": 7}

    def evaluated_on(ranked: list[str], **more: object) -> api.Report:
        case = api.Case("q", expected="Acme ships from Portland")
        return api.evaluate([case], lambda query, k: ranked, k=2, match="bm25", texts=texts, **more)  # type: ignore[arg-type]

    assert evaluated_on(["a"]).recall == 1.0
    assert evaluated_on(["a"]).notes == ("bm25: how rare a word is, is counted over all 1 texts that are known",)
    with pytest.raises(InputError, match="a hit has no text"):
        evaluated_on(["a", "b"])
    assert len(evaluated_on(["a", "b"], keep_going=True).failures) == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"match": "tokens", "match_embedder": "hash", "match_cosine": 0.5}, "cosine is a step of hybrid"),
        ({"match": "hybrid", "match_embedder": "hash"}, "no threshold"),
        ({"match": "hybrid", "match_cosine": 0.5}, "no encoder"),
        ({"match": "hybrid", "match_embedder": "hash", "match_cosine": 1.5}, "hash, 1.5"),
        ({"match": "exact", "match_threshold": 0.5}, "match_threshold is for token F1 and BM25"),
        ({"match": "nearly"}, "id, exact, tokens, hybrid, bm25"),
        ({"match": Matching("hybrid"), "match_cosine": 0.5}, "match_cosine beside a Matching does nothing"),
    ],
)
def test_options_without_effect_are_refused(more: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        evaluated(**more)
    assert message in str(refused.value)


def test_the_order_of_the_steps() -> None:
    way = Matching("hybrid", 0.3, encoder="hash", cosine=0.8)
    every = Likeness(True, 1.0, by_id=True, cosine=1.0, bm25=1.0)
    assert every.step(way) == "id"
    assert Likeness(True, 1.0, cosine=1.0).step(way) == "exact"
    assert Likeness(False, 0.3, cosine=1.0).step(way) == "tokens"
    assert Likeness(False, 0.29, cosine=0.8).step(way) == "cosine"
    assert Likeness(False, 0.29, cosine=0.79, bm25=9.0).step(way) is None
    assert Likeness(False, 0.0, bm25=0.5).step(Matching("bm25")) == "bm25"
