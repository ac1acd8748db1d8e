"""Cases that a text decides, and cases that ids do."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

import recallbench
from cases.three_cases import CASES, retrieve
from recallbench import Case
from recallbench.corpora.matching.method import Matching
from recallbench.errors import InputError, UsageError


def test_a_threshold_that_would_do_nothing_is_refused() -> None:
    cases = [Case("s", expected="blue")]
    with pytest.raises(UsageError, match="match_threshold is for token F1") as caught:
        recallbench.evaluate(cases, lambda q, k: ["blue"], 3, match="exact", match_threshold=0.5)
    assert (caught.value.expected, caught.value.found) == ('match="tokens", "hybrid" or "bm25"', "match='exact'")
    with pytest.raises(UsageError, match="match_threshold is for token F1"):
        asyncio.run(recallbench.evaluate_async(cases, lambda q, k: ["blue"], 3, match="exact", match_threshold=0.3))
    assert recallbench.evaluate(cases, lambda q, k: ["blue"], 3, match=Matching("exact")).recall == 1.0


def test_ids_where_texts_should_be() -> None:
    case = Case("capital?", ["1"], expected="Paris is the capital")
    with pytest.raises(InputError, match="a relevant id where a text should be") as caught:
        recallbench.evaluate([case], lambda q, k: ["2", "1"], 2, match="tokens")
    assert "case `capital?`" in str(caught.value)
    assert "--texts" in str(caught.value)
    texts = {"1": "the capital is Paris", "2": "no"}
    assert recallbench.evaluate([case], lambda q, k: ["2", "1"], 2, match="tokens", texts=texts).recall == 1.0
    other = Case("capital?", expected="Paris is the capital")
    assert "--texts FILE" in recallbench.evaluate([other], lambda q, k: ["2", "1"], 2, match="tokens").notes[0]
    assert recallbench.evaluate([other], lambda q, k: ["2", "Paris it is"], 2, match="exact").notes == ()


# Matching by text

ANSWERS = {
    "c": ["Berlin is big.", "Paris is the capital and most populous city of France…"],
    "s": ["blue!"],
    "m": ["tea"],
}
EXPECTED = [
    Case("c", expected="Paris is the capital of France."),
    Case("s", expected="Blue"),
    Case("m", expected="The moon is made of rock"),
]


def test_matching_by_text_by_hand() -> None:
    report = recallbench.evaluate(EXPECTED, lambda q, k: ANSWERS[q], 2, match="tokens")
    assert str(report).endswith("matching: tokens f1>=0.3")
    assert [row.values["recall_frac@2"] for row in report.rows] == [1, 1, 0]
    assert report.mrr == pytest.approx((0.5 + 1 + 0) / 3)
    assert report.texts is not None
    assert report.texts.count_first_matches(2) == (1, 1, 1)
    assert [point.threshold for point in report.texts.sensitivity(2)] == [None, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert [round(point.recall, 2) for point in report.texts.sensitivity(2)] == [0.33, *[0.67] * 6]
    strict = recallbench.evaluate(EXPECTED, lambda q, k: ANSWERS[q], 2, match="exact")
    assert [row.values["recall_frac@2"] for row in strict.rows] == [0, 1, 0]


def test_texts_looked_up_by_id_match_alike() -> None:
    known = {f"{q}{n}": text for q, texts in ANSWERS.items() for n, text in enumerate(texts)}
    ids = {q: [f"{q}{n}" for n in range(len(texts))] for q, texts in ANSWERS.items()}
    plain = recallbench.evaluate(EXPECTED, lambda q, k: ANSWERS[q], 2, match="tokens")
    for texts in (known, known.get):
        report = recallbench.evaluate(EXPECTED, lambda q, k: ids[q], 2, match="tokens", texts=texts)  # type: ignore[arg-type]
        assert str(report) == str(plain)
    with pytest.raises(InputError, match="case `m`: a hit has no text"):
        recallbench.evaluate(EXPECTED, lambda q, k: ids[q], 2, match="tokens", texts={**known, "m0": None})  # type: ignore[dict-item]
    report = recallbench.evaluate(
        EXPECTED,
        lambda q, k: ids[q],
        2,
        match="tokens",
        texts={k: v for k, v in known.items() if k != "m0"},
        keep_going=True,
    )
    assert len(report.failures) == 1


def test_each_text_that_matches_counts_for_precision_and_the_first_for_recall() -> None:
    answers = {
        "s": ["blue", "Blue", "blue"],
        "late": ["tea", "blue", "blue"],
        "apart": ["blue", "tea", "blue"],
        "no": [],
    }
    cases = [Case(q, expected="blue") for q in answers]
    report = recallbench.evaluate(cases, lambda q, k: answers[q], 3, match="tokens", allow_random_matches=True)
    ideal = 1 + 1 / np.log2(3)
    names = ("recall_frac@3", "precision@3", "mrr@3", "ndcg@3", "f1@3")
    assert [[row.values[name] for name in names] for row in report.rows] == [
        [1, 1, 1, pytest.approx(1), pytest.approx(1)],
        [1, pytest.approx(2 / 3), 0.5, pytest.approx((1 / np.log2(3) + 0.5) / ideal), pytest.approx(2 * 2 / 5)],
        [1, pytest.approx(2 / 3), 1, pytest.approx(1.5 / ideal), pytest.approx(2 * 2 / 5)],
        [0, 0, 0, 0, 0],
    ]
    # The number of other matching texts is unknown.
    assert [report.ceiling(measure) for measure in report.measures] == [1] * 6


def test_cases_with_ids_and_cases_with_texts_are_counted_apart() -> None:
    documents = {"d1": "tea", "d2": "The ferry leaves at nine!", "d3": "The ferry leaves at ten"}
    cases = [
        Case("id", {"d1": 2, "d3": 1}),
        Case("both", ["d1"], expected="the ferry leaves at nine"),
        Case("text", expected="the ferry leaves at nine"),
        Case("none", kind="abstention"),
    ]
    report = recallbench.evaluate(cases, lambda q, k: list(documents)[:k], 3, match="tokens", texts=documents)
    shown = [[row.values.get(f"{name}@3") for name in ("recall_frac", "precision", "mrr")] for row in report.rows]
    assert shown == [
        [1, pytest.approx(2 / 3), 1],
        [1, pytest.approx(1 / 3), 1],
        [1, pytest.approx(2 / 3), 0.5],
        [None, None, None],
    ]
    assert report.rows[0].values["ndcg@3"] == pytest.approx((2 + 0.5) / (2 + 1 / np.log2(3)))
    assert report.ways == ("id", "id", "text", "")
    assert {way: (part.n, part.mrr) for way, part in report.apart.items()} == {"id": (2, 1.0), "text": (1, 0.5)}
    assert '<th scope="col">decided by</th>' in report._repr_html_()
    assert (
        '<tr><th scope="row">text</th><td>1</td><td>1.0000</td><td>0.6667</td><td>0.5000</td>' in report._repr_html_()
    )
    assert str(report).endswith("over 3 cases; matching: tokens f1>=0.3 (2 by id, 1 by text)")
    document = json.loads(report.table("json"))
    assert {way: part["n"] for way, part in document["decided_by"].items()} == {"id": 2, "text": 1}
    assert [row["decided_by"] for row in document["rows"]] == ["id", "id", "text", None]
    assert "| text | 1 | 1.0000 | 0.6667 | 0.5000 |" in report.table("markdown")
    csv_lines = report.table("csv").splitlines()
    assert [line.split(",")[-2] for line in csv_lines[1:]] == [
        "id",
        "id",
        *["tokens f1>=0.3"] * 2,
        "id",
        *["tokens f1>=0.3"] * 2,
    ]
    assert csv_lines[5].startswith("MEAN decided by=id,,1.0,0.5,1.0,")
    assert report.texts is not None
    assert report.texts.count_first_matches(3) == (1, 0, 0)
    # Where every case has a text, all are matched by text.
    by_text = recallbench.evaluate(cases[1:], lambda q, k: list(documents)[:k], 3, match="tokens", texts=documents)
    assert (by_text.ways, by_text.apart, by_text.mrr) == (("text", "text", ""), {}, 0.5)


def test_exact_finds_the_expected_text_in_a_longer_one() -> None:
    answer = ["Ask me: the ferry, leaves at NINE, as a rule.", "the ferry leaves at ninety"]
    report = recallbench.evaluate([Case("q", expected="Ferry leaves at nine")], lambda q, k: answer, 2, match="exact")
    assert (report.recall, report.precision, report.mrr) == (1.0, 0.5, 1.0)


def test_cases_without_the_needed_gold_are_refused() -> None:
    with pytest.raises(InputError, match="nothing to match by text"):
        recallbench.evaluate(CASES, retrieve, 3, match="tokens")
    with pytest.raises(InputError, match="nothing to match by id"):
        recallbench.evaluate(EXPECTED, lambda q, k: ANSWERS[q], 2)


def test_numbers_matched_in_different_ways_are_not_compared() -> None:
    cases = [Case("s", ["blue"], expected="blue")]
    by_id = recallbench.evaluate(cases, lambda q, k: ["blue"], 1)
    by_text = recallbench.evaluate(cases, lambda q, k: ["blue"], 1, match="tokens")
    other = recallbench.evaluate(cases, lambda q, k: ["blue"], 1, match="tokens", match_threshold=0.5)
    for before, after in ((by_id, by_text), (by_text, by_id), (by_text, other)):
        with pytest.raises(UsageError, match="matched in different ways"):
            before.compare(after)


def test_under_tokens_f1_alone_decides_which_hit_is_relevant() -> None:
    answer = ["There is no ferry on that day.", "Oh no!"]
    case = Case("Is there a ferry?", expected="No")
    report = recallbench.evaluate([case], lambda q, k: answer, 2, match="tokens", match_chunk=60)
    # 2 / 8 and 2 / 3: the second is the match.
    assert (report.recall, report.mrr) == (1.0, 0.5)
    assert report.texts is not None
    assert report.texts.count_first_matches(2) == (1, 0, 0)
    assert [(point.threshold, point.mrr) for point in report.texts.sensitivity(2)][:4] == [
        (None, 1.0),
        (0.1, 1.0),
        (0.2, 1.0),
        (0.3, 0.5),
    ]
    assert report.notes[0].startswith("warning: 1 of 1 expected texts are too short for chunks of 60 tokens")
    strict = recallbench.evaluate([case], lambda q, k: answer, 2, match="tokens", match_threshold=0.7, match_chunk=60)
    assert strict.recall == 0.0
    exact = recallbench.evaluate([case], lambda q, k: answer, 2, match="exact", match_chunk=60)
    assert (exact.mrr, exact.notes) == (1.0, ())
