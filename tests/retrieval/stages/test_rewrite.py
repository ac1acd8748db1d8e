"""The stages that let a model word a question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chat_server import MODEL, ChatServer, chat_server
from question_batch import batch_of
from recallbench.errors import InputError, UsageError
from recallbench.retrieval.chat.prompts import PINS
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.stages.multi_query import wordings
from recallbench.retrieval.stages.registry import stage_class
from recallbench.retrieval.stages.stage import RewriteStage, StageRequest, Variant
from recallbench.usage import Usage

PAINTED = "When did Mel paint?"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


def opened(method: str, server: ChatServer, folder: Path, **options: str) -> RewriteStage:
    kind = stage_class("rewrite", method)
    assert issubclass(kind, RewriteStage)
    return kind.open(StageRequest(method, {"endpoint": server.address, "model": MODEL, **options}, {}, folder))


def test_other_wordings_are_searched_for_beside_the_question(server: ChatServer, tmp_path: Path) -> None:
    server.says = lambda asked: (
        "1. When was Mel painting?\n2. When was Mel painting?\n- “Mel's painting day”\n\nMore?\nYet more?"
    )
    stage = opened("multi-query", server, tmp_path, n="2")
    assert stage.rewrite(batch_of([PAINTED])) == [
        [Variant(PAINTED), Variant("When was Mel painting?"), Variant("Mel's painting day")]
    ]
    assert "Write 2 other ways" in server.asked[0]
    assert server.asked[0].endswith(f"Question: {PAINTED}")
    assert stage.usage == Usage(fresh=10, output=17)
    assert stage.settings()["prompt multi_query"] == f"sha256 {PINS['multi_query']}"
    alone = opened("multi-query", server, tmp_path, n="2", keep_original="false")
    assert alone.rewrite(batch_of([PAINTED])) == [[Variant("When was Mel painting?"), Variant("Mel's painting day")]]
    assert len(server.asked) == 1


def test_a_model_that_only_repeats_the_question_leaves_the_question(server: ChatServer, tmp_path: Path) -> None:
    server.says = lambda asked: f"{PAINTED}\n{PAINTED}"
    stage = opened("multi-query", server, tmp_path, keep_original="false")
    assert stage.rewrite(batch_of([PAINTED])) == [[Variant(PAINTED)]]


def test_an_invented_passage_is_embedded_as_one(server: ChatServer, tmp_path: Path) -> None:
    server.says = lambda asked: "Mel: I painted on Sunday.\nIt was fun!"
    passage = Variant("Mel: I painted on Sunday.\nIt was fun!", as_passage=True)
    assert opened("hyde", server, tmp_path).rewrite(batch_of([PAINTED])) == [[passage]]
    both = opened("hyde", server, tmp_path, keep_original="true")
    assert both.rewrite(batch_of([PAINTED])) == [[Variant(PAINTED), passage]]


@pytest.mark.parametrize("method", ["multi-query", "hyde"])
def test_a_rewrite_of_nothing_names_the_question(server: ChatServer, tmp_path: Path, method: str) -> None:
    server.says = lambda asked: "...\n- \n"
    with pytest.raises(InputError, match=r"a rewrite of nothing while .*`When did Mel paint\?`"):
        opened(method, server, tmp_path).rewrite(batch_of(["Who?", PAINTED][1:]))


def test_numbers_bullets_and_quotes_are_no_part_of_a_wording() -> None:
    lines = ['1) "What?"', "(2) Why?", "* Who?", "Query 3: Where?", "1990 was when?", "-5 degrees?", "—", ""]
    assert list(wordings("\n".join(lines))) == ["What?", "Why?", "Who?", "Where?", "1990 was when?", "-5 degrees?"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "needs `endpoint`"),
        ({"endpoint": "localhost"}, "a chat model is behind an endpoint"),
        ({"endpoint": "http://h/v1", "key_from": "sk-1234"}, "`key_from` names a variable"),
        ({"endpoint": "http://h/v1", "temperature": 3}, "`temperature` 3 can't be read"),
        ({"endpoint": "http://h/v1", "seconds": "nan"}, "`seconds` nan can't be read"),
        ({"endpoint": "http://h/v1", "modle": "x"}, "has no option `modle`"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as refused:
        Pipeline.of([{"kind": "rewrite", "method": "hyde", **options}, {"kind": "search"}])
    assert "sk-1234" not in str(refused.value)


def test_a_key_that_is_named_must_be_there(server: ChatServer, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="takes its key from JUDGE_KEY, which is not set"):
        opened("hyde", server, tmp_path, key_from="JUDGE_KEY")
    options = {"endpoint": server.address, "model": MODEL, "key_from": "JUDGE_KEY"}
    kind = stage_class("rewrite", "hyde")
    stage = kind.open(StageRequest("hyde", options, {"JUDGE_KEY": "k-1", "RECALLBENCH_CHAT_TOKEN": "k-2"}, tmp_path))
    assert isinstance(stage, RewriteStage)
    stage.rewrite(batch_of([PAINTED]))
    assert server.keys == ["Bearer k-1"]
