"""`recallbench canary`: drawn like production asks, checked, drawn anew, and told of wherever it is measured."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from canary_sets import aged, drawn_workspace, evaluate, record_of, refused
from commandline import recallbench
from labelled_sets import EXPECTING, SAYING, jsonl, short


@pytest.fixture(scope="session")
def _drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn_workspace(tmp_path_factory.mktemp("canary"))


@pytest.fixture
def workspace(_drawn: Path, tmp_path: Path) -> Path:
    shutil.copytree(_drawn, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_the_mix_is_that_of_the_log_and_hard_questions_are_there(workspace: Path) -> None:
    record = record_of(workspace / "few")
    counts = {(s["kind"], s["tenant"], s["hard"]): s["drawn"] for s in record["strata"]}
    # 50 facts and 40 dates of acme, 10 facts of bolt; BM25 has the gold of a fifth of each behind four others.
    assert counts == {
        ("fact", "acme", True): 10,
        ("fact", "acme", False): 40,
        ("date", "acme", True): 8,
        ("date", "acme", False): 32,
        ("fact", "bolt", True): 2,
        ("fact", "bolt", False): 8,
    }
    queries = [json.loads(line) for line in (workspace / "few/queries.jsonl").read_text().splitlines()]
    assert Counter((q["kind"], q["tenant"]) for q in queries) == {
        ("fact", "acme"): 50,
        ("date", "acme"): 40,
        ("fact", "bolt"): 10,
    }
    hard = {q["_id"] for q in queries if int(q["_id"].split("-")[2]) % 5 == 0}
    assert set(record["hard"]["questions"]) == hard
    why = set(record["hard"]["questions"].values())
    assert "missed by base" in why
    assert all(reason == "missed by base" or reason.startswith("first find at ") for reason in why)
    assert (record["bias"], record["hard"]["drawn"], record["hard"]["production"]) == (0.0, 0.2, 0.2)
    assert (record["questions"], record["uncovered"], record["seed"]) == (100, 0.0, 42)
    assert record["notes"] == ["not drawn, since the log never asks for it: date of bolt"]


def test_it_is_a_labelled_set_with_whole_haystacks_that_measures_as_one(workspace: Path) -> None:
    few, team = workspace / "few", workspace / "team"
    # Both tenants are asked, so all their documents are here, with fields of the team's own.
    assert (few / "corpus.jsonl").read_bytes() == (team / "corpus.jsonl").read_bytes()
    judged = (few / "qrels/test.tsv").read_text().splitlines()
    assert (judged[0], len(judged)) == ("query-id\tcorpus-id\tscore", 101)
    assert '"owner": "team"' in (few / "queries.jsonl").read_text().splitlines()[0]
    metrics = json.loads((workspace / "measured/metrics.json").read_text())
    recall = next(e for e in metrics["estimates"]["overall"] if e["measure"] == "recall_any@10")
    # A fifth of the mix is behind others; the first of them are within ten.
    assert (recall["n"], recall["value"]) == (100, pytest.approx(0.8, abs=0.05))
    assert metrics["canary"]["stale_on"] == record_of(few)["stale_after"]["on"]
    report = (workspace / "measured/report.md").read_text()
    assert "## Canary" in report
    assert "Its plain mean is one of production's mix" in report
    assert "rounding can move it by no more than 0.0000." in report
    page = (workspace / "measured/report.html").read_text()
    assert "Its plain mean is one of production&#x27;s mix" in page or "Its plain mean is one of production's" in page
    audited = recallbench("audit", "measured", "--corpus-file", "few", "--json", cwd=workspace)
    checks = json.loads(audited.stdout)["audits"][0]["checks"]
    assert not [check for check in checks if check["status"] == "fail" and check["code"] != "RB-COMMITTED"]
    compared = recallbench("compare", "measured", "measured", cwd=workspace)
    assert compared.returncode == 0


def test_the_same_seed_gives_the_same_bytes(workspace: Path) -> None:
    words = ("--n", "100", "--log", "log.jsonl", "--result", "base", "--stale-after", "30d", "--folder")
    for out in ("a", "b"):
        assert recallbench("canary", "team", *words, out, cwd=workspace).returncode == 0
    files = [path.relative_to(workspace / "a") for path in sorted((workspace / "a").rglob("*")) if path.is_file()]
    assert list(map(str, files)) == ["canary.json", "corpus.jsonl", "qrels/test.tsv", "queries.jsonl"]
    assert all((workspace / "a" / name).read_bytes() == (workspace / "b" / name).read_bytes() for name in files)
    assert recallbench("canary", "team", *words, "c", "--seed", "43", cwd=workspace).returncode == 0
    assert (workspace / "c/queries.jsonl").read_bytes() != (workspace / "a/queries.jsonl").read_bytes()


def test_it_says_what_it_can_detect(workspace: Path) -> None:
    done = recallbench("canary", "team", "--n", "200", "--folder", "alone", cwd=workspace)
    # Without a result: from .90, and 18% of the questions differ by chance.
    assert (
        "detects: a drop of recall_any@10 from 0.90 by 0.105 or more is seen in about 8 of 10 runs "
        "(p < .05 before Holm, 200 questions with something to find, 18.0% of them differing by chance)" in done.stdout
    )
    assert "a gate `recall_any@10 drops 0.01` fails in as many from a drop of 0.115 on" in done.stdout
    assert "the figure itself is known to ±0.042" in done.stdout
    assert "no log was named: the set's own mix counts as production's" in done.stdout
    # With the pairs of two results that agree in all but nothing, far less is seen.
    words = ("--result", "base", "--result", "base", "--folder", "pairs")
    assert recallbench("canary", "team", "--n", "200", *words, cwd=workspace).returncode == 0
    detects = record_of(workspace / "pairs")["detects"]
    assert (detects["n"], detects["differing"], detects["clusters"]) == (200, 0.005, 200)
    assert detects["drop"] == pytest.approx(0.047, abs=0.002)


def test_more_hard_questions_are_written_down_and_weighed_back(workspace: Path) -> None:
    words = ("--n", "100", "--log", "log.jsonl", "--result", "base", "--hard", "0.3", "--folder", "harder")
    done = recallbench("canary", "team", *words, cwd=workspace)
    assert "hard: 30 of 100 (30.0%; production's mix has 20.0%)" in done.stdout
    assert "Its plain mean must not be quoted as production's" in done.stdout
    assert record_of(workspace / "harder")["bias"] == pytest.approx(0.1)
    printed = evaluate(workspace, "harder", "r")
    assert "canary: Its plain mean must not be quoted as production's" in printed
    checked = recallbench("canary", "harder", "--check", "--result", "r", "--format", "json", cwd=workspace)
    recall = next(part for part in json.loads(checked.stdout)["weighted"] if part["measure"] == "recall_any@10")
    assert recall["plain"] == pytest.approx(0.7, abs=0.05)
    assert recall["value"] == pytest.approx(0.8, abs=0.05)
    assert recall["value"] - recall["plain"] == pytest.approx(0.1, abs=0.03)
    assert recall["low"] < recall["value"] < recall["high"]
    # More than there are can't be had.
    # Questions that nobody drew have no weight.
    queries = workspace / "harder/queries.jsonl"
    jsonl(queries, [json.loads(line) | {"kind": "new"} for line in queries.read_text().splitlines()])
    evaluate(workspace, "harder", "changed")
    error = refused(workspace, "harder", "--check", "--result", "changed")
    assert "harder is not what its record says" in error
    assert "canary.json has 32 other questions of date of acme, and the folder holds 0" in error
    done = recallbench("canary", "team", *words[:-3], "0.4", "--folder", "hardest", cwd=workspace)
    assert "the set has too few hard questions for --hard 0.4: all that fit are here" in done.stdout
    assert "hard: 34 of 100" in done.stdout


def test_it_is_drawn_anew_with_half_of_its_questions(workspace: Path) -> None:
    aged(workspace / "few", "2026-01-01", "2026-01-31")
    # One of its questions reads otherwise in the set by now.
    queries = workspace / "team/queries.jsonl"
    old = {json.loads(line)["_id"] for line in (workspace / "few/queries.jsonl").read_text().splitlines()}
    changed = next(id for id in sorted(old) if not id.endswith(("0", "5")))
    records = [json.loads(line) for line in queries.read_text().splitlines()]
    jsonl(queries, [r | {"text": f"{r['text']} by now"} if r["_id"] == changed else r for r in records])
    evaluate(workspace, "team", "base2")
    words = ("--log", "log.jsonl", "--result", "base2", "--folder", "next")
    done = recallbench("canary", "few", "--refresh", *words, cwd=workspace)
    assert done.returncode == 0
    record = record_of(workspace / "next")
    kept = set(record["refreshed"]["kept"])
    new = {json.loads(line)["_id"] for line in (workspace / "next/queries.jsonl").read_text().splitlines()}
    assert kept == (old & new) - {changed}
    assert changed not in kept
    # Half of each stratum, and more of facts of acme: of its 64 easy ones 40 are asked, and only 24 are new.
    assert 50 <= len(kept) <= 75
    assert f"kept from the earlier canary: {len(kept)} questions" in done.stdout
    assert (record["asked"], record["seed"], record["stale_after"]["stated"]) == (100, 42, "30d")
    assert record["stale_after"]["on"] > "2026-01-31"
    assert "few was drawn by a result" in refused(workspace, "few", "--refresh", "--folder", "other")
    assert "few was drawn by a log" in refused(workspace, "few", "--refresh", "--result", "base2", "--folder", "other")


def test_no_way_through_the_machine_is_in_the_record(workspace: Path) -> None:
    # Beside its set, wherever the two are, the canary finds it again.
    assert record_of(workspace / "few")["source"]["folder"] == "../team"
    place = workspace / "alice" / "secret-client"
    place.mkdir(parents=True)
    shutil.copytree(workspace / "team", place / "team")
    done = recallbench("canary", place / "team", "--n", "100", "--folder", "away", cwd=workspace)
    assert done.returncode == 0
    source = record_of(workspace / "away")["source"]
    assert (source["name"], source["folder"], len(source["sha256"])) == ("team", None, 64)
    text = (workspace / "away/canary.json").read_text()
    assert not [name for name in ("alice", "secret", str(workspace), "..") if name in text]
    # A set of the same name that happens to be near is not taken for it.
    done = recallbench("canary", "away", "--check", cwd=workspace)
    asked = "documents: can't tell: the set team that it is from is not beside it: --source DIR names it"
    assert (done.returncode, asked in done.stdout) == (0, True)
    done = recallbench("canary", "away", "--check", "--source", place / "team", cwd=workspace)
    assert (done.returncode, "documents: fresh: all documents of its gold are in" in done.stdout) == (0, True)
    error = refused(workspace, "away", "--refresh", "--folder", "next")
    assert "away was drawn from a set team that is not beside it" in error
    assert "--source DIR, the set as it is now" in error
    words = ("--refresh", "--source", place / "team", "--folder", "next")
    assert recallbench("canary", "away", *words, cwd=workspace).returncode == 0
    assert record_of(workspace / "next")["source"] == source
    # What another version or hand wrote as a way is not followed.
    record = record_of(workspace / "away")
    record["source"]["folder"] = "../../alice/secret-client/team"
    (workspace / "away/canary.json").write_text(json.dumps(record))
    assert "source.folder" in refused(workspace, "away", "--check")


def test_drawn_anew_over_and_over_it_asks_what_was_not_asked(workspace: Path) -> None:
    words = ("--n", "100", "--folder", "g1")
    assert recallbench("canary", "team", *words, cwd=workspace).returncode == 0
    each = []
    for number in range(1, 6):
        lines = (workspace / f"g{number}/queries.jsonl").read_text().splitlines()
        each.append({json.loads(line)["_id"] for line in lines})
        out = f"g{number + 1}"
        assert recallbench("canary", f"g{number}", "--refresh", "--folder", out, cwd=workspace).returncode == 0
    assert each[2] != each[0]
    # Of 240 questions 100 are asked at a time: chance alone would leave 3 of 100 in all five.
    assert not set.intersection(*each)
    assert not set.intersection(*each[:3])
    assert len(set().union(*each)) > 200
    stayed = record_of(workspace / "g5")["refreshed"]["stayed"]
    assert set(stayed) == each[3] & each[4]
    assert set(stayed.values()) == {2}


def test_what_does_not_fit_is_refused_and_leaves_nothing(workspace: Path) -> None:
    before = sorted(path.name for path in workspace.iterdir())
    for n in ("99", "301"):
        error = refused(workspace, "team", "--n", n, "--folder", "x")
        assert f"--n {n} is no canary" in error
        assert "100 to 300 questions: fewer see collapses alone" in error
    assert "few exists already" in refused(workspace, "team", "--folder", "few")
    assert "team is no canary" in refused(workspace, "team", "--check")
    assert "--stale-after soon can't be understood" in refused(
        workspace, "team", "--stale-after", "soon", "--folder", "x"
    )
    assert "has passed" in refused(workspace, "team", "--stale-after", "2020-01-01", "--folder", "x")
    error = refused(workspace, "team", "--result", "measured", "--folder", "x")
    assert "measured is no result over team as it is now" in error
    assert "--keep is not for a draw" in refused(workspace, "team", "--keep", "0.5", "--folder", "x")
    assert "--hard is not for --check" in refused(workspace, "few", "--check", "--hard", "0.5")
    assert "--check and --refresh at once" in refused(workspace, "few", "--check", "--refresh")
    assert "--refresh needs --folder" in refused(workspace, "few", "--refresh")
    (workspace / "few/canary.json").write_text('{"schema_version": "2"}')
    assert "canary.json can't be read" in refused(workspace, "few", "--check")
    assert sorted(path.name for path in workspace.iterdir()) == before


def test_what_the_set_has_no_question_for_is_left_out_and_said(workspace: Path) -> None:
    recalls = [{"query": f"asked {i}", "ids": [], "kind": "fact" if i % 4 else "place"} for i in range(100)]
    jsonl(workspace / "odd.jsonl", recalls)
    done = recallbench("canary", "team", "--n", "100", "--log", "odd.jsonl", "--folder", "odd", cwd=workspace)
    assert done.returncode == 0
    assert "the log and the set do not both tell tenants apart: their shares are those of the set" in done.stdout
    assert "the set has no question for 25.0% of the recalls (place): they are left out of the mix" in done.stdout
    assert "not drawn, since the log never asks for it: date of acme, date of bolt" in done.stdout
    said = "Its plain mean is one of 75.0% of production (the set has no question for the rest)"
    assert said in done.stdout
    evaluate(workspace, "odd", "r")
    assert said in (workspace / "r/report.md").read_text()
    assert {(s["kind"], s["tenant"]): s["drawn"] for s in record_of(workspace / "odd")["strata"]} == {
        ("fact", "acme"): 50,
        ("fact", "bolt"): 50,
    }


def test_a_small_set_is_drawn_whole_and_says_so(tmp_path: Path) -> None:
    labels = [{"query": f"what is {i}", "relevant": ["oslo"], "tenant": "north"} for i in range(30)]
    labels[3] |= {"hard": True}
    labels[4] |= {"agreement": 0.5}
    # Lines without an id keep the ids that count them.
    short(tmp_path / "small", labels)
    done = recallbench("canary", "small", cwd=tmp_path)
    assert done.returncode == 0
    assert "200 were asked for; the set has 30 that fit, and all of them are here" in done.stdout
    assert "small-canary is a canary of 30 questions; " in done.stdout
    record = record_of(tmp_path / "small-canary")
    assert record["hard"]["questions"] == {
        "q4": "marked as hard in the set",
        "q5": "people agreed to 0.5 on its label",
    }
    lines = [json.loads(line) for line in (tmp_path / "small-canary/gold.jsonl").read_text().splitlines()]
    assert [line["query_id"] for line in lines] == [f"q{i}" for i in range(1, 31)]
    # The documents of the other tenant answer none of them.
    documents = (tmp_path / "small-canary/corpus.jsonl").read_text()
    assert (documents.count('"north"'), documents.count('"south"')) == (3, 0)
    assert "30 questions" in done.stdout
    assert recallbench("evaluate", "small-canary", "--store", "bm25", cwd=tmp_path).returncode == 0


def test_a_set_that_expects_texts_is_drawn_from_too(tmp_path: Path) -> None:
    short(tmp_path / "texts", EXPECTING, SAYING)
    assert recallbench("canary", "texts", "--folder", "few", cwd=tmp_path).returncode == 0
    assert record_of(tmp_path / "few")["detects"]["n"] == 3
    measured = recallbench("evaluate", "few", "--match", "tokens", "--store", "bm25", cwd=tmp_path)
    assert measured.returncode == 0
    assert recallbench("canary", "few", "--check", cwd=tmp_path).returncode == 0


def test_the_help_tells_it_from_the_bundled_corpora() -> None:
    done = recallbench("canary", "--help", cwd=Path.cwd())
    assert "bundled corpora canary-locomo and canary-longmemeval are something else" in " ".join(done.stdout.split())
