"""`recallbench sample`: from a log to labels to estimates of the log."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from recall_logs import drawn, label, log_of, scored, write, write_text_log

from commandline import environment, recallbench
from stages import sampled


def test_a_sample_is_stratified_distinct_and_ready_to_label(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", log_of())
    sample = drawn(tmp_path, "log.jsonl", "--n", "20")
    assert Counter(record["kind"] for record in sample) == {"fact": 12, "date": 6, "place": 2}
    assert len({record["query"] for record in sample}) == 20
    assert len({record["query_id"] for record in sample}) == 20
    for record in sample:
        assert record["relevant"] is None
        of = [recall for recall in log_of() if recall["query"] == record["query"]]
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
    assert {record["query"] for record in other} != {record["query"] for record in first}
    # A larger sample keeps what a smaller one drew.
    assert {record["query"] for record in first} <= {
        record["query"] for record in drawn(tmp_path, "log.jsonl", "--n", "60")
    }


def test_a_rare_kind_is_sampled_and_a_small_log_is_sampled_whole(tmp_path: Path) -> None:
    rare = {"query": "one of its kind", "ids": ["d1"], "kind": "rare"}
    write(tmp_path / "log.jsonl", [*log_of(), rare])
    assert sum(record["kind"] == "rare" for record in drawn(tmp_path, "log.jsonl", "--n", "10")) == 1
    assert len(drawn(tmp_path, "log.jsonl")) == len({record["query"] for record in log_of()}) + 1 == 50
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


def test_any_field_can_define_the_strata(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", [recall | {"route": i % 2, "tenant": "t"} for i, recall in enumerate(log_of())])
    sample = drawn(tmp_path, "log.jsonl", "--n", "10", "--by", "route")
    assert {record["tenant"] for record in sample} == {"t"}
    done = recallbench("sample", "log.jsonl", "--by", "rout", cwd=tmp_path)
    assert (done.returncode, "no recall has a field rout" in done.stderr) == (2, True)


def test_labels_of_every_query_give_the_logs_own_figures(tmp_path: Path) -> None:
    records = log_of()
    write(tmp_path / "log.jsonl", records)
    label(drawn(tmp_path, "log.jsonl"), tmp_path / "gold.jsonl")
    scores = scored(tmp_path, "log.jsonl", "--labels", "gold.jsonl", "--k", "1")

    def first(record: dict) -> float:
        return float(record["ids"][0] == f"d{record['query'].split()[-1]}")

    overall = {measure["measure"]: measure for measure in scores["overall"]["measures"]}
    truth = sum(map(first, records)) / len(records)
    assert overall["recall_any@1"]["value"] == pytest.approx(truth)
    assert overall["recall_any@1"]["low"] == overall["recall_any@1"]["high"] == pytest.approx(truth)
    assert scores["overall"]["latency"] == {
        "recalls": 300, "p50_ms": 49.0, "p95_ms": 94.0, "percentiles": "nearest-rank",
    }  # fmt: skip
    for stratum in scores["strata"]:
        of = [record for record in records if record["kind"] == stratum["name"]]
        assert stratum["measures"][0]["value"] == pytest.approx(sum(map(first, of)) / len(of))
        assert (stratum["recalls"], stratum["labelled_recalls"]) == (len(of), len(of))
        times = sorted(record["ms"] for record in of)
        assert stratum["latency"]["p50_ms"] == times[-(-len(times) // 2) - 1]


def test_other_definitions_of_precision_and_percentiles(tmp_path: Path) -> None:
    """Three recalls: the one hit that came back, one of two, none of one."""
    ranked = (["a"], ["x", "a"], ["x"])
    records = [{"query": f"q{i}", "ids": ids, "ms": 10.0 * (i + 1)} for i, ids in enumerate(ranked)]
    write(tmp_path / "log.jsonl", [*records, {"query": "q0", "ids": ["a"], "ms": 40.0}])
    write(tmp_path / "gold.jsonl", [{"query": f"q{i}", "relevant": ["a"]} for i in range(3)])
    words = ("log.jsonl", "--labels", "gold.jsonl", "--precision", "retrieved", "--percentiles", "index")
    overall = scored(tmp_path, *words)["overall"]
    assert {measure["measure"]: measure["value"] for measure in overall["measures"]}[
        "precision@10(retrieved)"
    ] == pytest.approx((1 + 1 / 2 + 0 + 1) / 4)
    assert overall["latency"] == {"recalls": 4, "p50_ms": 30.0, "p95_ms": 40.0, "percentiles": "index"}
    header = recallbench("sample", *words, cwd=tmp_path).stdout.splitlines()[0]
    assert "precision@10(retrieved)" in header
    assert header.endswith("p50 (index)  p95 (index)")
    usual = scored(tmp_path, *words[:3])["overall"]["latency"]
    assert usual == {"recalls": 4, "p50_ms": 20.0, "p95_ms": 40.0, "percentiles": "nearest-rank"}
    for option in (words[3:5], words[5:]):
        done = recallbench("sample", "log.jsonl", *option, cwd=tmp_path)
        assert (done.returncode, f"{option[0]} is for scoring" in done.stderr) == (2, True)


def test_a_sample_estimates_the_whole_log(tmp_path: Path) -> None:
    records = log_of()
    write(tmp_path / "log.jsonl", records)
    label(drawn(tmp_path, "log.jsonl", "--n", "30"), tmp_path / "gold.jsonl")
    scores = scored(tmp_path, "log.jsonl", "--labels", "gold.jsonl", "--k", "1")
    (estimate, *_) = scores["overall"]["measures"]
    strata = {stratum["name"]: stratum for stratum in scores["strata"]}
    # Each kind weighs as many recalls as it has, however many of it are labelled.
    weighed = sum(stratum["recalls"] * stratum["measures"][0]["value"] for stratum in strata.values()) / 300
    assert estimate["value"] == pytest.approx(weighed)
    truth = sum(record["ids"][0] == f"d{record['query'].split()[-1]}" for record in records) / 300
    assert estimate["low"] <= truth <= estimate["high"]
    assert scores["overall"]["labelled_queries"] == 30
    printed = recallbench("sample", "log.jsonl", "--labels", "gold.jsonl", cwd=tmp_path).stdout
    assert "recall_any@10 1.0000, no interval (n/a (all queries equal))" in printed


def test_unlabelled_absent_and_abstention_are_counted(tmp_path: Path) -> None:
    records = [*log_of(), *({"query": "who is nobody", "ids": ["x1"][:i], "kind": "fact"} for i in (0, 1))]
    write(tmp_path / "log.jsonl", records)
    sample = drawn(tmp_path, "log.jsonl")
    gold = [json.loads(line) for line in label(sample, tmp_path / "gold.jsonl").read_text().splitlines()]
    for record in gold:
        if record["query"] == "who is nobody":
            record |= {"relevant": [], "kind": "abstention"}
        if record["kind"] == "place":
            record["relevant"] = None
    gold.append({"query": "never asked", "relevant": ["d1"]})
    write(tmp_path / "gold.jsonl", gold)
    scores = scored(tmp_path, "log.jsonl", "--labels", "gold.jsonl")
    assert (scores["unlabelled"], scores["not_logged"]) == (4, 1)
    assert (scores["overall"]["nothing_to_find"], scores["overall"]["found_anyway"]) == (2, 1)
    printed = recallbench("sample", "log.jsonl", "--labels", "gold.jsonl", cwd=tmp_path).stdout
    assert "nothing to find: 2 judged recalls, 50.0% of which returned something" in printed
    assert "no label for kind place: 9.9% of the recalls are not in the estimate" in printed
    assert "4 sampled queries have no label yet" in printed


def test_labels_by_hand_are_joined_by_the_query(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", [{"query": "where  is it", "ids": ["a", "b"]}, {"query": "who", "ids": [7]}])
    write(
        tmp_path / "gold.jsonl",
        [{"query": "where is it", "relevant": {"b": 2, "a": 0}}, {"query": "who", "relevant": [7]}],
    )
    scores = scored(tmp_path, "log.jsonl", "--labels", "gold.jsonl", "--k", "2")
    values = {measure["measure"]: measure["value"] for measure in scores["overall"]["measures"]}
    assert values["mrr@2"] == 0.75
    assert values["recall_any@2"] == 1.0
    assert scores["strata"][0]["name"] == "(none)"


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


def test_skip_bad_passes_over_bad_lines_and_counts_them(tmp_path: Path) -> None:
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
    '{"query": "q", "relevant": null}': "nothing says what is relevant",
    '{"query": "q", "relevent": ["a"]}': "the unknown field 'relevent' may mean 'relevant'",
    '{"query": "other", "relevant": ["a"]}': "the log has none of the judged queries",
}  # fmt: skip


@pytest.mark.parametrize("text", sampled(LABELS))
def test_invalid_labels_are_refused(tmp_path: Path, text: str) -> None:
    write(tmp_path / "log.jsonl", [{"query": "q", "ids": ["a"]}])
    (tmp_path / "gold.jsonl").write_text(text + "\n")
    done = recallbench("sample", "log.jsonl", "--labels", "gold.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert LABELS[text] in done.stderr


def test_matching_is_for_scoring(tmp_path: Path) -> None:
    write_text_log(tmp_path)
    for words in (("--match", "tokens"), ("--match-chunk", "60")):
        done = recallbench("sample", "log.jsonl", *words, cwd=tmp_path)
        assert (done.returncode, f"{words[0]} is for scoring" in done.stderr) == (2, True)
    done = recallbench("sample", "log.jsonl", "--labels", "gold.jsonl", "--match-threshold", "0.5", cwd=tmp_path)
    assert (done.returncode, "--match-threshold is for token F1" in done.stderr) == (2, True)


def test_a_sample_never_overwrites_a_file(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", log_of(10))
    (tmp_path / "to").mkdir()
    assert recallbench("sample", "log.jsonl", "--save", "to/sample.jsonl", cwd=tmp_path).returncode == 0
    before = (tmp_path / "to/sample.jsonl").read_text()
    done = recallbench("sample", "log.jsonl", "--save", "to/sample.jsonl", cwd=tmp_path)
    assert (done.returncode, "labels are never overwritten" in done.stderr) == (2, True)
    assert (tmp_path / "to/sample.jsonl").read_text() == before
    done = recallbench("sample", "log.jsonl", "--labels", "to/sample.jsonl", "--save", "x", cwd=tmp_path)
    assert done.returncode == 2


@pytest.mark.marked
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    """Ten times the distinct queries need no more memory."""
    peaks = []
    for size in (20_000, 200_000):
        with (tmp_path / "log.jsonl").open("w") as file:
            for i in range(size):
                file.write(
                    f'{{"query": "question number {i}", "ids": ["d{i}"], "kind": "k{i % 5}", "ms": {i % 977}}}\n'
                )
        code = (
            "import resource, sys\nfrom recallbench.cli.main import _run\n"
            "assert _run(['sample', 'log.jsonl', '--save', sys.argv[1]]) == 0\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        command = [sys.executable, "-c", code, f"{size}.jsonl"]
        env = environment(tmp_path)
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout.split()[-1]))
    assert peaks[1] - peaks[0] < 4000  # kB


def test_help_and_errors_name_only_the_methods_of_a_log(tmp_path: Path) -> None:
    write_text_log(tmp_path)
    refused = ("log.jsonl", "--labels", "gold.jsonl", "--match", "exact", "--match-threshold", "0.5")
    for words in (("--help",), refused):
        done = recallbench("sample", *words, cwd=tmp_path)
        assert not {"bm25", "hybrid"} & set((done.stdout + done.stderr).lower().replace(":", " ").split())
    assert "expected: --match tokens\n" in done.stderr
