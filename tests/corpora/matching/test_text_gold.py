"""Gold from expected texts: the matching segments of the question's own scope, and how often random ones match."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from labelled_sets import EXPECTING, SAYING, beir, jsonl, short
from recallbench.corpora.labelled_sets.labelled import identify
from recallbench.corpora.labelled_sets.set_name import SetName, parse_set_name
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.matching.passages import Passages
from recallbench.corpora.matching.text_gold import step_of
from recallbench.corpora.matching.text_matching import ParsedText, likeness
from recallbench.corpora.pooled import pooled
from recallbench.corpora.records import Corpus, Question
from recallbench.corpora.registry import open_corpus
from recallbench.errors import InputError, UsageError
from recallbench.protocol.frozen import load


def opened(folder: Path, matching: Matching) -> Corpus:
    return open_corpus(str(identify(folder, matching=matching)), rules=load(), environ={}, file=folder)


def questions(corpus: Corpus) -> dict[str, Question]:
    return {question.id: question for haystack in corpus.haystacks() for question in haystack.questions}


@pytest.mark.parametrize(
    ("matching", "name"),
    [
        (Matching("tokens"), "tokens-0.3"),
        (Matching("tokens", 0.50, 60), "tokens-0.5-60"),
        (Matching("tokens", 1.0), "tokens-1"),
        (Matching("tokens", 0.00001), "tokens-0.00001"),
        (Matching("exact"), "exact"),
        (Matching("exact", chunk=60), "exact-60"),
    ],
)
def test_a_set_name_holds_the_method_and_is_parsed_back(matching: Matching, name: str) -> None:
    assert matching.code == name
    text = f"labelled/team+1@{'0' * 64}+{name}"
    assert parse_set_name(text) == SetName("team+1", "0" * 64, matching)
    assert str(SetName("team+1", "0" * 64, matching)) == text


@pytest.mark.parametrize("method", ["tokens", "tokens-0.30", "tokens-3", "tokens-0.3-0", "exact-", "id", "", "0.3"])
def test_a_set_name_without_a_method_is_refused(method: str) -> None:
    with pytest.raises(UsageError, match="names no set of questions and answers"):
        parse_set_name(f"labelled/team@{'0' * 64}+{method}")


def test_matching_segments_are_gold(tmp_path: Path) -> None:
    folder = short(tmp_path / "team", EXPECTING, SAYING)
    queries = questions(opened(folder, Matching("tokens")))
    assert {id: sorted(query.gold) for id, query in queries.items()} == {
        "capital": [1],
        "ferry": [2, 3],
        "bicycle": [],
        "cars": [],
    }
    # paris is the capital of france (6), and most populous city beside (10): 2 * 6 / 16.
    assert queries["capital"].likeness == {0: 2 * 1 / (6 + 3), 1: 0.75, 2: 2 / 11, 3: 2 / 13}
    assert (queries["ferry"].exact, queries["ferry"].likeness[2]) == ({2}, 1.0)
    strict = questions(opened(folder, Matching("tokens", 0.8)))
    assert {id: sorted(query.gold) for id, query in strict.items()}["capital"] == []
    exact = questions(opened(folder, Matching("exact")))
    assert {id: sorted(query.gold) for id, query in exact.items() if query.gold} == {"ferry": [2]}
    assert [query.is_asked for query in exact.values()] == [True, True, True, True]


def test_chunks_find_a_short_answer_in_a_long_text(tmp_path: Path) -> None:
    long = (
        " ".join(f"word{i}" for i in range(40)) + " the shop opens at eight " + " ".join(f"more{i}" for i in range(40))
    )
    label = {"query": "When does it open?", "expected": "The shop opens at eight."}
    folder = short(
        tmp_path / "team", [label], [{"_id": "long", "text": long}, {"_id": "no", "text": "Nothing at all."}]
    )
    message = "no document matches what any query expects"
    with pytest.raises(InputError, match=message) as refused:
        opened(folder, Matching("tokens")).survey()
    # 2 * 5 / (5 + 28) is .303, with one token more .294.
    assert "--match-chunk 28" in refused.value.remedy
    # 5 of the 10 tokens of the best chunk, and all 5 of the answer: 2 * 5 / 15.
    (fuzzy,) = questions(opened(folder, Matching("tokens", chunk=10))).values()
    assert (fuzzy.gold, fuzzy.exact, fuzzy.likeness[0]) == ({0}, {0}, 10 / 15)
    # Exact matching needs no chunks, however long the document is.
    for matching in (Matching("exact"), Matching("exact", chunk=10)):
        (exact,) = questions(opened(folder, matching)).values()
        assert exact.gold == {0}
    name = str(identify(folder, matching=Matching("exact")))
    before = open_corpus(name, rules=load(), environ={}, file=folder, whole_texts=True)
    with pytest.raises(InputError, match=message):
        before.survey()


NO = (
    {"_id": "no", "text": "No."},
    {"_id": "oh", "text": "Oh no!"},
    {"_id": "ferry", "text": "There is no ferry on that day."},
    {"_id": "wet", "text": "Bergen is wet."},
)


@pytest.mark.parametrize(
    ("matching", "gold"),
    [
        # 2 * 1 / (1 + 1), 2 / 3 and 2 / 8: that a text holds the word is not enough.
        (Matching("tokens", 0.1, 60), {0, 1, 2}),
        (Matching("tokens", 0.25, 60), {0, 1, 2}),
        (Matching("tokens", 0.3, 60), {0, 1}),
        (Matching("tokens", 0.5, 60), {0, 1}),
        (Matching("tokens", 0.7, 60), {0}),
        (Matching("tokens", 0.3), {0, 1}),
        (Matching("exact", chunk=60), {0, 1, 2}),
        (Matching("exact"), {0, 1, 2}),
    ],
)
def test_under_tokens_f1_alone_decides(tmp_path: Path, matching: Matching, gold: set[int]) -> None:
    folder = short(tmp_path / "team", [{"query": "Is there a ferry?", "expected": "No"}], NO)
    (question,) = questions(opened(folder, matching)).values()
    assert question.gold == gold
    assert question.exact == {0, 1, 2}


def test_only_the_own_scope_is_searched_and_pooling_moves_its_gold(tmp_path: Path) -> None:
    documents = [
        {"_id": "a", "scope": "north", "text": "The ferry leaves at nine."},
        {"_id": "a", "scope": "south", "text": "The bus is late."},
        {"_id": "b", "scope": "south", "text": "The ferry leaves at nine."},
    ]
    labels = [{"query": "When?", "scope": "south", "expected": "ferry leaves at nine"}]
    corpus = opened(short(tmp_path / "team", labels, documents), Matching("tokens"))
    (question,) = questions(corpus).values()
    assert (question.gold, question.likeness) == ({1}, {1: 2 * 4 / 9})
    (haystack,) = pooled(corpus.haystacks())
    assert (haystack.questions[0].gold, haystack.questions[0].likeness) == ({2}, {2: 2 * 4 / 9})


def test_the_index_gives_the_gold_of_pairwise_matching(tmp_path: Path) -> None:
    draw = random.Random(7)
    vocabulary = [f"w{i}" for i in range(30)]

    def text(most: int) -> str:
        return " ".join(draw.choices(vocabulary, k=draw.randint(1, most)))

    documents = [{"_id": f"d{i}", "text": text(40)} for i in range(60)]
    documents += [{"_id": "blank", "text": ""}, {"_id": "mark", "text": "?!"}]
    labels = [{"query_id": f"q{i}", "query": "?", "expected": text(6)} for i in range(40)]
    labels.append({"query_id": "same", "query": "?", "expected": documents[0]["text"].upper() + "."})
    folder = short(tmp_path / "team", labels, documents)
    for matching in (
        Matching("tokens", 0.4),
        Matching("tokens", 0.05, 7),
        Matching("exact"),
        Matching("exact", chunk=5),
    ):
        for id, question in questions(opened(folder, matching)).items():
            expected = ParsedText(next(label["expected"] for label in labels if label["query_id"] == id))
            candidates = [likeness(expected, ParsedText(document["text"], matching.chunk)) for document in documents]
            assert question.gold == {i for i, candidate in enumerate(candidates) if candidate.matches(matching)}
            assert question.exact == {i for i, candidate in enumerate(candidates) if candidate.exact}
            least = min(0.1, matching.threshold)
            assert question.likeness == {
                i: candidate.f1 for i, candidate in enumerate(candidates) if candidate.f1 >= least
            }


def test_the_survey_counts_matches_and_draws_random_texts(tmp_path: Path) -> None:
    survey = opened(short(tmp_path / "team", EXPECTING, SAYING), Matching("tokens", 0.25)).survey()
    assert (survey.questions, survey.asked, survey.with_evidence, survey.denominators) == (4, 4, 2, {"all": 3})
    drawn = survey.random_matches
    assert drawn is not None
    assert list(drawn.rates) == [0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6]
    assert (drawn.pairs, drawn.exact) == (2000, 0.0)
    # Nine pairs are left. The capital: .22, .18, .15; the ferry: 0, .13, and .67 for the other ferry; the bicycle: 0.
    expected = {0.1: 5 / 9, 0.2: 2 / 9, 0.25: 1 / 9, 0.3: 1 / 9, 0.4: 1 / 9, 0.5: 1 / 9, 0.6: 1 / 9}
    assert dict(drawn.rates) == pytest.approx(expected, abs=0.04)
    again = opened(tmp_path / "team", Matching("tokens", 0.25)).survey().random_matches
    assert again is not None
    assert asdict(again) == asdict(drawn)


def test_queries_of_the_beir_layout_need_no_judgements(tmp_path: Path) -> None:
    queries: Sequence[Mapping[str, object]] = [
        {
            "_id": str(label["query_id"]),
            "text": label["query"],
            **{k: v for k, v in label.items() if k in ("expected", "kind")},
        }
        for label in EXPECTING
    ]
    folder = beir(tmp_path / "team", SAYING, queries, dev="ferry\tnine\t1\n")
    assert list(questions(opened(folder, Matching("tokens")))) == ["capital", "ferry", "bicycle", "cars"]
    name = str(identify(folder, "dev", Matching("tokens")))
    chosen = open_corpus(name, rules=load(), environ={}, file=folder)
    assert questions(chosen)["ferry"].gold == {2, 3}
    (folder / "qrels" / "dev.tsv").unlink()
    (folder / "qrels").rmdir()
    assert list(questions(opened(folder, Matching("tokens")))) == ["capital", "ferry", "bicycle", "cars"]
    with pytest.raises(InputError, match="missing"):
        identify(folder)


@pytest.mark.parametrize(
    ("label", "expected", "actual"),
    [
        ({"query": "When?"}, "the text of an answer, or kind abstention", "none"),
        ({"query": "When?", "relevant": ["paris"]}, "the text of an answer, or kind abstention", "none"),
        ({"query": "When?", "expected": "x", "kind": "abstention"}, "none with kind abstention", "one"),
        ({"query": "When?", "expected": "?!"}, "a text with letters or digits", "'?!'"),
        ({"query": "When?", "expected": ["nine"]}, "text", "a list, ['nine']"),
    ],
)
def test_wrong_expectations_are_named(tmp_path: Path, label: dict[str, object], expected: str, actual: str) -> None:
    folder = short(tmp_path / "team", [label], SAYING)
    with pytest.raises(InputError, match=r"gold.jsonl: .*field expected") as refused:
        opened(folder, Matching("tokens")).survey()
    assert (refused.value.expected, refused.value.found) == (expected, actual)
    assert "--match id" in refused.value.remedy or "mend the file" in refused.value.remedy


def test_ids_decide_where_some_queries_have_no_text(tmp_path: Path) -> None:
    labels = [
        {"query_id": "id", "query": "Where?", "relevant": {"berlin": 2, "paris": 1}},
        {"query_id": "both", "query": "Which?", "relevant": ["ten"], "expected": "the ferry leaves at nine"},
        {"query_id": "text", "query": "When?", "expected": "the ferry leaves at nine"},
        {"query_id": "none", "query": "Who?", "kind": "abstention"},
    ]
    folder = short(tmp_path / "team", labels, SAYING)
    queries = questions(opened(folder, Matching("tokens")))
    shown = {id: (sorted(query.gold), query.one_find, bool(query.expected)) for id, query in queries.items()}
    assert shown == {
        "id": ([0, 1], False, False),
        "both": ([3], False, False),
        "text": ([2, 3], True, True),
        "none": ([], False, False),
    }
    assert queries["id"].grades == {0: 2.0, 1: 1.0}
    # Where every query has a text, all are matched by text.
    jsonl(folder / "gold.jsonl", labels[1:])
    assert sorted(questions(opened(folder, Matching("tokens")))["both"].gold) == [2, 3]


def test_without_matching_an_expected_text_is_no_gold(tmp_path: Path) -> None:
    folder = short(tmp_path / "team", EXPECTING, SAYING)
    with pytest.raises(InputError, match="field relevant") as refused:
        opened(folder, Matching()).survey()
    assert refused.value.remedy == "--match tokens matches by the expected text"
    jsonl(folder / "gold.jsonl", [{"query": "When?", "relevant": ["nine"], "expected": "At ten."}])
    (question,) = questions(opened(folder, Matching())).values()
    assert (question.gold, question.expected) == ({2}, "")


@pytest.mark.parametrize(
    ("matching", "name"),
    [
        (Matching("hybrid"), "hybrid-0.3"),
        (Matching("hybrid", 0.25, 60), "hybrid-0.25-60"),
        (Matching("bm25"), "bm25-0.5-60"),
        (Matching("bm25", 0.4, 120), "bm25-0.4-120"),
    ],
)
def test_a_set_name_holds_hybrid_and_bm25_too(matching: Matching, name: str) -> None:
    assert matching.code == name
    assert parse_set_name(f"labelled/team@{'0' * 64}+{name}") == SetName("team", "0" * 64, matching)
    with pytest.raises(UsageError, match="names no set of questions and answers"):
        parse_set_name(f"labelled/team@{'0' * 64}+{name.partition('-')[0]}")


def test_hybrid_takes_ids_and_texts_and_keeps_them_apart(tmp_path: Path) -> None:
    labels = [
        {"query_id": "id", "query": "Where?", "relevant": {"berlin": 2, "paris": 1}},
        {"query_id": "both", "query": "Which?", "relevant": ["berlin"], "expected": "the ferry leaves at nine"},
        {"query_id": "text", "query": "When?", "expected": "the ferry leaves at nine"},
        {"query_id": "none", "query": "Who?", "kind": "abstention"},
    ]
    queries = questions(opened(short(tmp_path / "team", labels, SAYING), Matching("hybrid")))
    shown = {
        id: (sorted(query.gold), sorted(query.by_id), sorted(query.exact), query.one_find)
        for id, query in queries.items()
    }
    assert shown == {
        "id": ([0, 1], [], [], False),
        "both": ([0, 2, 3], [0], [2], True),
        "text": ([2, 3], [], [2], True),
        "none": ([], [], [], False),
    }
    assert [step_of(queries["both"], position) for position in range(4)] == ["id", None, "exact", "tokens"]
    assert [step_of(queries["id"], position) for position in range(3)] == ["id", "id", None]
    # Behind a haystack of four its positions are four further on.
    twice = list(opened(tmp_path / "team", Matching("hybrid")).haystacks()) * 2
    (haystack,) = pooled(twice)
    assert [sorted(question.by_id) for question in haystack.questions if question.id == "both"] == [[0], [4]]


def test_gold_by_bm25_has_a_passage_above_the_threshold(tmp_path: Path) -> None:
    queries = questions(opened(short(tmp_path / "team", EXPECTING, SAYING), Matching("bm25")))
    assert {id: sorted(query.gold) for id, query in queries.items()} == {
        "capital": [1],
        "ferry": [2, 3],
        "bicycle": [],
        "cars": [],
    }
    scores = Passages([document["text"] for document in SAYING], 60).scores("the ferry leaves at nine")
    assert dict(queries["ferry"].likeness) == {n: score for n, score in enumerate(scores.tolist()) if score >= 0.1}
    assert queries["ferry"].likeness[2] == 1.0
