"""`recallbench canary --check`: what makes a canary stale, what can't be told, and a record that is not believed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from canary_sets import aged, drawn_workspace, evaluate, production_log, refused
from commandline import recallbench
from labelled_sets import jsonl


@pytest.fixture(scope="session")
def _drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn_workspace(tmp_path_factory.mktemp("canary"))


@pytest.fixture
def workspace(_drawn: Path, tmp_path: Path) -> Path:
    shutil.copytree(_drawn, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_fresh_one_is_told_fresh_and_a_stale_one_stale_everywhere(workspace: Path) -> None:
    done = recallbench("canary", "few", "--check", cwd=workspace)
    assert done.returncode == 0
    assert done.stdout.endswith(
        "few is fresh; nothing tells of its mix; next: go on measuring it: recallbench evaluate few\n"
    )
    aged(workspace / "few", "2026-01-01", "2026-01-31")
    done = recallbench("canary", "few", "--check", cwd=workspace)
    assert done.returncode == 1
    stale = "stale since 2026-01-31: drawn on 2026-01-01, to be drawn anew after 30d"
    assert f"age: stale: {stale}" in done.stdout
    assert f"canary: {stale}; `recallbench canary DIR --refresh --folder NEW` draws it anew" in evaluate(
        workspace, "few", "later"
    )
    (workspace / "recallbench.toml").write_text(
        '[result.night]\nfolder = "later"\n[result.night.at_least]\n"recall_any@10" = 0.5\n'
    )
    gated = recallbench("gate", cwd=workspace)
    assert gated.returncode == 0
    assert f"night: canary: {stale}" in gated.stdout
    assert f"- night: canary: {stale}" in recallbench("gate", "--format", "markdown", cwd=workspace).stdout
    name = f"labelled/few@{json.loads((workspace / 'later/metrics.json').read_text())['dataset_sha256']}"
    ran = recallbench(
        "run", name, "--corpus-file", "few", "--store", "bm25", "--folder", "ran", "--quiet", cwd=workspace
    )
    assert f"canary: {stale}" in ran.stdout
    grown = recallbench("grow", "few", "--store", "bm25", "--factors", "2", cwd=workspace)
    assert f"the canary few is {stale}" in grown.stderr
    # A fresh one is told of nowhere.
    assert "stale" not in evaluate(workspace, "team", "set")


def test_a_mix_that_moved_makes_it_stale(workspace: Path) -> None:
    aged(workspace / "few", "2026-01-15", "2099-01-01")
    production_log(workspace / "now.jsonl", acme_facts=48, day="2026-02-01")
    done = recallbench("canary", "few", "--check", "--log", "now.jsonl", cwd=workspace)
    assert done.returncode == 0
    assert "mix: can't tell: 2.0% of the mix moved (100 recalls since the draw against 100" in done.stdout
    assert "too few recalls to see a drift of 10%" in done.stdout
    production_log(workspace / "moved.jsonl", acme_facts=20, day="2026-02-01")
    done = recallbench("canary", "few", "--check", "--log", "log.jsonl", "--log", "moved.jsonl", cwd=workspace)
    assert done.returncode == 1
    # The recalls before the draw are in the log too, and do not count.
    assert "mix: stale: 30.0% of the mix moved (100 recalls since the draw against 100" in done.stdout
    assert "date of acme +30.0%, fact of acme -30.0%" in done.stdout
    done = recallbench("canary", "few", "--check", "--log", "moved.jsonl", "--drift", "0.4", cwd=workspace)
    assert (done.returncode, "below 40% or within chance" in done.stdout) == (0, True)


def test_a_mix_that_moved_by_chance_alone_does_not_make_it_stale(workspace: Path) -> None:
    aged(workspace / "few", "2026-01-15", "2099-01-01")
    production_log(workspace / "now.jsonl", day="2026-02-01")
    # 3 facts of acme, one of bolt and 6 dates: 20% moved, as chance moves ten recalls more often than not.
    lines = (workspace / "now.jsonl").read_text().splitlines(keepends=True)
    (workspace / "now.jsonl").write_text("".join([*lines[:3], lines[50], *lines[60:66]]))
    done = recallbench("canary", "few", "--check", "--log", "now.jsonl", "--format", "json", cwd=workspace)
    mix = next(part for part in json.loads(done.stdout)["reasons"] if part["what"] == "mix")
    assert mix["reason"].startswith("20.0% of the mix moved (10 recalls since the draw against 100")
    assert (done.returncode, mix["stale"]) == (0, None)


def test_so_many_recalls_make_it_stale(workspace: Path) -> None:
    words = ("--n", "100", "--log", "log.jsonl", "--stale-after", "100q", "--folder", "counted")
    assert recallbench("canary", "team", *words, cwd=workspace).returncode == 0
    aged(workspace / "counted", "2026-01-15", None)
    assert "which --log LOG counts" in recallbench("canary", "counted", "--check", cwd=workspace).stdout
    production_log(workspace / "now.jsonl", day="2026-02-01")
    lines = (workspace / "now.jsonl").read_text().splitlines(keepends=True)
    (workspace / "now.jsonl").write_text("".join(lines[:99]))
    done = recallbench("canary", "counted", "--check", "--log", "now.jsonl", cwd=workspace)
    assert (done.returncode, "99 recalls since (by their dates), stale after 100" in done.stdout) == (0, True)
    (workspace / "now.jsonl").write_text("".join(lines))
    done = recallbench("canary", "counted", "--check", "--log", "now.jsonl", cwd=workspace)
    assert (done.returncode, "age: stale: " in done.stdout) == (1, True)


def test_only_a_dated_log_tells_what_came_since(workspace: Path) -> None:
    words = ("--n", "100", "--log", "log.jsonl", "--stale-after", "100q", "--folder", "counted")
    assert recallbench("canary", "team", *words, cwd=workspace).returncode == 0
    aged(workspace / "counted", "2026-01-15", None)

    def reasons(*logs: str) -> dict[str, dict]:
        named = [word for log in logs for word in ("--log", log)]
        done = recallbench("canary", "counted", "--check", *named, "--format", "json", cwd=workspace)
        return {part["what"]: part for part in json.loads(done.stdout)["reasons"]}

    def undated(name: str) -> str:
        lines = (workspace / name).read_text().splitlines()
        records = [{k: v for k, v in json.loads(line).items() if k != "at"} for line in lines]
        jsonl(workspace / f"undated-{name}", records)
        return f"undated-{name}"

    why = "only a dated log tells what came since the draw, and this one has no dates"
    # 15% moved since; the old recalls beside them hide half of it.
    production_log(workspace / "now.jsonl", acme_facts=35, day="2026-02-01")
    old, now = undated("log.jsonl"), undated("now.jsonl")
    told = reasons(old, now)
    assert told["mix"]["reason"].startswith("7.5% of the mix moved (200 recalls of the whole log against 100")
    assert told["mix"]["reason"].endswith(f"{why}, and old recalls that are in it hide what moved")
    assert told["mix"]["stale"] is None
    assert reasons("log.jsonl", "now.jsonl")["mix"]["reason"].startswith("15.0% of the mix moved (100 recalls since")
    # As many more as make it stale are told; a rotated log, which holds the new ones alone, tells nothing.
    assert (told["age"]["stale"], "100 recalls more than then" in told["age"]["reason"]) == (True, True)
    rotated = reasons(now)["age"]
    assert rotated["reason"].endswith(f"{why}, and a log that was rotated holds fewer")
    assert (rotated["stale"], "0 recalls more than then" in rotated["reason"]) == (None, True)
    # Beside dated ones, recalls without a date are left out, and said to be.
    mixed = reasons(old, "now.jsonl")
    assert "(100 recalls since the draw; 100 without a date are left out against 100" in mixed["mix"]["reason"]
    assert "100 recalls since (by their dates; 100 without a date are left out)" in mixed["age"]["reason"]
    # Drawn without a log, there is nothing to count from.
    words = ("--n", "100", "--stale-after", "100q", "--folder", "logless")
    assert recallbench("canary", "team", *words, cwd=workspace).returncode == 0
    done = recallbench("canary", "logless", "--check", "--log", now, cwd=workspace)
    assert "age: can't tell: " in done.stdout
    assert "drawn without a log, nothing tells how many there were" in done.stdout


def test_gold_that_is_gone_makes_it_stale(workspace: Path) -> None:
    judged = (workspace / "few/qrels/test.tsv").read_text().splitlines()
    query, document, _ = judged[1].split("\t")
    corpus = workspace / "team/corpus.jsonl"
    corpus.write_text("".join(line for line in corpus.read_text().splitlines(True) if f'"{document}"' not in line))
    done = recallbench("canary", "few", "--check", cwd=workspace)
    assert done.returncode == 1
    assert f"documents: stale: 1 document of its gold is no longer in team: {document} of {query}" in done.stdout
    (workspace / "team").rename(workspace / "moved")
    done = recallbench("canary", "few", "--check", cwd=workspace)
    assert "documents: can't tell: the set team that it is from is not beside it: --source DIR names it" in done.stdout
    done = recallbench("canary", "few", "--check", "--source", "moved", cwd=workspace)
    assert (done.returncode, f"no longer in moved: {document} of {query}" in done.stdout) == (1, True)


def test_a_record_that_was_edited_is_not_believed(workspace: Path) -> None:
    words = ("--n", "100", "--log", "log.jsonl", "--result", "base", "--hard", "0.3", "--folder", "harder")
    assert recallbench("canary", "team", *words, cwd=workspace).returncode == 0
    path = workspace / "harder/canary.json"
    honest = json.loads(path.read_text())

    def edited(**changed: object) -> None:
        path.write_text(json.dumps(honest | changed))

    edited(drawn="2931-01-01")
    for arguments in (("canary", "harder", "--check"), ("evaluate", "harder", "--store", "bm25", "--folder", "x")):
        done = recallbench(*arguments, cwd=workspace)
        assert done.returncode == 2
        assert "harder/canary.json says that it was drawn on 2931-01-01, which is to come" in done.stderr
    edited(drawn="yesterday")
    assert "canary.json can't be read" in refused(workspace, "harder", "--check")
    edited(proportional=True, bias=0.0)
    error = refused(workspace, "harder", "--check")
    assert "harder is not what its record says" in error
    assert "bias 0, and its strata tell 0.1000; proportional true, and its strata are 10.00 questions off" in error
    assert "harder is not what" in refused(
        workspace, "harder", "--refresh", "--log", "log.jsonl", "--result", "base", "--folder", "x"
    )
    # Where it is measured, the figures are told by what its strata say.
    evaluate(workspace, "harder", "r")
    part = json.loads((workspace / "r/metrics.json").read_text())["canary"]
    assert (part["bias"], part["proportional"]) == (0.1, False)
    edited(hard=honest["hard"] | {"drawn": 0.2})
    assert "hard.drawn 0.2, and its strata tell 0.3000" in refused(workspace, "harder", "--check")
    edited(questions=300)
    assert "300 questions, and the folder holds 100" in refused(workspace, "harder", "--check")
    edited()
    assert recallbench("canary", "harder", "--check", cwd=workspace).returncode == 0
