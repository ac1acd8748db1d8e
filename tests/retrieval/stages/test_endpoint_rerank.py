"""A reranker behind an endpoint, against a real server on the loopback interface."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from question_batch import batch_of
from recallbench.errors import Blocked, InputError, RecallBenchError, UsageError
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.endpoint_rerank import EndpointRerankStage
from recallbench.retrieval.stages.stage import QuestionBatch, StageRequest
from recallbench.stores.store import Hit
from recallbench.usage import Usage
from scripted_server import Scripted, scripted_server

ITEMS = {1: "red fox", 2: "blue owl, which sleeps by day", 3: "green hen"}
FOUND = [(1, 0.9), (2, 0.8), (3, 0.7)]
SECRET = "rk-77aa01c2d3e4"


def results(*scores: Any, **more: Any) -> dict[str, Any]:
    return {"results": [{"index": index, "relevance_score": score} for index, score in enumerate(scores)], **more}


class Server:
    """A reranker that answers as a test tells it to; the first answers are `faults`."""

    def __init__(self, script: Scripted) -> None:
        self.script = script
        self.faults: list[Any] = []
        self.answer: Callable[[Any], Any] = lambda body: results(*(len(text) / 8 for text in body["documents"]))
        script.answer = self._answer

    def _answer(self, path: str, body: Any) -> Any:
        if path == "/v1/models":
            return {"data": [{"id": "tiny-reranker"}]}
        return self.faults.pop(0) if self.faults else self.answer(body)

    def opened(self, *, environ: dict[str, str] | None = None, **options: str) -> EndpointRerankStage:
        given = {"endpoint": f"{self.script.address}v1", "seconds": "5", **options}
        return EndpointRerankStage.open(StageRequest("endpoint", given, environ or {}))

    def reranked(self, **options: str) -> list[Hit]:
        stage = self.opened(**options)
        return stage.apply(batch_of(["which owl?"], items=ITEMS), Candidates.of([FOUND])).hits_of(0)


@pytest.fixture
def server() -> Iterator[Server]:
    with scripted_server() as script:
        yield Server(script)


def test_all_candidates_of_a_question_are_scored_at_once(server: Server) -> None:
    server.answer = lambda body: {
        "results": [
            {"index": 1, "relevance_score": 2},
            {"index": 2, "relevance_score": -1},
            {"index": 0, "relevance_score": 0.5},
        ],
        "model": "tiny-reranker-2",
        "usage": {"prompt_tokens": 30, "total_tokens": 30},
    }
    stage = server.opened(environ={"RECALLBENCH_RERANK_TOKEN": SECRET})
    reranked = stage.apply(batch_of(["which owl?", "?"], items=ITEMS), Candidates.of([FOUND, []]))
    assert list(reranked.hits()) == [[(2, 2.0), (1, 0.5), (3, -1.0)], []]
    assert server.script.requested("/v1/rerank") == [
        {"model": "tiny-reranker", "query": "which owl?", "documents": list(ITEMS.values()), "top_n": 3}
    ]
    assert stage.usage == Usage(fresh=30)
    assert stage.settings() == {
        "endpoint": f"{server.script.address}v1",
        "model": "tiny-reranker",
        "model as answered": "tiny-reranker-2",
    }
    stage.apply(
        QuestionBatch(batch_of(["?"]).queries, batch_of([], items=ITEMS).memory, timed=True), Candidates.of([FOUND])
    )
    assert stage.usage == Usage(fresh=30)  # what it costs to time a question is no part of what an answer costs
    told = stage.circumstances()
    assert told.pop("tokens_of_timing")["fresh"] == 30
    assert told == {"requests": 3, "requests_again": 0, "answers_without_usage": 0}
    assert {headers["authorization"] for *_, headers in server.script.requests} == {f"Bearer {SECRET}"}


def test_only_the_first_are_sent(server: Server) -> None:
    assert server.reranked(top="2", model="other") == [(2, 3.625), (1, 0.875), (3, -0.125)]
    assert server.script.requested("/v1/rerank")[0]["model"] == "other"
    # (10 + 7) / 4 characters are 5 tokens, (10 + 29) / 4 are 10.
    assert server.reranked(token_budget="15")[2] == (3, -0.125)
    assert server.reranked(token_budget="14") == [(1, 0.875), (2, -0.125), (3, -1.125)]
    assert server.opened(token_budget="15").settings()["tokens of the budget"] == "estimated, 4 characters each"


@pytest.mark.parametrize(
    "fault",
    [
        (429, {"error": "slow down"}, {"Retry-After": "0.01"}),
        (500, b"oops", {}),
        b'{"results": [',
        {"results": [{"index": 7, "relevance_score": 1.0}]},
        {"scores": [1, 2, 3]},
        None,  # hangs up
    ],
)
def test_a_fault_that_passes_is_tried_again(server: Server, fault: Any) -> None:
    server.faults = [fault]
    assert server.reranked()[0] == (2, 3.625)


@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [
        ((429, {}, {"Retry-After": "30"}), Blocked, "status 429"),
        ((500, b"oops", {}), InputError, "status 500"),
        ((401, {}, {}), Blocked, "RECALLBENCH_RERANK_TOKEN"),
        (b'{"results": [{"index": 0, "relevance_score": NaN}]}', InputError, "NaN is no JSON"),
        ({"results": [{"index": 0, "relevance_score": 1}] * 2}, InputError, "each index once"),
        (lambda handler: time.sleep(0.3), InputError, "none"),
    ],
)
def test_a_fault_that_stays_names_the_question(
    server: Server, fault: Any, kind: type[RecallBenchError], told: str
) -> None:
    server.faults = [fault] * 50
    with pytest.raises(kind, match=r"scoring 3 candidates of the question which owl\?") as error:
        server.reranked(seconds="0.2")
    assert told in str(error.value)


def test_fewer_scores_and_no_scores_name_the_question(server: Server) -> None:
    server.answer = lambda body: results(1.0, 2.0)
    with pytest.raises(InputError, match=r"endpoint left out candidates of the question which owl\?") as error:
        server.reranked()
    assert (error.value.expected, error.value.found) == ("3 scores, one for each candidate", "2 scores")
    server.answer = lambda body: results(1.0, None, 2.0)
    with pytest.raises(InputError, match=r"endpoint gave no score to candidate 2 of the question which owl\?"):
        server.reranked()


def test_a_server_that_is_not_there_blocks(server: Server) -> None:
    stage = EndpointRerankStage.open(
        StageRequest("endpoint", {"endpoint": "http://127.0.0.1:9/v1", "model": "x", "seconds": "0.2"})
    )
    with pytest.raises(Blocked, match="does not answer"):
        stage.apply(batch_of(["?"], items=ITEMS), Candidates.of([FOUND]))


def test_no_key_reaches_what_is_recorded(server: Server) -> None:
    table = {
        "kind": "rerank",
        "method": "endpoint",
        "endpoint": "http://me:hunter2-hunter2@127.0.0.1:8080/v1",
        "key_from": "MY_KEY",
    }
    (spec,) = Pipeline.of([{"kind": "search"}, table]).of_kind("rerank")
    assert spec.recorded()["options"] == {
        "endpoint": "http://127.0.0.1:8080/v1",
        "key_from": "MY_KEY",
        "seconds": "60",
    }
    with pytest.raises(UsageError, match="endpoint takes its key from MY_KEY, which is not set"):
        server.opened(key_from="MY_KEY")
