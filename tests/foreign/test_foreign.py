"""Audits of foreign folders: the definition behind each published number, or why it is unknown."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recallbench.audit.gate import Check
from recallbench.corpora.registry import CORPORA, open_corpus
from recallbench.errors import InputError
from recallbench.foreign.audit import CODES, audit_foreign
from recallbench.protocol.frozen import load

HASH = load().corpora["locomo"].sha256


def row(number: int, gold: list[str], ranked: list[str], first: int | None = None, **more: Any) -> dict[str, Any]:
    return {
        "qi": number,
        "conv_id": "conv-1",
        "category": more.pop("category", 4),
        "question": f"Question {number}?",
        "evidence": gold,
        "retrieved_top10": ranked,
        "first_hit_rank": first,
        "mrr": 1 / first if first else 0.0,
        **more,
    }


ROWS = [
    row(0, ["D1", "D2"], ["D3", "D1", "D4"], 2),
    row(1, ["D5"], ["D5", "D6", "D7"], 1, category=5),
    row(2, ["D8", "D9"], ["D9", "D1", "D8"], 1, category=1),
    row(3, ["D9"], [f"D{n}" for n in range(10, 20)], 20, category=1),
]
"""any@10 .75, frac@10 (.5 + 1 + 1 + 0) / 4 = .625, all@10 .5, mrr@50 (.5 + 1 + 1 + .05) / 4 = .6375."""


def published(tmp_path: Path, rows: list[dict[str, Any]] | None, **figures: Any) -> Path:
    metrics = {"dataset_sha256": HASH, "pgmnemo_version": "0.2.1", "seed": 42, "guc_state": {"a": "b"}, **figures}
    (tmp_path / "metrics.json").write_text(json.dumps(metrics))
    if rows is not None:
        (tmp_path / "raw_retrievals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def checks(folder: Path, corpus_file: Path | None = None) -> dict[str, Check]:
    audit = audit_foreign(folder, [corpus_file] if corpus_file else [], {"RECALLBENCH_DATA_DIR": str(folder / "none")})
    assert audit.verdict.canonical is False
    assert audit.deviations
    assert {check.code for check in audit.checks} <= set(CODES)
    return {f"{check.code} {check.name}": check for check in audit.checks}


def claim(folder: Path, name: str) -> tuple[str, str]:
    check = checks(folder)[f"RB-F-CLAIM published {name}"]
    return check.status, check.observed


@pytest.mark.parametrize(("clustered", "status"), [(True, "fail"), (False, "pass")])
def test_a_corpus_says_itself_whether_independence_may_be_assumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clustered: bool, status: str
) -> None:
    """Three hits of four: .75 +- 1.96 x .5 / 2, cut at 1."""
    monkeypatch.setitem(CORPORA, "locomo", replace(CORPORA["locomo"], clustered=clustered))  # type: ignore[arg-type]
    folder = published(tmp_path, ROWS, overall={"recall@10": {"n": 4, "mean": 0.75, "ci_low": 0.26, "ci_high": 1.0}})
    assert checks(folder)["RB-F-INTERVAL intervals"].status == status


@pytest.mark.parametrize(
    ("name", "value", "status", "observed"),
    [
        ("recall@10", 0.625, "fail", "0.625 is recall_frac@10, bare ids, over all rows with gold (4): 0.62500; the "
         "protocol means recall_any@10 by that name; recall_any@10 there is 0.7500"),
        ("recall@10", 0.5, "fail", "0.5 is recall_all@10"),
        ("recall@10", 0.75, "cannot-tell", "0.75 is recall_any@10, bare ids, over all rows with gold (4): 0.75000; "
         "whether each id is of its question's own scope can't be told"),
        ("mrr", 0.6375, "cannot-tell", "0.6375 is mrr@20 to @50 alike, bare ids, over all rows with gold (4): 0.63750; "
         "it rests on the stated rank of each first hit: the kept ids alone bound it to 0.6250 to 0.6477"),
        ("mrr", 0.625, "fail", "0.625 is mrr@3 to @10 alike, bare ids, over all rows with gold (4): 0.62500; the "
         "protocol means mrr@50 by that name; mrr@50 there is 0.6375"),
        ("recall@10", 0.6123, "fail", "0.6123 follows no definition of that name; the nearest is recall_frac@10, bare "
         "ids, over all rows with gold (4), which is 0.6250, 0.0127 away"),
        ("f1", 0.1, "cannot-tell", "no measure of rankings that this tool knows"),
    ],
)  # fmt: skip
def test_a_published_number_is_traced_to_its_definition(
    tmp_path: Path, name: str, value: float, status: str, observed: str
) -> None:
    folder = published(tmp_path, ROWS, overall={name: {"n": 4, "mean": value}})
    check = claim(folder, name)
    assert (check[0], observed in check[1]) == (status, True), check


def test_figures_over_cut_rankings_are_bounded_beside_the_protocols_own(tmp_path: Path) -> None:
    rows = [row(0, ["D1", "D2"], [f"D{n}" for n in range(10, 20)], 20)]
    status, observed = claim(published(tmp_path, rows, overall={"recall@25": 0.7512}), "recall@25")
    assert status == "fail"
    assert observed == (
        "0.7512 can't be taken again: rows keep too few ids, by which recall_frac@25 lies between 0.5000 and 1.0000, "
        "by stated ranks; recall_all@25 lies between 0.0000 and 1.0000; the protocol means recall_any@25, which is "
        "1.0000, by stated ranks "
        "(metrics.json /overall/recall@25)"
    )


def test_a_slice_is_matched_by_its_count_whatever_its_name(tmp_path: Path) -> None:
    folder = published(tmp_path, ROWS, by_category={"single_hop": {"recall@10": {"n": 2, "mean": 0.5}}})
    assert claim(folder, "recall@10, single_hop") == (
        "cannot-tell",
        "0.5 is recall_any@10, bare ids, over category 1 (2): 0.50000, or recall_frac@10, or recall_all@10; whether "
        "each id is of its question's own scope can't be told [single_hop is category 1, which the dataset calls "
        "multi-hop] (metrics.json /by_category/single_hop/recall@10/mean)",
    )


def test_other_denominators_are_tried(tmp_path: Path) -> None:
    """Without the adversarial one: any (1 + 1 + 0) / 3."""
    status, observed = claim(published(tmp_path, ROWS, overall={"recall@10": 0.6667}), "recall@10")
    assert status == "fail"
    assert observed.startswith("0.6667 is recall_any@10, bare ids, over without adversarial (3): 0.66667")


def test_without_rows_no_claim_can_be_checked(tmp_path: Path) -> None:
    folder = published(tmp_path, None, overall={"recall@10": 0.5}, baseline={"recall@10": 0.4})
    by_name = checks(folder)
    assert by_name["RB-F-ROWS rows readable"].status == "fail"
    assert claim(folder, "recall@10") == (
        "cannot-tell", "0.5: not one ranking was kept (metrics.json /overall/recall@10)"
    )  # fmt: skip
    quoted = by_name["RB-F-CLAIM published recall@10, baseline"]
    assert (quoted.status, quoted.needed) == ("cannot-tell", False)


def test_an_id_that_comes_twice_in_a_conversation_is_a_leak(tmp_path: Path) -> None:
    rows = [*ROWS, row(4, ["D1"], ["D2", "D2", "D1"], 3)]
    by_name = checks(published(tmp_path, rows, overall={"recall@10": 0.8}))
    assert by_name["RB-F-TWICE doubled ids"].status == "fail"
    scope = by_name["RB-F-SCOPE ids in scope"]
    expected = (
        "1 ids in 1 questions cannot be of the question's own scope: "
        "conv-1 qi=4 lists D2: it comes twice, and conv-1 has each session once"
    )
    assert (scope.status, scope.observed) == ("fail", expected)
    status, text = claim(tmp_path, "recall@10")
    assert status == "fail"
    assert "is no higher" in text


def test_stated_first_ranks_are_compared_with_the_lists(tmp_path: Path) -> None:
    rows = [row(0, ["D1"], ["D2", "D1"], 1), row(1, ["D1"], ["D2"], None, mrr=0.5), row(2, ["D1"], ["D2"], 7)]
    check = checks(published(tmp_path, rows))["RB-F-FIRST first hits as kept"]
    assert (check.status, check.observed) == (
        "fail",
        "conv-1 qi=0 states 1, its list has 2; conv-1 qi=1 states mrr 0.5 beside first rank 0; "
        "conv-1 qi=2 states 7, its list has none",
    )


def test_only_first_ranks_that_the_lists_show_agree(tmp_path: Path) -> None:
    """Below a list of ten a hit may follow; a shorter list is complete, so there is none."""
    ten = [f"D{n}" for n in range(10, 20)]
    rows = [row(0, ["D1"], ["D2", "D1"], 2), row(1, ["D1"], ten, 20), row(2, ["D1"], ten), row(3, ["D1"], ["D2"])]
    check = checks(published(tmp_path, rows))["RB-F-FIRST first hits as kept"]
    assert (check.status, check.observed) == (
        "pass",
        "2 agree with their lists; 1 lie deeper than what was kept and are only stated; of 1 it is only stated that no "
        "first hit came, and none is among the kept ids",
    )


def test_ids_are_counted_apart_from_questions(tmp_path: Path) -> None:
    check = checks(published(tmp_path, [row(n, ["D1"], ["D2", "D2"]) for n in range(7)]))["RB-F-SCOPE ids in scope"]
    assert check.observed.startswith("7 ids in 7 questions cannot be of the question's own scope: ")
    assert check.observed.endswith("; and 2 more ids")


def test_scores_that_rise_are_named_and_those_that_fit_no_list_refused(tmp_path: Path) -> None:
    folder = published(tmp_path, [row(0, ["D1"], ["D2", "D1"], 2, scores=[0.1, 0.2])])
    order = checks(folder)["RB-F-ORDER scores ordered"]
    assert (order.status, order.observed) == ("fail", "conv-1 qi=0 rises")
    for scores in ([0.1], [0.1, "a"], [0.1, True], 7):
        folder = published(tmp_path, [row(0, ["D1"], ["D2", "D1"], 2, scores=scores)])
        unreadable = checks(folder)["RB-F-ROWS rows readable"]
        assert (unreadable.status, "field scores" in unreadable.observed) == ("fail", True)


def test_two_ranges_of_one_definition_say_what_differs(tmp_path: Path) -> None:
    """Turns, and turns cut to sessions, have different bounds from the same ids."""
    ranked = ["D3:1", "D3:2", "D1:9", *(f"D{n}:1" for n in range(10, 17))]
    rows = [row(0, ["D1:1", "D2:1"], ranked), row(1, ["D4:1", "D5:1"], ranked)]
    for entry in rows:
        del entry["first_hit_rank"], entry["mrr"]
    observed = claim(published(tmp_path, rows, overall={"recall@25": 0.6012}), "recall@25")[1]
    assert "recall_any@25, bare ids, lies between 0.0000 and 1.0000" in observed
    assert "recall_any@25, bare ids, turns cut to sessions, lies between 0.5000 and 1.0000" in observed


def test_figures_of_rows_are_traced_to_a_definition(tmp_path: Path) -> None:
    def stating(value: float) -> Path:
        first = row(0, ["D1", "D2"], ["D1", "D3"], 1, **{"recall@10": value})
        return published(tmp_path, [first, row(1, ["D1"], ["D1"], 1, **{"recall@10": 1.0})])

    by_value = {value: checks(stating(value))["RB-F-STATED row field recall@10"] for value in (0.5, 1.0, 0.7)}
    assert {value: (check.status, check.observed) for value, check in by_value.items()} == {
        0.5: ("pass", "recall@10 of each row is recall_frac@10"),
        1.0: ("pass", "recall@10 of each row is recall_any@10"),
        0.7: ("fail", "recall@10 follows no definition in all rows: recall_frac@10 in 1 of 2"),
    }


def test_missing_facts_fail(tmp_path: Path) -> None:
    (tmp_path / "raw_retrievals.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    (tmp_path / "metrics.json").write_text("{}")
    by_name = checks(tmp_path)
    assert by_name["RB-F-FACTS facts stated"].observed == "not stated: dataset_sha256, pgmnemo_version, seed, guc_state"
    assert by_name["RB-F-DATASET dataset hash"].status == "cannot-tell"
    published(tmp_path, ROWS, dataset_sha256="ab" * 32, n_evaluated=5, n_corpus_segments=5882)
    by_name = checks(tmp_path)
    assert by_name["RB-F-DATASET dataset hash"].status == "fail"
    assert by_name["RB-F-COUNTS counts"].observed == (
        "n_evaluated says 5, there are 4 rows; n_corpus_segments says 5882, the protocol registers 272"
    )


def test_a_blocked_folder_is_blocked(tmp_path: Path) -> None:
    (tmp_path / "BLOCKED.md").write_text("# why")
    assert audit_foreign(tmp_path, (), {}).verdict.label == "BLOCKED"
    published(tmp_path, ROWS)
    assert audit_foreign(tmp_path, (), {}).verdict.label == "BLOCKED"


def test_rows_that_cannot_be_read_are_a_failed_check(tmp_path: Path) -> None:
    folder = published(tmp_path, ROWS)
    with (folder / "raw_retrievals.jsonl").open("a") as file:
        file.write('{"qi": 4, ')
    audit = audit_foreign(folder, (), {})
    (last,) = (check for check in audit.checks if check.code == "RB-F-ROWS")
    assert (last.status, "raw_retrievals.jsonl, line 5" in last.observed) == ("fail", True)
    assert audit.verdict.label == "UNVERIFIED"


def test_a_folder_of_no_known_layout_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(InputError, match="not in a form that this tool reads"):
        audit_foreign(tmp_path, (), {})


# With the dataset: the bundled canary, asked in pgmnemo's form.


def canary(tmp_path: Path, leak: str = "", gold: dict[int, list[str]] | None = None) -> Path:
    corpus = open_corpus("canary-locomo", rules=load(), environ={})
    rows, number = [], 0
    for haystack in corpus.haystacks():
        names = [segment.session.replace("session_", "D") for segment in haystack.segments]
        for question in haystack.questions:
            golden = (gold or {}).get(number, sorted(names[position] for position in question.gold))
            ranked = [*golden[:1], *(name for name in names if name not in golden)][:10]
            if leak and number == 2:
                ranked[-1] = leak
            if golden:
                record = row(number, golden, ranked, 1, conv_id=haystack.scope, question=question.text)
                rows.append(record)
            number += 1
    many = sum(len(row["evidence"]) > 1 for row in rows)
    frac = math.fsum(1 / len(row["evidence"]) for row in rows) / len(rows)
    assert many
    assert frac < 0.999
    overall = {"recall@10": {"n": len(rows), "mean": 1.0}, "recall_frac@10": {"n": len(rows), "mean": round(frac, 4)}}
    return published(tmp_path, rows, dataset_sha256=corpus.sha256, overall=overall)


def test_with_the_dataset_a_true_number_passes(tmp_path: Path) -> None:
    by_name = checks(canary(tmp_path))
    for passing in (
        "RB-F-CORPUS corpus file",
        "RB-F-QUESTIONS questions complete",
        "RB-F-GOLD gold as derived",
        "RB-F-SCOPE ids in scope",
        "RB-F-CLAIM published recall@10",
        "RB-F-CLAIM published recall_frac@10",
    ):
        assert by_name[passing].status == "pass", by_name[passing]
    assert "as the protocol means it" in by_name["RB-F-CLAIM published recall@10"].observed


def test_a_leak_is_named_with_question_and_id(tmp_path: Path) -> None:
    check = checks(canary(tmp_path, leak="D99"))["RB-F-SCOPE ids in scope"]
    assert check.status == "fail"
    assert "qi=2 lists D99: " in check.observed
    assert "has no such session" in check.observed


def test_edited_gold_is_named(tmp_path: Path) -> None:
    check = checks(canary(tmp_path, gold={0: ["D2", "D3"]}))["RB-F-GOLD gold as derived"]
    assert check.status == "fail"
    assert "qi=0 states {session_2, session_3}, the dataset gives {" in check.observed


def test_a_missing_and_a_doubled_question_are_named(tmp_path: Path) -> None:
    folder = canary(tmp_path)
    path = folder / "raw_retrievals.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[1], *lines[1:]]))
    check = checks(folder)["RB-F-QUESTIONS questions complete"]
    assert check.status == "fail"
    assert "comes 2 times" in check.observed
    assert "q0 is missing" in check.observed


# The other two layouts.


def test_a_trec_folder_is_audited(tmp_path: Path) -> None:
    (tmp_path / "run.trec").write_text("q1 Q0 c/1 1 2 t\nq1 Q0 d/5 2 1 t\nq2 Q0 c/3 1 2 t\n")
    (tmp_path / "qrels.trec").write_text("q1 0 c/1 1\nq1 0 c/2 1\nq2 0 c/4 1\n")
    (tmp_path / "run.eval").write_text("recall_10 all 0.2500\nsuccess_10 all 0.5000\nrecip_rank all 0.5000\n")
    by_name = checks(tmp_path)
    assert by_name["RB-F-CLAIM published recall_10"].observed.startswith(
        "0.25 is recall_frac@10, own scope, over all rows with gold (2): 0.25000"
    )
    assert by_name["RB-F-CLAIM published recall_10"].status == "fail"
    assert by_name["RB-F-CLAIM published success_10"].status == "pass"
    assert by_name["RB-F-CLAIM published recip_rank"].status == "pass"
    scope = by_name["RB-F-SCOPE ids in scope"].observed
    assert scope == "1 ids in 1 questions cannot be of the question's own scope: q1 lists d/5: it is of d"
    assert by_name["RB-F-ORDER scores ordered"].status == "pass"


def test_a_longmemeval_log_is_audited(tmp_path: Path) -> None:
    """Of two gold sessions one was said by no user: the log scores the other alone, and its nDCG is its own."""
    names = ["s1", "answer_1", "noans_2", "s2"]
    log = 1 / math.log2(3)
    session = {"recall_any@1": 0.0, "recall_all@3": 1.0, "ndcg_any@3": 1.0}
    entry = {
        "question_id": "a",
        "answer_session_ids": ["answer_1", "answer_2"],
        "haystack_session_ids": ["s1", "s2", "answer_1", "answer_2"],
        "retrieval_results": {
            "ranked_items": [{"corpus_id": name} for name in names],
            "metrics": {"session": session, "turn": {}},
        },
    }
    (tmp_path / "log.jsonl").write_text(json.dumps(entry) + "\n")
    by_name = checks(tmp_path)
    assert {name: by_name[f"RB-F-STATED row field {name}"].observed for name in session} == {
        "recall_any@1": "recall_any@1 of each row is recall_any@1 or recall_frac@1 or recall_all@1",
        "recall_all@3": "recall_all@3 of each row is recall_any@3 or recall_frac@3 or recall_all@3",
        "ndcg_any@3": "ndcg_any@3 of each row is ndcg@3(longmemeval)",
    }
    assert log < 1, "by the usual discount the second place would not get the whole gain"
    assert by_name["RB-F-SCOPE ids in scope"].status == "pass"


def test_codes_have_a_meaning() -> None:
    assert all(code.startswith("RB-F-") and meaning for code, meaning in CODES.items())
