"""Each ranking is a JSON line, without the text that a licence does not allow."""

import json

from recallbench.corpora.records import Question
from recallbench.results.retrievals import rows, trec_qrels, trec_run
from recallbench.retrieval.ranking import Ranking

QUESTION = Question('a"b', 'a"b/q0', "Who?", frozenset({2, 0}), "kind", cluster="a", denominators=frozenset({"all"}))
RANKING = Ranking('a"b/q0', (2, 1), (0.75, 0.5))


def test_a_row_holds_ids_ranks_scores_gold_and_kind_but_no_text() -> None:
    (line,) = rows([QUESTION], [3], [RANKING], None)
    assert json.loads(line) == {
        "question_id": 'a"b/q0',
        "scope": 'a"b',
        "kind": "kind",
        "cluster": "a",
        "abstention": False,
        "denominators": ["all"],
        "candidates": 3,
        "gold": ['a"b/0', 'a"b/2'],
        "hits": [{"rank": 1, "id": 'a"b/2', "score": 0.75}, {"rank": 2, "id": 'a"b/1', "score": 0.5}],
    }


def test_text_is_added_where_it_is_passed() -> None:
    (line,) = rows([QUESTION], [3], [RANKING], None, {'a"b/2': "two", 'a"b/1': "öne"})
    row = json.loads(line)
    assert row["question"] == "Who?"
    assert [hit["text"] for hit in row["hits"]] == ["two", "öne"]


def test_a_row_holds_the_hits_of_its_k_call() -> None:
    (line,) = rows([QUESTION], [3], [RANKING], [Ranking('a"b/q0', (1,), (0.5,))])
    assert json.loads(line)["hits_of_k_call"] == [{"rank": 1, "id": 'a"b/1', "score": 0.5}]


def test_trec_scores_fall_with_the_rank_so_that_no_reader_reorders_ties() -> None:
    question = Question("a", "a/q0", "Who?", frozenset({2, 0}), "kind")
    tied = Ranking("a/q0", (2, 1), (0.5, 0.5))
    assert "".join(trec_run([question], [tied], 50, "tag")) == "a/q0 Q0 a/2 1 49 tag\na/q0 Q0 a/1 2 48 tag\n"
    assert list(trec_qrels([question])) == ["a/q0 0 a/0 1\n", "a/q0 0 a/2 1\n"]
