"""A TREC run with its qrels becomes questions and claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallbench.errors import InputError
from recallbench.foreign.layouts import trec
from recallbench.foreign.layouts.registry import LAYOUTS, find_layout

RUN = "q1 Q0 b 1 9.5 tag\nq1 Q0 a 2 8 tag\nq2 Q0 c 1 3 tag\n"
QRELS = "q1 0 a 1\nq1 0 x 0\nq2 0 d 2\nq3 0 e 1\n"


def folder(tmp_path: Path, **files: str) -> Path:
    for name, text in {"run.txt": RUN, "qrels.txt": QRELS, **files}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_questions_are_those_that_were_judged(tmp_path: Path) -> None:
    imported = trec.read(folder(tmp_path))
    assert [(question.id, question.gold, question.ranked, question.scores) for question in imported.questions] == [
        ("q1", ("a",), ("b", "a"), (9.5, 8.0)),
        ("q2", ("d",), ("c",), (3.0,)),
        ("q3", ("e",), (), ()),
    ]
    assert imported.depth == 0
    assert "1 judged questions are not in the run: their rankings count as empty" in imported.unstated
    assert "the judgements are graded: whatever has a grade above 0 counts as gold" in imported.unstated


def test_the_scope_is_read_from_this_tools_own_ids(tmp_path: Path) -> None:
    files = {"run.txt": "q1 Q0 conv-1/3 1 2 t\n", "qrels.txt": "q1 0 conv-1/3 1\nq1 0 conv-1/4 1\n"}
    assert trec.read(folder(tmp_path, **files)).questions[0].scope == "conv-1"


def test_an_evaluation_holds_the_claims(tmp_path: Path) -> None:
    printed = "num_q\tall\t3\nrecall_10\tall\t0.3333\nrecip_rank\tall\t0.1667\nP@10 0.1000\n"
    claims = trec.read(folder(tmp_path, **{"run.eval": printed})).claims
    assert [(claim.name, claim.value, claim.decimals, claim.where) for claim in claims] == [
        ("recall_10", 0.3333, 4, "run.eval line 2"),
        ("recip_rank", 0.1667, 4, "run.eval line 3"),
        ("P@10", 0.1, 4, "run.eval line 4"),
    ]


def test_lines_of_an_evaluation_in_no_known_form_are_unread(tmp_path: Path) -> None:
    printed = "runid all tag\nnum_q all 3\n\nbest recall of all 0.99\niprec_at_recall_0.00 all 0.5\nrecall_10 q1 1.0\n"
    imported = trec.read(folder(tmp_path, **{"run.eval": printed}))
    assert imported.claims == ()
    assert [(count.name, count.value, count.where) for count in imported.counts] == [("num_q", 3, "run.eval line 2")]
    assert [(line.where, line.shown) for line in imported.unread] == [
        ("run.eval line 4", "best recall of all 0.99"),
        ("run.eval line 5", "iprec_at_recall_0.00 all 0.5"),
        ("run.eval line 6", "recall_10 q1 1.0"),
    ]


@pytest.mark.parametrize(
    ("files", "complaints"),
    [
        ({"run.txt": "q1 Q0 a 1 2\n"}, ["run.txt, line 1", "6 columns", "5"]),
        ({"run.txt": "q1 Q0 a 1 nan t\n"}, ["run.txt, line 1", "finite score"]),
        ({"run.txt": "q1 Q0 a -1 2 t\n"}, ["run.txt, line 1", "a rank, 0 or more"]),
        ({"run.txt": RUN + "q9 Q0 a 1 2 t\n"}, ["questions that nobody judged", "q9"]),
        ({"second.trec": RUN}, ["which run is meant", "run.txt, second.trec"]),
        ({"run.eval": "mrr all much\n"}, ["run.eval, line 1", "a measure and a number"]),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, files: dict[str, str], complaints: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        trec.read(folder(tmp_path, **files))
    assert [part for part in complaints if part not in str(caught.value)] == []


def test_a_folder_of_trec_files_is_recognised(tmp_path: Path) -> None:
    assert find_layout(folder(tmp_path)) is LAYOUTS["trec"]
    (tmp_path / "qrels.txt").unlink()
    assert find_layout(tmp_path) is None
