"""`recallbench sample`: from a log to labels to estimates of the log."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from recall_logs import drawn, label, log_of, scored, worded, write

from commandline import environment, recallbench
from stages import sampled


def test_a_sample_is_stratified_distinct_and_ready_to_label(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", log_of())
    found = drawn(tmp_path, "log.jsonl", "--n", "20")
    assert Counter(record["kind"] for record in found) == {"fact": 12, "date": 6, "place": 2}
    assert len({record["query"] for record in found}) == 20
    assert len({record["query_id"] for record in found}) == 20
    for record in found:
        assert record["relevant"] is None
        of = [one for one in log_of() if one["query"] == record["query"]]
        assert (record["logged"], record["at"], record["ranked"]) == (len(of), of[-1]["at"], of[-1]["ids"])


@pytest.mark.marked
def test_the_same_seed_draws_the_same_whatever_the_order(tmp_path: Path) -> None:
    records = log_of()
    write(tmp_path / "log.jsonl", records)
    random.Random(1).shuffle(records)
    write(tmp_path / "a.jsonl", records[:111])
    write(tmp_path / "b.jsonl", records[111:])
    first = drawn(tmp_path, "log.jsonl", "--n", "30")
    assert drawn(tmp_path, "b.jsonl", "a.jsonl", "--n", "30") == first
    other = drawn(tmp_path, "log.jsonl", "--n", "30", "--seed", "43")
    assert {one["query"] for one in other} != {one["query"] for one in first}
    # A larger sample keeps what a smaller one drew.
    assert {one["query"] for one in first} <= {one["query"] for one in drawn(tmp_path, "log.jsonl", "--n", "60")}


def test_a_rare_kind_gets_its_one_and_few_queries_are_all_taken(tmp_path: Path) -> None:
    rare = {"query": "one of its kind", "ids": ["d1"], "kind": "rare"}
    write(tmp_path / "log.jsonl", [*log_of(), rare])
    assert sum(one["kind"] == "rare" for one in drawn(tmp_path, "log.jsonl", "--n", "10")) == 1
    assert len(drawn(tmp_path, "log.jsonl")) == len({one["query"] for one in log_of()}) + 1 == 50
    done = recallbench("sample", "log.jsonl", "--n", "3", cwd=tmp_path)
    assert (done.returncode, "3 can't hold one of each kind" in done.stderr) == (2, True)


@pytest.mark.marked
def test_repeated_ids_are_no_ranking(tmp_path: Path) -> None:
    good = {"query": "who ships", "ids": ["a", "b"]}
    for ids in (["a", "b", "a"], ["1", 1]):
        write(tmp_path / "log.jsonl", [good, {"query": "what", "ids": ids}])
        done = recallbench("sample", "log.jsonl", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert "log.jsonl, line 2: not a recall" in done.stderr
        assert f"ids: '{ids[0]}' is there twice" in done.stderr
        done = recallbench("sample", "log.jsonl", "--skip-bad", cwd=tmp_path)
        assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
        assert "recallbench: 1 bad line was passed over\n" in done.stderr
        assert "recallbench: 1 query by kind: (none) 1 of 1 recall\n" in done.stderr


def test_any_field_tells_recalls_apart(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", [one | {"route": i % 2, "tenant": "t"} for i, one in enumerate(log_of())])
    found = drawn(tmp_path, "log.jsonl", "--n", "10", "--by", "route")
    assert {record["tenant"] for record in found} == {"t"}
    done = recallbench("sample", "log.jsonl", "--by", "rout", cwd=tmp_path)
    assert (done.returncode, "no recall has a field rout" in done.stderr) == (2, True)


def test_labels_of_every_query_give_the_logs_own_figures(tmp_path: Path) -> None:
    records = log_of()
    write(tmp_path / "log.jsonl", records)
    label(drawn(tmp_path, "log.jsonl"), tmp_path / "gold.jsonl")
    found = scored(tmp_path, "log.jsonl", "--labels", "gold.jsonl", "--k", "1")

    def first(record: dict) -> float:
        return float(record["ids"][0] == f"d{record['query'].split()[-1]}")

    overall = {one["measure"]: one for one in found["overall"]["measures"]}
    truth = sum(map(first, records)) / len(records)
    assert overall["recall_any@1"]["value"] == pytest.approx(truth)
    assert overall["recall_any@1"]["low"] == overall["recall_any@1"]["high"] == pytest.approx(truth)
    assert found["overall"]["latency"] == {
        "recalls": 300, "p50_ms": 49.0, "p95_ms": 94.0, "percentiles": "nearest-rank",
    }  # fmt: skip
    for one in found["strata"]:
        of = [record for record in records if record["kind"] == one["name"]]
        assert one["measures"][0]["value"] == pytest.approx(sum(map(first, of)) / len(of))
        assert (one["recalls"], one["labelled_recalls"]) == (len(of), len(of))
        times = sorted(record["ms"] for record in of)
        assert one["latency"]["p50_ms"] == times[-(-len(times) // 2) - 1]


def test_definitions_of_other_schools(tmp_path: Path) -> None:
    """Three recalls: the one hit that came back, one of two, none of one."""
    ranked = (["a"], ["x", "a"], ["x"])
    records = [{"query": f"q{i}", "ids": ids, "ms": 10.0 * (i + 1)} for i, ids in enumerate(ranked)]
    write(tmp_path / "log.jsonl", [*records, {"query": "q0", "ids": ["a"], "ms": 40.0}])
    write(tmp_path / "gold.jsonl", [{"query": f"q{i}", "relevant": ["a"]} for i in range(3)])
    words = ("log.jsonl", "--labels", "gold.jsonl", "--precision", "retrieved", "--percentiles", "index")
    found = scored(tmp_path, *words)["overall"]
    assert {one["measure"]: one["value"] for one in found["measures"]}["precision@10(retrieved)"] == pytest.approx(
        (1 + 1 / 2 + 0 + 1) / 4
    )
    assert found["latency"] == {"recalls": 4, "p50_ms": 30.0, "p95_ms": 40.0, "percentiles": "index"}
    header = recallbench("sample", *words, cwd=tmp_path).stdout.splitlines()[0]
    assert "precision@10(retrieved)" in header
    assert header.endswith("p50 (index)  p95 (index)")
    usual = scored(tmp_path, *words[:3])["overall"]["latency"]
    assert usual == {"recalls": 4, "p50_ms": 20.0, "p95_ms": 40.0, "percentiles": "nearest-rank"}
    for given in (words[3:5], words[5:]):
        done = recallbench("sample", "log.jsonl", *given, cwd=tmp_path)
        assert (done.returncode, f"{given[0]} is for scoring" in done.stderr) == (2, True)


def test_a_sample_estimates_the_whole_log(tmp_path: Path) -> None:
    records = log_of()
    write(tmp_path / "log.jsonl", records)
    label(drawn(tmp_path, "log.jsonl", "--n", "30"), tmp_path / "gold.jsonl")
    found = scored(tmp_path, "log.jsonl", "--labels", "gold.jsonl", "--k", "1")
    (one, *_) = found["overall"]["measures"]
    strata = {s["name"]: s for s in found["strata"]}
    # Each kind weighs as many recalls as it has, however many of it are labelled.
    weighed = sum(s["recalls"] * s["measures"][0]["value"] for s in strata.values()) / 300
    assert one["value"] == pytest.approx(weighed)
    truth = sum(r["ids"][0] == f"d{r['query'].split()[-1]}" for r in records) / 300
    assert one["low"] <= truth <= one["high"]
    assert found["overall"]["labelled_queries"] == 30
    told = recallbench("sample", "log.jsonl", "--labels", "gold.jsonl", cwd=tmp_path).stdout
    assert "recall_any@10 1.0000, no interval (n/a (all queries equal))" in told


def test_unlabelled_absent_and_abstention_are_told(tmp_path: Path) -> None:
    records = [*log_of(), *({"query": "who is nobody", "ids": ["x1"][:i], "kind": "fact"} for i in (0, 1))]
    write(tmp_path / "log.jsonl", records)
    sample = drawn(tmp_path, "log.jsonl")
    gold = [json.loads(line) for line in label(sample, tmp_path / "gold.jsonl").read_text().splitlines()]
    for one in gold:
        if one["query"] == "who is nobody":
            one |= {"relevant": [], "kind": "abstention"}
        if one["kind"] == "place":
            one["relevant"] = None
    gold.append({"query": "never asked", "relevant": ["d1"]})
    write(tmp_path / "gold.jsonl", gold)
    found = scored(tmp_path, "log.jsonl", "--labels", "gold.jsonl")
    assert (found["unlabelled"], found["not_logged"]) == (4, 1)
    assert (found["overall"]["nothing_to_find"], found["overall"]["found_anyway"]) == (2, 1)
    told = recallbench("sample", "log.jsonl", "--labels", "gold.jsonl", cwd=tmp_path).stdout
    assert "nothing to find: 2 labelled recalls, 50.0% of which returned something" in told
    assert "no label for kind place: 9.9% of the recalls are not in the estimate" in told
    assert "4 sampled queries have no label yet" in told


def test_labels_made_by_hand_go_by_the_query(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", [{"query": "where  is it", "ids": ["a", "b"]}, {"query": "who", "ids": [7]}])
    write(
        tmp_path / "gold.jsonl",
        [{"query": "where is it", "relevant": {"b": 2, "a": 0}}, {"query": "who", "relevant": [7]}],
    )
    found = scored(tmp_path, "log.jsonl", "--labels", "gold.jsonl", "--k", "2")
    values = {one["measure"]: one["value"] for one in found["overall"]["measures"]}
    assert values["mrr@2"] == 0.75
    assert values["recall_any@2"] == 1.0
    assert found["strata"][0]["name"] == "(none)"


BAD = {
    '{"query": "q"}': "ids: Field required",
    '{"query": " ", "ids": []}': "query is blank",
    '{"query": 5, "ids": []}': "query: Input should be a valid string",
    '{"query": "q", "ids": "d1"}': "ids: Input should be a valid list",
    '{"query": "q", "ids": ["d1", null]}': "ids.1",
    '{"query": "q", "ids": ["d1"], "scores": [1, 2]}': "2 scores for 1 ids",
    '{"query": "q", "ids": ["d1"], "scores": [NaN]}': "NaN, which is no JSON number",
    '{"query": "q", "ids": [], "ms": -1}': "ms: Input should be greater than or equal to 0",
    '{"query": "q", "ids": [], "kind": ["a"]}': 'kind: ["a"] is no word',
    "not json": "can't be read",
    "": "a blank line",
    "[1]": "list",
}  # fmt: skip


@pytest.mark.parametrize("line", sampled(BAD))
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, line: str) -> None:
    good = json.dumps({"query": "q", "ids": ["d1"]})
    (tmp_path / "log.jsonl").write_text(f"{good}\n{line}\n{good}\n")
    done = recallbench("sample", "log.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "log.jsonl, line 2: " in done.stderr
    assert BAD[line] in done.stderr


def test_bad_lines_are_passed_over_and_counted_when_asked(tmp_path: Path) -> None:
    good = json.dumps({"query": "q", "ids": ["d1"]}).encode()
    (tmp_path / "log.jsonl").write_bytes(b"\n".join([good, b"\xff\xfe", *(line.encode() for line in BAD), good]))
    done = recallbench("sample", "log.jsonl", "--skip-bad", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["logged"] == 2
    assert f"{len(BAD) + 1} bad lines were passed over" in done.stderr
    assert "log.jsonl, line 2: can't be read: byte 0xff at 0" in done.stderr
    (tmp_path / "gold.jsonl").write_text('{"query": "q", "relevant": ["d1"]}\n')
    words = ("log.jsonl", "--labels", "gold.jsonl", "--skip-bad")
    assert scored(tmp_path, *words)["bad_lines"] == len(BAD) + 1
    (tmp_path / "log.jsonl").write_text("x\n")
    done = recallbench("sample", "log.jsonl", "--skip-bad", cwd=tmp_path)
    assert (done.returncode, "no recall" in done.stderr) == (2, True)


LABELS = {
    '{"query": "q", "relevant": []}': "relevant ids, or kind abstention",
    '{"query": "q", "relevant": ["a"], "kind": "abstention"}': "no relevant id",
    '{"query": "q", "relevant": "a"}': "a list of ids",
    '{"query": "q", "relevant": {"a": -1}}': "grades of 0 or more",
    '{"relevant": ["a"]}': "query, a text",
    '{"query": "q", "relevant": ["a"]}\n{"query": "q ", "relevant": ["a"]}': "each query once, it is on line 1 too",
    '{"query": "q", "relevant": null}': "nothing is labelled",
    '{"query": "q", "relevent": ["a"]}': "the unknown field 'relevent' may mean 'relevant'",
    '{"query": "other", "relevant": ["a"]}': "the log has none of the labelled queries",
}  # fmt: skip


@pytest.mark.parametrize("text", sampled(LABELS))
def test_labels_that_make_no_sense(tmp_path: Path, text: str) -> None:
    write(tmp_path / "log.jsonl", [{"query": "q", "ids": ["a"]}])
    (tmp_path / "gold.jsonl").write_text(text + "\n")
    done = recallbench("sample", "log.jsonl", "--labels", "gold.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert LABELS[text] in done.stderr


def test_matching_is_for_scoring(tmp_path: Path) -> None:
    worded(tmp_path)
    for words in (("--match", "tokens"), ("--match-chunk", "60")):
        done = recallbench("sample", "log.jsonl", *words, cwd=tmp_path)
        assert (done.returncode, f"{words[0]} is for scoring" in done.stderr) == (2, True)
    done = recallbench("sample", "log.jsonl", "--labels", "gold.jsonl", "--match-threshold", "0.5", cwd=tmp_path)
    assert (done.returncode, "--match-threshold is for token F1" in done.stderr) == (2, True)


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", log_of(10))
    assert recallbench("sample", "log.jsonl", "--out", "to/sample.jsonl", cwd=tmp_path).returncode == 0
    before = (tmp_path / "to/sample.jsonl").read_text()
    done = recallbench("sample", "log.jsonl", "--out", "to/sample.jsonl", cwd=tmp_path)
    assert (done.returncode, "labels are never overwritten" in done.stderr) == (2, True)
    assert (tmp_path / "to/sample.jsonl").read_text() == before
    done = recallbench("sample", "log.jsonl", "--labels", "to/sample.jsonl", "--out", "x", cwd=tmp_path)
    assert done.returncode == 2


@pytest.mark.marked
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    """Ten times the distinct queries, as much memory."""
    peaks = []
    for size in (20_000, 200_000):
        with (tmp_path / "log.jsonl").open("w") as file:
            for i in range(size):
                file.write(
                    f'{{"query": "question number {i}", "ids": ["d{i}"], "kind": "k{i % 5}", "ms": {i % 977}}}\n'
                )
        code = (
            "import resource, sys\nfrom recallbench.cli.main import _run\n"
            "assert _run(['sample', 'log.jsonl', '--out', sys.argv[1]]) == 0\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        command = [sys.executable, "-c", code, f"{size}.jsonl"]
        env = environment(tmp_path)
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 4000  # kB


def test_no_way_of_matching_is_told_of_that_a_log_has_not(tmp_path: Path) -> None:
    worded(tmp_path)
    refused = ("log.jsonl", "--labels", "gold.jsonl", "--match", "exact", "--match-threshold", "0.5")
    for words in (("--help",), refused):
        done = recallbench("sample", *words, cwd=tmp_path)
        assert not {"bm25", "hybrid"} & set((done.stdout + done.stderr).lower().replace(":", " ").split())
    assert "expected: --match tokens\n" in done.stderr
