"""`recallbench score`, how it ends, and its former form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ranking_files import conclusion, table, write, write_ranking_files

from commandline import recallbench


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_ranking_files(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("--run best.json --gold gold.jsonl --k 3", "best.json --gold gold.jsonl --k 3", 0),
        ("--gold gold.jsonl --format json --by kind", "gold.jsonl --format json --by kind", 0),
        (
            "--run best.json --gold gold.jsonl --compare gold.jsonl",
            "best.json --gold gold.jsonl --compare gold.jsonl",
            0,
        ),
        ("--run best.json --gold cut.jsonl --keep-going", "best.json --gold cut.jsonl --keep-going", 1),
        ("--run best.json --gold cut.jsonl", "best.json --gold cut.jsonl", 2),
    ],
)
def test_the_old_form_prints_and_ends_as_score_does(folder: Path, old: str, new: str, code: int) -> None:
    write(folder, "cut.jsonl", (folder / "gold.jsonl").read_text() + '{"query"')
    before = recallbench("evaluate", *old.split(), cwd=folder)
    after = recallbench("score", *new.split(), cwd=folder)
    assert (before.returncode, before.stdout, before.stderr) == (code, after.stdout, after.stderr)
    assert after.returncode == code


def test_each_of_the_two_commands_helps_with_its_own_job_alone(tmp_path: Path) -> None:
    evaluate = recallbench("evaluate", "--help", cwd=tmp_path).stdout
    score = recallbench("score", "--help", cwd=tmp_path).stdout
    for name in ("--run ", "--gold ", "--texts ", "--ties "):
        assert f"  {name}" not in evaluate
    assert "  --gold " in score
    for name in ("--store ", "--folder ", "--pipeline "):
        assert f"  {name}" in evaluate
        assert f"  {name}" not in score


def test_two_runs_without_compare_are_told_apart(folder: Path) -> None:
    done = recallbench("score", "gold.jsonl", "best.json", cwd=folder)
    assert done.returncode == 2
    assert "what to do: recallbench score gold.jsonl --gold GOLD --compare best.json" in done.stderr
    done = recallbench("score", "a", "b b", "c", cwd=folder)
    assert "what to do: recallbench table a 'b b' c --qrels GOLD" in done.stderr


def test_the_last_line_says_what_was_found_and_what_to_do(folder: Path) -> None:
    assert conclusion(folder, "--gold", "gold.jsonl", "--k", "1") == (
        "The first hit holds 50% of what is relevant (recall_frac@1 0.5000, 95% 0.1500 to 0.8500, 3 queries); "
        "3 queries are too few to rely on; next: score more queries"
    )
    many = {f"q{n}": ["a"] for n in range(40)}
    write(folder, "many.json", json.dumps(many))
    write(folder, "worse.json", json.dumps({q: ["x", "a"] for q in many}))
    assert conclusion(folder, "--run", "worse.json", "--gold", "many.json", "--k", "2") == (
        "The first 2 hits hold 100% of what is relevant (recall_frac@2 1.0000, 95% 0.9124 to 1.0000, 40 queries); "
        "the interval says how far off that may be; "
        "next: recallbench score worse.json --gold many.json --k 2 --compare OTHER"
    )
    words = ("--run", "many.json", "--gold", "many.json", "--k", "2", "--compare", "worse.json")
    assert conclusion(folder, *words) == (
        "worse.json is worse than many.json: mrr@2 -0.5000, 40 queries, p 0.0004; "
        "p decides: there is no interval; next: keep many.json"
    )


def test_the_last_line_names_failures_first(folder: Path) -> None:
    write(folder, "cut.jsonl", (folder / "gold.jsonl").read_text() + '{"query"')
    assert conclusion(folder, "--gold", "cut.jsonl", "--k", "3", "--keep-going", code=1) == (
        "The first 3 hits hold 100% of what is relevant (recall_frac@3 1.0000, 95% 0.4385 to 1.0000, 3 queries); "
        "cut.jsonl: 1 line could not be read and is left out; next: mend what is named above"
    )


def test_a_page_of_the_scores_asks_for_nothing(folder: Path) -> None:
    page = "\n".join(table(folder, "--gold", "gold.jsonl", "--format", "html"))
    assert page.startswith("<!DOCTYPE html>")
    assert "<h1>Scores of 3 queries</h1>" in page
    assert "too few to rely on" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
