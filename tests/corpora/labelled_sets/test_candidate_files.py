"""Sets whose queries have candidates, from a folder: as LMEB's own download lays them out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.corpora.labelled_sets.labelled import Labelled, identify, labelled_entry
from recallbench.errors import InputError
from recallbench.protocol.frozen import load
from recallbench.studies.logs.canary.candidates import read_set

CORPUS = [
    {"id": "a", "title": "", "text": "The ferry leaves at nine."},
    {"id": "b", "title": "Rain", "text": "In Bergen it rains."},
    {"id": "c", "text": "Ann bakes bread."},
]
LISTS = {"s_0": ["c", "b"], "s_1": ["b", "c"], "s_2": ["a", "b"]}
"""The first two are one list in another order."""
QUERIES = {"s_0_q": "Who bakes?", "s_1_q": "Where does it rain?", "s_2_q": "When?"}
QRELS = {"s_0_q": "c", "s_1_q": "b", "s_2_q": "a"}


def write(folder: Path, **changed: str) -> Path:
    texts = {
        "corpus.jsonl": "".join(f"{json.dumps(row)}\n" for row in CORPUS),
        "candidates.jsonl": "".join(
            f"{json.dumps({'scene_id': scene, 'candidate_doc_ids': ids})}\n" for scene, ids in LISTS.items()
        ),
        "queries.jsonl": "".join(f"{json.dumps({'id': id, 'text': text})}\n" for id, text in QUERIES.items()),
        "qrels.tsv": "".join(f"{id}\t{document}\t1\n" for id, document in QRELS.items()),
    }
    for name, text in texts.items():
        place = folder / ("easy" if name in ("queries.jsonl", "qrels.tsv") else "") / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(changed.get(name.partition(".")[0], text))
    return folder


def read(folder: Path) -> Labelled:
    corpus = labelled_entry(str(identify(folder))).read(
        folder, labelled_entry(str(identify(folder))).facts(load()), load()
    )
    assert isinstance(corpus, Labelled)
    return corpus


def test_queries_with_the_same_candidates_share_a_scope(tmp_path: Path) -> None:
    haystacks = list(read(write(tmp_path / "set")).haystacks())
    assert [(h.scope, [s.session for s in h.segments]) for h in haystacks] == [("s_0", ["b", "c"]), ("s_2", ["a", "b"])]
    assert [[(q.id, sorted(q.gold), q.kind) for q in h.questions] for h in haystacks] == [
        [("easy/s_0_q", [1], "easy"), ("easy/s_1_q", [0], "easy")],
        [("easy/s_2_q", [0], "easy")],
    ]
    assert haystacks[0].segments[0].text == "Rain\nIn Bergen it rains."


def test_a_folder_is_evaluated_without_the_hub(tmp_path: Path) -> None:
    write(tmp_path / "set")
    done = recallbench("evaluate", "set", "--store", "bm25", "-q", "--folder", "r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "r" / "metrics.json").read_text())["corpus"]["segments_per_scope"] == [2, 2]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"candidates": '{"scene_id": "s_0", "candidate_doc_ids": ["x", "y"]}\n'}, "none of the candidates of s_0 is"),
        (
            {"candidates": '{"scene_id": "s_0", "candidate_doc_ids": ["c", "x"]}\n'},
            "1 of the candidates of s_0 name no",
        ),
        ({"qrels": "s_0_q\ta\t1\ns_1_q\tb\t1\n"}, "found: a, which is in scope s_2"),
        (
            {
                "candidates": '{"scene_id": "s_0", "candidate_doc_ids": ["b"]}\n'
                '{"scene_id": "s_1", "candidate_doc_ids": ["b"]}\n{"scene_id": "s_2", "candidate_doc_ids": ["b"]}\n'
            },
            "found: c, which no scope has",
        ),
        ({"candidates": '{"scene_id": "s_0", "candidate_doc_ids": []}\n'}, "field candidate_doc_ids"),
        ({"candidates": '{"scene_id": "s_0", "candidate_doc_ids": ["a"]}\n' * 2}, "field scene_id"),
        ({"qrels": "s_9_q\ta\t1\n"}, "easy/qrels.tsv: line 1: judges s_9_q"),
        ({"qrels": "s_0_q\ta\tmuch\n"}, "easy/qrels.tsv: line 1: field score"),
        ({"corpus": '{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}\n'}, "line 2: field id"),
        ({"corpus": ""}, "no documents"),
        ({"queries": '{"id": "s_0_q"}\n'}, "easy/queries.jsonl: line 1: field text"),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, changed: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(write(tmp_path / "set", **changed)).survey()


def test_a_subset_without_queries_is_refused(tmp_path: Path) -> None:
    (write(tmp_path / "set") / "easy" / "queries.jsonl").unlink()
    with pytest.raises(InputError, match=r"queries\.jsonl of easy is missing"):
        identify(tmp_path / "set")


def test_no_canary_is_drawn_from_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no canary can be drawn"):
        read_set(write(tmp_path / "set"), None)
