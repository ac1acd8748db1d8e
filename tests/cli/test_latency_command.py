"""`recallbench latency`: closed and open loops through the real command line."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from commandline import recallbench
from example_server import example_server
from labelled_sets import beir
from recallbench.results.load.reading import read_latency

SHORT = ("--seconds", "0.2", "--limit", "40", "--out", "out", "-q")
FUSE = '[[stage]]\nkind = "fuse"\nmethod = "rrf"\n'
STALLING = """
import time

class Memory:
    def __init__(self):
        self.texts, self.calls = {}, 0

    def add(self, id, text):
        self.texts[id] = set(text.lower().split())

    def search(self, query, k):
        words = set(query.lower().split())
        self.calls += 1
        CALL
        return sorted(self.texts, key=lambda id: -len(words & self.texts[id]))[:k]
"""


def test_a_store_is_asked_up_to_saturation_and_then_at_shares_of_it(tmp_path: Path) -> None:
    done = recallbench("latency", "canary-locomo", "--store", "bm25", *SHORT, cwd=tmp_path)
    assert done.returncode == 0
    (folder,) = (tmp_path / "out").iterdir()
    assert {path.name for path in folder.iterdir()} == {"calls.jsonl", "latency.json", "manifest.json", "report.md"}
    study = read_latency(folder)
    closed, opened = ([row for row in study.rows if row.kind == kind] for kind in ("closed", "open"))
    assert [row.clients for row in closed[:2]] == [1, 2]
    (saturation,) = study.saturation
    assert [row.utilisation for row in opened] == [0.5, 0.7, 0.9]
    assert [row.rate for row in opened] == [
        pytest.approx(share * saturation.rate, abs=1e-3) for share in (0.5, 0.7, 0.9)
    ]
    calls = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    for row in study.rows:
        own = [call for call in calls if call["level"] == row.level]
        assert len(own) == row.arrivals == row.n + row.failed + row.skipped
        waits = sorted(1000 * (call["finished"] - call["intended"]) for call in own if "finished" in call)
        assert row.slowest_ms == pytest.approx(waits[-1], abs=1e-3) or row.skipped
        assert row.distinct <= study.questions == 40
        # The very answers that were timed: each question is answered as in a run, some more often than others.
        assert [quality.measure for quality in row.quality] == ["recall_any@10", "mrr@50"]
        assert row.quality[0].n == row.n
    assert study.cold[0].why_none == "not possible: the store runs inside this process"
    assert study.warm_up[0].calls >= 40
    printed = done.stdout.splitlines()
    assert printed[0] == "Latency of bm25 on canary-locomo"
    assert printed[-1].startswith("The store saturates") or printed[-1].startswith("The store gives")
    assert printed[-3].startswith("report: ")
    assert printed[-2] == ""
    report = (folder / "report.md").read_text()
    assert "void: the p99 of the generator's own lag is over 1 ms, or over 5% of the p50" in report


def test_a_rate_far_from_the_capacity_tells_no_p95_and_the_next_one_can_be_pasted(tmp_path: Path) -> None:
    words = ("latency", "canary-locomo", "--store", "bm25", "--clients", "1", "--rates", "1", *SHORT)
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 0
    (folder,) = (tmp_path / "out").iterdir()
    (capacity,) = read_latency(folder).saturation
    last = done.stdout.splitlines()[-1]
    assert "; no p95 can be told: 1 a second is " in last
    assert " p95 is " not in last
    typed = f"recallbench latency canary-locomo --store bm25 --clients 1 {' '.join(SHORT)} --rates "
    again = last.partition("; next: ")[2].partition(": ")[2]
    assert again.startswith(typed)
    rate, _, quiet = again.removeprefix(typed).partition(" ")
    assert float(rate) == pytest.approx(0.7 * capacity.rate, rel=0.05)
    assert quiet in ("", "--require-quiet")
    assert recallbench(*typed.split()[1:], rate, cwd=tmp_path).returncode == 0
    later = max((tmp_path / "out").iterdir(), key=lambda path: path.stat().st_mtime)
    assert [row.rate for row in read_latency(later).rows if row.rate is not None] == [float(rate)]


@pytest.mark.marked
def test_two_systems_are_asked_in_turns_at_one_rate(tmp_path: Path) -> None:
    (tmp_path / "memory.py").write_text(STALLING.replace("CALL", "pass"))
    second = "python:memory:Memory"
    words = ("latency", "canary-locomo", "--store", "bm25", "--against", second, "--clients", "1", "--at", ".5")
    done = recallbench(*words, *SHORT, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert [(system["side"], system["store"]) for system in document["systems"]] == [("A", "bm25"), ("B", second)]
    assert [(row["side"], row["kind"]) for row in document["rows"]] == [
        ("A", "closed"), ("B", "closed"), ("A", "open"), ("B", "open"),
    ]  # fmt: skip
    first, second = document["rows"][2:]
    assert first["rate"] == second["rate"]
    assert first["arrivals"] == second["arrivals"], "both are asked the same questions at the same moments"
    assert [(found["percentile"], found["pairs"]) for found in document["differences"]] == [
        ("p50", 10),
        ("p95", 10),
    ] * 2
    assert min(found["p"] for found in document["differences"]) >= 2 / 1024


@pytest.mark.marked
def test_a_labelled_set_is_asked_at_rates_of_its_users(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    (tmp_path / "memory.py").write_text(STALLING.replace("CALL", "pass"))
    words = ("latency", "team", "--store", "python:memory:Memory", "--rates", "20,40", "--arrivals", "constant")
    words += ("--clients", "2,4")
    done = recallbench(*words, "--seconds", "0.5", "--out", "out", "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0
    rows = list(csv.DictReader(StringIO(done.stdout)))
    assert [(row["loop"], row["clients"]) for row in rows] == [
        ("closed", "1"),
        ("open, 20/s", "1"),
        ("open, 40/s", "1"),
    ]
    assert [row["n"] for row in rows[1:]] == ["10", "20"]
    assert done.stderr.splitlines()[-1].startswith("The store gives ")
    assert "is asked by one client: its class does not declare `several_callers = True`" in done.stderr


@pytest.mark.marked
def test_a_rate_that_cannot_be_reached_is_a_row(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    (tmp_path / "memory.py").write_text(STALLING.replace("CALL", "time.sleep(0.01)"))
    words = ("latency", "team", "--store", "python:memory:Memory", "--rates", "1000", "--seconds", "0.2", "-q")
    done = recallbench(*words, "--out", "out", cwd=tmp_path)
    assert done.returncode == 0
    (folder,) = (tmp_path / "out").iterdir()
    row = read_latency(folder).rows[-1]
    assert row.saturated
    assert row.skipped > 0
    assert row.p95.at_least
    assert f"saturated; {row.skipped} skipped" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--clients", "1,x"), "--clients 1,x can't be used"),
        (("--rates", "0"), "--rates 0 can't be used"),
        (("--at", "nan"), "--at nan can't be used"),
        (("--seconds", "0"), "0 is not in the range above 0, up to 3,600"),
        (("--seconds", "nan"), "nan is no number"),
        (("--seconds", "inf"), "inf is not in the range above 0, up to 3,600"),
        (("--against-set", "x"), "--set x can't be read"),
        (("--sizes", "500", "--limit", "5"), "500x left out: there are documents for 3x"),
    ],
)
def test_bad_options_are_refused(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    words = ("--store", "bm25", "--seconds", "0.05", *words) if "--sizes" in words else ("--store", "bm25", *words)
    done = recallbench("latency", "canary-locomo", *words, "--out", "out", cwd=tmp_path)
    assert done.returncode == (0 if "--sizes" in words else 2)
    assert told in done.stderr


@pytest.mark.marked
def test_a_machine_that_is_not_quiet_is_refused(tmp_path: Path) -> None:
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        done = recallbench("latency", "canary-locomo", "--store", "bm25", *SHORT, "--require-quiet", cwd=tmp_path)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert (done.returncode, done.stdout) == (3, "")
    assert "recallbench: the machine is not quiet\n" in done.stderr
    assert "found: other processes had " in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.marked
def test_an_interruption_keeps_the_levels_that_were_done(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    # 200 calls warm it up, the next one is all that its closed loop has time for, and four are asked at 20 a second.
    paced = (
        "if self.calls == 201: time.sleep(0.3)\n"
        "        if self.calls == 206: import signal; signal.raise_signal(signal.SIGINT)"
    )
    (tmp_path / "memory.py").write_text(STALLING.replace("CALL", paced))
    words = ("latency", "team", "--store", "python:memory:Memory", "--rates", "20,40", "--arrivals", "constant")
    done = recallbench(*words, "--seconds", "0.2", "--out", "out", "-q", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (130, "")
    (folder,) = (tmp_path / "out").iterdir()
    study = read_latency(folder)
    assert [row.rate for row in study.rows] == [None, 20.0]
    assert (study.finished, study.why_ended) == (False, "interrupted")
    report = f"{folder.relative_to(tmp_path)}/report.md"
    assert done.stderr == f"recallbench: interrupted; the 2 levels so far are whole: {report}\n"


@pytest.mark.marked
def test_a_result_is_asked_again_with_its_own_options(tmp_path: Path) -> None:
    run = recallbench("run", "canary-locomo", "--store", "bm25", "--limit", "30", "--folder", "r", cwd=tmp_path)
    assert run.returncode == 0
    words = ("--clients", "1", "--rates", "50", "--seconds", "0.3", "--out", "out", "-q", "--format", "json")
    done = recallbench("latency", "r", *words, cwd=tmp_path)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    (folder,) = (tmp_path / "out").iterdir()
    audited = recallbench("audit", str(folder), cwd=tmp_path)
    assert audited.returncode == 2
    assert "found: a latency study, as its latency.json says\n" in audited.stderr
    assert (document["corpus"], document["questions"], document["depth"]) == ("canary-locomo", 30, 50)
    assert document["systems"][0]["store"] == "bm25"
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    # Every question is asked as often as any other, or once more.
    headline = metrics["headline"][0]["estimate"]["value"]
    assert document["rows"][0]["quality"][0]["value"] == pytest.approx(headline, abs=0.05)


@pytest.mark.marked
def test_a_time_over_a_transport_has_its_parts_and_its_least(tmp_path: Path) -> None:
    with example_server("--words") as address:
        words = ("latency", "canary-locomo", "--store", address, "--clients", "1,2", "--rates", "20")
        done = recallbench(*words, *SHORT, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    (trips,) = document["round_trips"]
    assert len(trips["ms"]) == 40
    for row in document["rows"]:
        waiting, store, rest = row["parts"]
        assert [part["name"] for part in row["parts"]] == ["waiting", "store call", "adapter and stages"]
        assert (waiting["p50"] == 0) == (row["kind"] == "closed")
        assert 0 < store["p50"] < row["p95"]["value"]
        assert rest["p50"] > 0
        assert row["rows"]["returned"] == row["rows"]["eligible"] <= row["rows"]["asked"] == 50 * row["n"]
    report = next((tmp_path / "out").glob("*/report.md")).read_text()
    assert "## What a time is made of" in report
    assert "The transport: a round trip without work takes" in report


@pytest.mark.marked
def test_two_pipelines_are_asked_in_turns_at_several_sizes(tmp_path: Path) -> None:
    (tmp_path / "lexical.toml").write_text('[[stage]]\nkind = "search"\nmethod = "lexical"\n' * 2 + FUSE)
    words = ("latency", "canary-locomo", "--store", "bm25", "--against-pipeline", "lexical.toml", "--clients", "1")
    done = recallbench(*words, "--at", ".5", "--sizes", "1,2", *SHORT, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert [bool(system["pipeline"]) for system in document["systems"]] == [False, True]
    assert [(row["side"], row["size"], row["kind"]) for row in document["rows"]] == [
        (side, size, kind) for size in (1, 2) for kind in ("closed", "open") for side in "AB"
    ]
    small, large = (row for row in document["rows"] if (row["side"], row["kind"]) == ("A", "closed"))
    assert large["stored"] == 2 * small["stored"]
    assert {(found["size"], found["percentile"]) for found in document["differences"]} == {
        (size, share) for size in (1, 2) for share in ("p50", "p95")
    }


@pytest.mark.marked
def test_answers_that_an_index_cuts_short_are_counted_in_each_level(tmp_path: Path) -> None:
    index = ("--embedder", "hash", "--weights", "cosine", "--set", "index=hnsw", "--set", "ef_search=10")
    words = ("latency", "canary-locomo", "--store", "pgvector", *index, "--clients", "1", "--rates", "20")
    done = recallbench(*words, *(word for word in SHORT if word != "-q"), cwd=tmp_path)
    assert done.returncode == 0
    assert "ef_search 10 caps every answer at 10 of the 50 hits asked for" in done.stderr
    (folder,) = (tmp_path / "out").iterdir()
    rows = read_latency(folder).rows
    assert all(row.rows is not None and row.rows.short_calls == row.n for row in rows)
    assert all(row.rows.returned <= 10 * row.n < row.rows.eligible for row in rows if row.rows)
    assert "rows returned" in done.stdout.splitlines()[1]
    assert "The store answers with fewer rows than asked: at the worst level " in done.stdout
