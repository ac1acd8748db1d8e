"""One test per numbered clarification of the protocol: each fails when the code stops following it."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commandline import recallbench
from recallbench.corpora.miniature import write_locomo, write_longmemeval
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.corpora.registry import open_corpus
from recallbench.embedding.encoders import ENCODERS
from recallbench.protocol.bands import band
from recallbench.protocol.deviations import Configuration, departures
from recallbench.protocol.frozen import load
from recallbench.protocol.packed_vectors import PackedVectors
from recallbench.protocol.rules import applied
from recallbench.retrieval.opaque import OpaqueIds
from recallbench.scoring.estimate import estimate
from recallbench.scoring.judgement import judge
from recallbench.scoring.measures.registry import PRIMARY, parse

Change = Callable[[dict[str, Any]], object]


def miniature(corpus: str, tmp_path: Path, change: Change | None = None) -> list[Haystack]:
    """The built-in miniature of a corpus, its first conversation or item changed."""
    path = tmp_path / "mini.json"
    {"locomo": write_locomo, "longmemeval": write_longmemeval}[corpus](path)
    data = json.loads(path.read_text())
    if change is not None:
        change(data[0])
    path.write_text(json.dumps(data))
    opened = open_corpus(corpus, rules=load(), environ={}, file=path, allow_dataset_deviation=True)
    opened.survey()
    return list(opened.haystacks())


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clarified")
    recallbench("run", "canary-locomo", "--store", "exact", "--embedder", "hash", "--folder", "r", cwd=folder)
    return folder / "r"


def test_01_three_recalls_by_three_names_and_the_protocols_is_any(result: Path) -> None:
    judged = judge([[0, 1]], [{0, 5}], [9], 2)
    assert [float(parse(f"recall_{name}@2").values(judged)[0]) for name in ("any", "frac", "all")] == [1.0, 0.5, 0.0]
    metrics = json.loads((result / "metrics.json").read_text())
    assert metrics["headline"][0]["protocol_name"] == "recall@10"
    assert metrics["headline"][0]["estimate"]["measure"] == "recall_any@10" == str(PRIMARY[0])
    assert band(load().corpora["locomo"], "recall@10")[1].startswith("not applicable")


def test_02_a_question_is_answered_from_its_own_conversation(tmp_path: Path) -> None:
    first, second = miniature("locomo", tmp_path)
    assert {question.scope for question in first.questions} == {first.scope} != {second.scope}
    done = recallbench(
        "run",
        "canary-locomo",
        "--store",
        "exact",
        "--embedder",
        "hash",
        "--scope",
        "pooled",
        "--folder",
        "r",
        cwd=tmp_path,
    )
    assert "note: all haystacks pooled into one\n" in done.stdout
    rows = [json.loads(line) for line in (tmp_path / "r" / "raw_retrievals.jsonl").read_text().splitlines()]
    assert {row["candidates"] for row in rows} == {103}


def test_03_category_numbers_have_the_datas_meaning(tmp_path: Path) -> None:
    def number(conversation: dict[str, Any]) -> None:
        for category, question in enumerate(conversation["qa"][:5], start=1):
            question["category"] = category

    kinds = [question.kind for question in miniature("locomo", tmp_path, number)[0].questions[:5]]
    assert kinds == ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"]


def test_04_only_listed_repairs_mend_evidence(tmp_path: Path) -> None:
    def break_it(conversation: dict[str, Any]) -> None:
        conversation["qa"][0]["evidence"] = ["D8:1; D9:1"]
        conversation["qa"][1]["evidence"] = ["D:11:26"]

    from recallbench.errors import InputError

    with pytest.raises(InputError, match=r"mini-0/q0|question 0"):
        miniature("locomo", tmp_path, break_it)

    def known(conversation: dict[str, Any]) -> None:
        conversation["qa"][0]["evidence"] = ["D8:6; D9:17"]
        conversation["qa"][1]["evidence"] = ["D:11:26"]

    questions = miniature("locomo", tmp_path, known)[0].questions
    assert [sorted(question.gold) for question in questions[:2]] == [[7, 8], [10]]


def test_05_every_denominator_by_name_the_protocols_first(result: Path) -> None:
    rules = load()
    assert list(rules.corpora["locomo"].denominators.values()) == [1982, 1986, 1536]
    assert list(rules.corpora["longmemeval"].denominators.values()) == [500, 470, 419]
    stated = json.loads((result / "metrics.json").read_text())["denominators"]
    assert [denominator["headline"] for denominator in stated] == [True, False, False]
    assert len({denominator["count"] for denominator in stated}) == 3


def test_06_a_repeated_session_is_two_segments_and_a_repeated_hit_one(tmp_path: Path) -> None:
    def repeat(item: dict[str, Any]) -> None:
        item["haystack_session_ids"][5] = item["haystack_session_ids"][4]

    segments = miniature("longmemeval", tmp_path, repeat)[0].segments
    assert [segment.id for segment in segments[4:6]] == ["mini_0_abs/4", "mini_0_abs/5"]
    assert int(judge([[3, 3, 1]], [{1}], [9], 2).returned[0]) == 2
    assert float(parse("mrr@50").values(judge([[3, 3, 1]], [{1}], [9], 50))[0]) == 0.5


def test_07_a_store_is_given_opaque_ids() -> None:
    haystack = Haystack("q_abs", (Segment("q_abs", 0, "text", session="answer_1"),), ())
    ids = OpaqueIds()
    ids.admit(haystack)
    (item,) = ids.items(haystack)
    query = ids.query(Question("q_abs", "q_abs", "Who?", frozenset({0}), "kind"), None)
    assert (item.id, item.scope, query.scope) == (1, 1, 1)
    assert "answer" not in repr(item)
    assert "abs" not in repr(item) + repr(query)


def test_08_saturation_and_chance_stand_beside_every_recall(result: Path) -> None:
    judged = judge([[0]] * 2, [{0}, {1}], [5, 20], 50)
    assert parse("recall_any@10").saturated(judged).tolist() == [True, False]
    assert parse("recall_any@10").chance(judged).tolist() == [1.0, 0.5]
    report = (result / "report.md").read_text()
    assert "| measure | value | 95% interval | chance | ceiling | BM25 | design effect | saturated |" in report
    (row,) = [line for line in report.splitlines() if line.startswith("| `recall_any@50` ")]
    assert row.endswith("| 100.0% |")


def test_09_truncation_is_stated(result: Path) -> None:
    seen = json.loads((result / "metrics.json").read_text())["exposure"]
    assert seen["max_tokens"] == 512
    assert seen["segments"] == 103
    assert seen["truncated"] > 0
    assert seen["gold_turns_cut_share"] is not None
    assert "start after the cut" in (result / "report.md").read_text()


def test_10_intervals_cluster_by_conversation(result: Path) -> None:
    judged = judge([[0], [0], [1], [1]], [{0}] * 4, [2] * 4, 1)
    alone, together = (estimate(parse("recall_any@1"), judged, clusters) for clusters in (None, ["a", "a", "b", "b"]))
    assert alone.method.startswith("Wilson")
    assert together.method != alone.method
    assert together.design_effect is not None
    metrics = json.loads((result / "metrics.json").read_text())
    assert metrics["headline"][0]["estimate"]["design_effect"] is not None


def test_11_no_ranking_depends_on_the_wall_clock() -> None:
    from recallbench.stores import store

    folder = Path(inspect.getfile(store)).parent
    ranking = ("postgres/wire.py", "exact.py", "bm25.py", "vectors.py")
    own = [*folder.glob("pgvector/*.py"), *folder.glob("pgvector/sql/*")]
    code = "".join(path.read_text() for path in [*map(folder.joinpath, ranking), *own]).lower()
    assert "recency" in code
    for word in (
        "now(",
        "current_timestamp",
        "clock_timestamp",
        "current_date",
        "localtime",
        "datetime.now",
        "time.time(",
    ):
        assert word not in code, word


def test_12_the_call_that_was_made_is_recorded(tmp_path: Path) -> None:
    done = recallbench(
        "run",
        "canary-locomo",
        "--embedder",
        "hash",
        "--limit",
        "3",
        "--weights",
        "cosine",
        "--folder",
        "r",
        cwd=tmp_path,
    )
    assert done.returncode == 0
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    assert metrics["guc_state"]["recallbench.weight_cosine"] == "1.0"
    assert metrics["store"]["evidence"]["plan"]


def test_13_the_text_of_a_segment_and_of_a_query(tmp_path: Path) -> None:
    first = miniature(
        "locomo", tmp_path, lambda c: c["conversation"]["session_1"][0].update(blip_caption="a loaf", text="I baked.")
    )[0]
    assert first.segments[0].text == "[1:01 pm on 1 May, 2023]\nAda: I baked.\nBen: Tell me more."
    assert first.questions[0].text == "When did Ada talk about bread?"
    (other, *_) = miniature("longmemeval", tmp_path)
    assert other.segments[0].text == "user: I spent all day on bread.\nassistant: How nice."


def test_14_512_tokens_are_set_and_not_left_to_the_model() -> None:
    canonical = [ENCODERS[name] for name in load().embedders]
    assert {spec.max_tokens for spec in canonical} == {512} == {load().max_tokens}
    # Nobody may set another one for them; an encoder of another length is a deviation whatever its length.
    assert {spec.most_tokens for spec in canonical} == {0}
    assert all(spec.max_tokens for spec in ENCODERS.values())


def test_15_recall_at_10_comes_from_the_call_with_k_10(tmp_path: Path) -> None:
    (tmp_path / "fickle.py").write_text(
        "def memory(items, vectors):\n"
        "    ids = [item.id for item in items]\n"
        "    return lambda query, k: [(i, float(i if k == 10 else -i)) for i in (ids[:-11:-1] if k == 10 else ids)]\n"
        "memory.needs_vectors = False\n"
    )
    done = recallbench(
        "run", "canary-locomo", "--store", "callable", "--call", "fickle:memory", "--folder", "r", cwd=tmp_path
    )
    assert done.returncode == 0
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    rows = [json.loads(line) for line in (tmp_path / "r" / "raw_retrievals.jsonl").read_text().splitlines()]
    assert metrics["retrieval"]["calls"] == [10, 50]
    assert metrics["retrieval"]["agreement"]["identical"] == 0
    assert all(len(row["hits_of_k_call"]) == 10 for row in rows)
    by_k = np.mean([any(hit["id"] in row["gold"] for hit in row["hits_of_k_call"]) for row in rows])
    by_depth = np.mean([any(hit["id"] in row["gold"] for hit in row["hits"][:10]) for row in rows])
    assert metrics["headline"][0]["estimate"]["value"] == pytest.approx(by_k)
    assert by_k != pytest.approx(by_depth)


def test_16_each_corpus_is_fetched_from_where_it_lies(tmp_path: Path) -> None:
    nowhere = {"RECALLBENCH_LOCOMO_URL": "http://127.0.0.1:9/locomo10.json", "HF_ENDPOINT": "http://127.0.0.1:9"}
    done = recallbench("fetch", "locomo", cwd=tmp_path, env=nowhere | {"HF_HUB_OFFLINE": "0"})
    assert done.returncode == 3
    assert "127.0.0.1:9/locomo10.json" in done.stderr
    assert load().corpora["longmemeval"].source == "xiaowu0162/longmemeval-cleaned"
    assert load().corpora["locomo"].source == "snap-research/locomo"


def test_17_a_pinned_bin_is_checked_by_its_hash() -> None:
    weights = ENCODERS["bge-m3"].passage
    assert weights.files["pytorch_model.bin"] == "b5e0ce3470abf5ef3831aa1bd5553b486803e83251590ab7ff35a117cf6aad38"
    # An unknown hash is recorded at first use and never invented.
    assert ENCODERS["dragon-plus"].passage.files["config.json"] == ""


def test_18_a_pack_counts_where_it_was_compared_and_nothing_stands_beside_it() -> None:
    rules = load()
    corpus = rules.corpora["locomo"]
    run = Configuration(corpus.sha256, "pgmnemo", "", "dragon-plus", pooled=False, depth=50, limit=None)
    good = PackedVectors(2000, rules.packs.texts_embedded_again, rules.packs.least_cosine, "whoever used it", False)
    assert departures(replace(run, pack=good), corpus, rules) == ()
    for change in ({"compared_by": ""}, {"compared": 31}, {"cosine": 0.99999}, {"beside": True}):
        [departure] = departures(replace(run, pack=replace(good, **change)), corpus, rules)
        assert departure.kind == "vectors"
    assert 18 in applied(rules, corpus, (), "pgmnemo", "dragon-plus", packed=True)
    assert 18 not in applied(rules, corpus, (), "pgmnemo", "dragon-plus", packed=False)


def test_every_clarification_has_a_test_here() -> None:
    tested = {
        int(name[5:7]) for name in vars(sys.modules[__name__]) if name.startswith("test_") and name[5:7].isdigit()
    }
    assert tested == {clarification.number for clarification in load().clarifications}
