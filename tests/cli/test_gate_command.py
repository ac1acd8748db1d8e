"""`recallbench gate`, as CI runs it."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from gated_runs import RUNS, gate, refused, values_of, write

from commandline import recallbench
from recallbench.results.manifest import build


@pytest.fixture
def workspace(results_to_gate: Path, tmp_path: Path) -> Path:
    for name in RUNS:
        shutil.copytree(results_to_gate / name, tmp_path / "results" / name)
    return tmp_path


def test_thresholds_that_hold_are_a_table_and_exit_0(workspace: Path) -> None:
    write(workspace, '[result.night.at_least]\n"recall_any@10" = 0.8\n"mrr@50" = 0.4\n')
    code, document = gate(workspace)
    stated = json.loads((workspace / "results/night_20260101/metrics.json").read_text())["estimates"]["overall"]
    by_name = {estimate["measure"]: estimate for estimate in stated}
    assert (code, document["passed"], len(document["thresholds"])) == (0, True, 2)
    for threshold in document["thresholds"]:
        assert (threshold["outcome"], threshold["by"], threshold["part"]) == ("holds", None, "overall")
        for mine, theirs in (("observed", "value"), ("low", "low"), ("high", "high"), ("n", "n"), ("ceiling",) * 2):
            assert threshold[mine] == pytest.approx(by_name[threshold["measure"]][theirs], abs=1e-9)
    printed = recallbench("gate", cwd=workspace).stdout
    assert "recall_any@10 >= 0.8  0.8354" in printed
    assert printed.endswith("\n\nAll 2 thresholds hold\n")
    assert document["counts"] == {"out of reach": 0, "falls short": 0, "can't be told": 0, "holds": 2}


def test_thresholds_that_fall_short_are_a_table_and_exit_1(workspace: Path) -> None:
    write(workspace, '[result.night.at_least]\n"recall_any@10" = 0.9\n"mrr@50" = 0.4\n')
    code, document = gate(workspace)
    assert (code, document["passed"]) == (1, False)
    short, reached = document["thresholds"]
    assert (short["measure"], short["outcome"], reached["outcome"]) == ("recall_any@10", "falls short", "holds")
    assert short["by"] == pytest.approx(0.9 - 132 / 158)
    assert short["n"] == 158
    done = recallbench("gate", "--format", "markdown", cwd=workspace)
    assert done.returncode == 1
    assert done.stdout.startswith("### ❌ gate: 1 of 2 thresholds fall short\n\n**Falls short**\n")
    assert "| night | overall | recall_any@10 >= 0.9 | 0.8354 | " in done.stdout
    assert " | 158 | 1.0000 | 0.0646 | " in done.stdout
    line = (
        "1 of 2 thresholds fall short: recall_any@10 >= 0.9 is 0.8354 (0.7598 to 0.8877), 158 questions; "
        "next: recallbench report results/night_20260101"
    )
    assert recallbench("gate", cwd=workspace).stdout.endswith(f"\n\n{line}\n")
    assert document["conclusion"]["text"] == line


def test_thresholds_per_kind_and_tenant(workspace: Path) -> None:
    values = values_of(workspace, "night_20260101")
    kinds, scopes = (sorted({value[i] for value in values.values()}) for i in (0, 1))
    write(
        workspace,
        f'[result.night.kinds."*".at_least]\n"recall_any@10" = 0.5\n'
        f'[result.night.tenants."{scopes[0]}".at_least]\n"recall_any@10" = 0.9999\n',
    )
    _, document = gate(workspace)
    observed = {threshold["part"]: (threshold["observed"], threshold["n"]) for threshold in document["thresholds"]}
    assert sorted(observed) == sorted([*(f"kind {kind}" for kind in kinds), f"tenant {scopes[0]}"])
    for part, (value, n) in observed.items():
        what, _, name = part.partition(" ")
        of = [value[2] for value in values.values() if value[what == "tenant"] == name]
        assert (value, n) == (pytest.approx(sum(of) / len(of)), len(of))
    write(workspace, '[result.night.kinds.riddle.at_least]\n"recall_any@10" = 0.5\n')
    message = refused(workspace)
    assert "kind riddle has no question" in message
    assert kinds[0] in message


@pytest.mark.marked
def test_a_drop_is_judged_by_the_paired_comparison(workspace: Path) -> None:
    drops = '[result.night.drops]\n"mrr@50" = 0.01\n[result.night.kinds."*".drops]\n"mrr@50" = 0.01\n'
    head = 'baseline = "results/night_20260101"\nallow = ["embedder", "store"]\n'
    write(workspace, head + drops, "results/night_20260102")
    code, document = gate(workspace)
    words = ("night_20260101", "night_20260102", "--allow", "embedder,store", "--fail-if", "mrr@50 drops 0.01")
    compared = json.loads(recallbench("compare", *words, "--json", cwd=workspace / "results").stdout)
    overall, *by_kind = document["thresholds"]
    theirs = next(part for part in compared["measures"] if part["measure"] == "mrr@50")
    assert (overall["observed"], overall["low"], overall["high"], overall["n"]) == (
        theirs["difference"], theirs["low"], theirs["high"], theirs["n"],
    )  # fmt: skip
    outcome = {"passes": "holds", "fails": "falls short"}
    assert overall["outcome"] == outcome.get(compared["conditions"][0]["outcome"], "inconclusive")
    assert code == int(any(threshold["outcome"] == "falls short" for threshold in document["thresholds"]))
    for threshold in by_kind:
        kind = compared["kinds"][threshold["part"].removeprefix("kind ")]
        assert threshold["observed"] == next(m for m in kind if m["measure"] == "mrr@50")["difference"]
    # An inconclusive threshold passes, unless strict.
    assert any(threshold["outcome"] == "inconclusive" for threshold in document["thresholds"])
    open_ = sum(threshold["outcome"] == "inconclusive" for threshold in document["thresholds"])
    printed = recallbench("gate", cwd=workspace).stdout
    titles = [line for line in printed.splitlines() if line.endswith(":")]
    assert titles == [title for title in ("falls short:", "can't be told:", "holds:") if title in titles]
    section = printed.partition("\ncan't be told:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in section] == ["result", *["night"] * open_]
    assert document["counts"]["can't be told"] == open_
    assert not any(threshold["fails"] for threshold in document["thresholds"] if threshold["outcome"] == "inconclusive")
    assert f", {open_} can't be told" in printed.splitlines()[-1]
    assert "; that fails only with strict = true; " in printed.splitlines()[-1]
    assert "**Can't be told**\n\n| result" in recallbench("gate", "--format", "markdown", cwd=workspace).stdout
    write(workspace, head + "strict = true\n" + drops, "results/night_20260102")
    code, strict = gate(workspace)
    assert code == 1
    assert strict["counts"] == document["counts"]
    told = [threshold for threshold in strict["thresholds"] if threshold["outcome"] == "inconclusive"]
    assert len(told) == open_
    assert all(one["fails"] and one["note"].endswith("; strict = true forbids what can't be told") for one in told)
    write(workspace, 'baseline = "results/night_20260101"\n' + drops, "results/night_20260102")
    message = refused(workspace)
    assert "differ in embedder and store, which was not allowed" in message
    assert 'if that is what you compare: allow = ["embedder", "store"] in [result.night] of recallbench.toml' in message


def test_an_untold_threshold_is_a_third_state(workspace: Path) -> None:
    """Four conversations decide nothing: it is told, and fails only where the result is strict."""
    drop = '[result.night.drops]\n"mrr@50" = 0.01\n[result.night.at_least]\n"mrr@50" = 0.1\n'
    head = 'baseline = "results/night_20260101"\nallow = ["embedder", "store"]\n'
    write(workspace, head + drop, "results/night_20260102")
    code, document = gate(workspace)
    assert (code, document["passed"]) == (0, True)
    assert document["counts"] == {"out of reach": 0, "falls short": 0, "can't be told": 1, "holds": 1}
    states = [(threshold["outcome"], threshold["fails"]) for threshold in document["thresholds"]]
    assert states == [("holds", False), ("inconclusive", False)]
    line = recallbench("gate", cwd=workspace).stdout.splitlines()[-1]
    assert line == (
        "1 of 2 thresholds hold, 1 can't be told: mrr@50 drops less than 0.01 changed by -0.2025, 158 questions; "
        "that fails only with strict = true; next: ask more questions"
    )
    printed = recallbench("gate", "--format", "markdown", cwd=workspace).stdout
    assert printed.startswith("### ❔ gate: 1 of 2 thresholds hold, 1 can't be told\n\n**Can't be told**\n")
    sheet = recallbench("gate", "--format", "csv", cwd=workspace)
    assert [row.split(",")[:2] for row in sheet.stdout.splitlines()] == [
        ["state", "result"], ["can't be told", "night"], ["holds", "night"],
    ]  # fmt: skip
    assert sheet.stderr.splitlines()[-1] == line
    page = recallbench("gate", "--format", "html", cwd=workspace).stdout
    assert "<p>can&#x27;t be told:</p>" in page
    write(workspace, head + "strict = true\n" + drop, "results/night_20260102")
    code, document = gate(workspace)
    assert (code, document["passed"], document["counts"]["can't be told"]) == (1, False, 1)
    printed = recallbench("gate", cwd=workspace).stdout.splitlines()
    assert "; that fails here; " in printed[-1]
    assert [line for line in printed if line.endswith(":")] == ["can't be told (fails: strict = true):", "holds:"]
    marked = recallbench("gate", "--format", "markdown", cwd=workspace).stdout
    assert "**Can't be told (fails: strict = true)**" in marked


def test_a_threshold_out_of_reach_hides_none_of_the_others(workspace: Path) -> None:
    write(workspace, '[result.night.at_least]\n"precision@10" = 0.8\n"mrr@50" = 1\n"recall_any@10" = 0.8\n')
    done = recallbench("gate", cwd=workspace)
    assert done.returncode == 2
    assert "no ranking could keep this threshold" in done.stderr
    assert "night, overall: precision@10 of at most 0.1" in done.stderr
    assert "mrr@50" not in done.stderr
    tables = [line.rstrip(":") for line in done.stdout.splitlines() if line.endswith(":")]
    assert tables == ["out of reach", "falls short", "holds"]
    assert "precision@10 >= 0.8" in done.stdout
    assert "no ranking could keep it" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "1 of 3 thresholds fall short, 1 out of reach: precision@10 >= 0.8 is 0.0956 (0.0878 to 0.1040), "
        "158 questions; next: lower what no ranking could keep in recallbench.toml"
    )
    done = recallbench("gate", "--format", "json", cwd=workspace)
    document = json.loads(done.stdout)
    assert (done.returncode, document["passed"]) == (2, False)
    assert {threshold["measure"]: threshold["outcome"] for threshold in document["thresholds"]} == {
        "precision@10": "out of reach", "mrr@50": "falls short", "recall_any@10": "holds",
    }  # fmt: skip
    # It fails the command even where all others hold.
    write(workspace, '[result.night.at_least]\n"precision@10" = 0.8\n"recall_any@10" = 0.8\n')
    done = recallbench("gate", cwd=workspace)
    assert done.returncode == 2
    assert done.stdout.splitlines()[-1].startswith("1 of 2 thresholds hold, 1 out of reach: precision@10 >= 0.8 is ")


def test_recommended_thresholds_apply_to_a_result_or_to_all(workspace: Path) -> None:
    """Four thresholds for a result, for every result, and with a figure of one's own."""
    stated = json.loads((workspace / "results/night_20260101/metrics.json").read_text())["estimates"]["overall"]
    by_name = {estimate["measure"]: estimate["value"] for estimate in stated}
    four = {"precision@10(retrieved)": 0.8, "recall_frac@10": 0.7, "ndcg@10": 0.85, "mrr@10": 0.9}
    write(workspace, 'thresholds = "recommended"\n')
    code, document = gate(workspace)
    assert code == 1
    assert {threshold["measure"]: threshold["required"] for threshold in document["thresholds"]} == four
    observed = {threshold["measure"]: threshold["observed"] for threshold in document["thresholds"]}
    # Every ranking has ten hits here, so both precisions are equal, though their ceilings differ.
    assert observed["precision@10(retrieved)"] == pytest.approx(by_name["precision@10"])
    assert document["thresholds"][0]["ceiling"] == 1.0
    assert observed["recall_frac@10"] == pytest.approx(by_name["recall_frac@10"])
    write(workspace, 'thresholds = "recommended"\n[result.night.at_least]\n"mrr@10" = 0.4\n"recall_any@1" = 0.1\n')
    document = gate(workspace)[1]
    mine = four | {"mrr@10": 0.4, "recall_any@1": 0.1}
    assert {threshold["measure"]: threshold["required"] for threshold in document["thresholds"]} == mine
    write(workspace, "")
    path = workspace / "recallbench.toml"
    path.write_text('thresholds = "recommended"\n' + path.read_text())
    assert {threshold["measure"]: threshold["required"] for threshold in gate(workspace)[1]["thresholds"]} == four


def test_a_measure_that_counts_no_question_is_refused(workspace: Path) -> None:
    """No question of the canary has grades."""
    for part in ("at_least", 'kinds."*".at_least'):
        write(workspace, f'[result.night.{part}]\n"ndcg@10(graded)" = 0.5\n')
        message = refused(workspace)
        assert "no question counts for ndcg@10(graded) in" in message
        assert "what to do: name another measure, such as ndcg@10\n" in message


def test_blanks_around_a_measure_do_not_matter(workspace: Path) -> None:
    write(workspace, '[result.night.at_least]\n" recall_any@10 " = 0.8\n')
    code, document = gate(workspace)
    assert (code, [threshold["measure"] for threshold in document["thresholds"]]) == (0, ["recall_any@10"])


@pytest.mark.marked
def test_the_latest_result_is_chosen_by_its_date(workspace: Path) -> None:
    for name, day in (("night_20260101", "2026-03-02"), ("night_20260102", "2026-03-01")):
        path = workspace / "results" / name / "environment.json"
        stated = json.loads(path.read_text()) | {"started": f"{day}T01:00:00+00:00"}
        path.write_text(json.dumps(stated))
        manifest = workspace / "results" / name / "manifest.json"
        hashes = json.loads(manifest.read_text())
        hashes["files"]["environment.json"] = hashlib.sha256(path.read_bytes()).hexdigest()
        manifest.write_text(json.dumps(hashes))
    for folder in ("results/night_*", "results"):
        write(workspace, '[result.night.at_least]\n"recall_any@10" = 0.1\n', folder)
        assert Path(gate(workspace)[1]["results"][0]["folder"]).name == "night_20260101"
    blocked = workspace / "results" / "night_20260303_BLOCKED"
    blocked.mkdir()
    (blocked / "BLOCKED.md").write_text("# BLOCKED\n")
    assert "the latest result of results could not be made" in refused(workspace, code=3)
    write(workspace, '[result.night.at_least]\n"recall_any@10" = 0.1\n', "nowhere_*")
    assert "there is no result at nowhere_*" in refused(workspace, code=3)


def test_a_folder_named_on_the_command_line(workspace: Path) -> None:
    write(workspace, '[result.night.at_least]\n"recall_any@10" = 0.1\n', "nowhere")
    for word in ("results/night_20260102", "night=results/night_20260102"):
        assert Path(gate(workspace, word)[1]["results"][0]["folder"]).name == "night_20260102"
    assert refused(workspace, "nigt=results") == (
        "recallbench: recallbench.toml has no result `nigt`\n  expected: one of night\n  found: nigt=results\n"
        "  what to do: recallbench gate night=results\n"
    )
    with (workspace / "recallbench.toml").open("a") as file:
        file.write('[result.day]\nfolder = "x"\n[result.day.at_least]\n"mrr@50" = 0.1\n')
    message = refused(workspace, "results/night_20260102")
    assert "night=DIR or day=DIR" in message


@pytest.mark.marked
def test_a_missing_result_does_not_hide_the_others(workspace: Path) -> None:
    write(workspace, '[result.night.at_least]\n"recall_any@10" = 0.1\n')
    with (workspace / "recallbench.toml").open("a") as file:
        file.write('[result.day]\nfolder = "days/*"\n[result.day.at_least]\n"mrr@50" = 0.1\n')
    done = recallbench("gate", cwd=workspace)
    assert done.returncode == 3
    assert "recall_any@10 >= 0.1  0.8354" in done.stdout
    assert "day: missing: there is no result at days/*" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("The one threshold holds; no result of day; next: make one first ")
    assert "recallbench: day: there is no result at days/*\n  found: nothing that it matches is a result" in done.stderr
    for words in (("--format", "markdown"), ("--format", "json"), ("day=days/none",)):
        done = recallbench("gate", *words, cwd=workspace)
        assert (done.returncode, "0.8354" in done.stdout or "0.835443" in done.stdout) == (3, True)
        assert "✅" not in done.stdout
    assert recallbench("gate", "day=results/night_20260102", cwd=workspace).returncode == 0
    # Without any result there is no table.
    write(workspace, '[result.night.at_least]\n"recall_any@10" = 0.1\n', "nowhere")
    assert "there is no result at nowhere" in refused(workspace, code=3)


def test_a_forged_folder_is_refused_whatever_it_states(workspace: Path) -> None:
    write(workspace, '[result.night.at_least]\n"recall_any@10" = 0.95\n')
    path = workspace / "results/night_20260101/metrics.json"
    metrics = json.loads(path.read_text())
    for estimate in metrics["estimates"]["overall"]:
        if estimate["measure"] == "recall_any@10":
            estimate["value"] = 0.99
    path.write_text(json.dumps(metrics))
    assert "night_20260101 is not as its manifest says" in refused(workspace)
    (path.parent / "manifest.json").write_text(build(path.parent))
    assert "the rankings do not give the figures" in refused(workspace)


def test_audit_is_a_threshold(workspace: Path) -> None:
    write(workspace, "audit = true\n")
    code, document = gate(workspace)
    assert (code, document["thresholds"][0]["what"]) == (0, "audit")
    report = workspace / "results/night_20260101/report.md"
    report.write_text(report.read_text().replace("0.8354", "0.9354"))
    hashes = json.loads((report.parent / "manifest.json").read_text())
    hashes["files"]["report.md"] = hashlib.sha256(report.read_bytes()).hexdigest()
    (report.parent / "manifest.json").write_text(json.dumps(hashes))
    code, document = gate(workspace)
    assert (code, document["thresholds"][0]["outcome"]) == (1, "falls short")
    assert "RB-REPORT" in document["thresholds"][0]["note"]


def test_what_a_gate_advises_names_the_file_that_was_named(workspace: Path) -> None:
    write(workspace, 'baseline = "kept/base"\nallow = ["store"]\n[result.night.drops]\n"mrr@50" = 0.01\n')
    (workspace / "recallbench.toml").rename(workspace / "full.toml")
    lacking = refused(workspace, "--config", "full.toml")
    assert "store this result as the baseline: recallbench gate --config full.toml --update\n" in lacking
    stored = recallbench("gate", "--config", "full.toml", "--update", cwd=workspace)
    assert stored.stdout.endswith("next: commit it, then: recallbench gate --config full.toml\n")
    assert recallbench("gate", "--config", "full.toml", cwd=workspace).returncode == 0
    other = refused(workspace, "--config", "full.toml", "--update", "results/night_20260102")
    assert "replace it: recallbench gate --config full.toml --update --replace\n" in other
    changed = refused(workspace, "--config", "full.toml", "results/night_20260102")
    assert 'allow = ["embedder", "store"] in [result.night] of full.toml' in changed
    assert "recallbench gate --config full.toml night=x\n" in refused(workspace, "--config", "full.toml", "nigt=x")


@pytest.mark.marked
def test_update_stores_the_baseline_and_replaces_with_the_option(workspace: Path) -> None:
    write(workspace, 'baseline = "kept/base"\nallow = ["embedder", "store"]\n[result.night.drops]\n"mrr@50" = 0.01\n')
    assert "gate --update" in refused(workspace)
    done = recallbench("gate", "--update", cwd=workspace)
    assert (done.returncode, "kept/base: stored\n" in done.stdout) == (0, True)
    assert done.stdout.endswith("\nThe baseline of night is stored; next: commit it, then: recallbench gate\n")
    first = {path.name: path.read_bytes() for path in (workspace / "kept/base").iterdir()}
    assert first == {path.name: path.read_bytes() for path in (workspace / "results/night_20260101").iterdir()}
    assert gate(workspace)[0] == 0
    assert "the same already" in recallbench("gate", "--update", cwd=workspace).stdout
    message = refused(workspace, "--update", "results/night_20260102")
    assert "holds another baseline" in message
    assert first == {path.name: path.read_bytes() for path in (workspace / "kept/base").iterdir()}
    done = recallbench("gate", "--update", "--replace", "results/night_20260102", cwd=workspace)
    assert (done.returncode, "replaced" in done.stdout) == (0, True)
    assert [path.name for path in (workspace / "kept").iterdir()] == ["base"]
    assert (workspace / "kept/base/metrics.json").read_bytes() != first["metrics.json"]
    assert "--replace goes with --update" in refused(workspace, "--replace")


def test_a_star_means_every_kind_with_something_to_find(tmp_path: Path) -> None:
    documents = [{"_id": f"d{i}", "text": f"word{i} stands here"} for i in range(12)]
    queries = [{"query": f"word{i}", "relevant": [f"d{i}"], "kind": "fact", "tenant": "t"} for i in range(4)]
    queries += [{"query": "nothing of it", "relevant": [], "kind": "abstention", "tenant": "t"}]
    (tmp_path / "set").mkdir()
    for name, rows in (("corpus", [document | {"tenant": "t"} for document in documents]), ("gold", queries)):
        (tmp_path / "set" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = recallbench("evaluate", "set", "--store", "bm25", "--out", "results", cwd=tmp_path)
    assert done.returncode == 0
    write(tmp_path, 'kinds."*".at_least = { "mrr@10" = 0.9 }\ntenants."*".at_least = { "mrr@10" = 0.9 }\n', "results")
    code, report = gate(tmp_path)
    assert code == 0
    assert [(threshold["part"], threshold["n"], threshold["observed"]) for threshold in report["thresholds"]] == [
        ("kind fact", 4, 1.0), ("tenant t", 4, 1.0),
    ]  # fmt: skip
    write(tmp_path, 'kinds.abstention.at_least = { "mrr@10" = 0.9 }\n', "results")
    message = refused(tmp_path)
    assert "kind abstention has no question with gold" in message
    assert "expected: one of fact\n" in message
