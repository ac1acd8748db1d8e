"""LongMemEval's sessions that are dated after their question, by the real command line."""

from __future__ import annotations

import json
from pathlib import Path

from commandline import recallbench
from recallbench.corpora.miniature import write_longmemeval


def test_sessions_dated_after_the_question_are_reported_both_ways_beside_the_headline(tmp_path: Path) -> None:
    write_longmemeval(tmp_path / "items.json")
    items = json.loads((tmp_path / "items.json").read_text())
    # Of this question all sessions but the first two are later, its gold among them; the other one keeps its gold.
    items[3]["question_date"] = "2023/05/02 (Tue) 10:00"
    items[1]["question_date"] = "2023/05/04 (Thu) 10:00"
    (tmp_path / "items.json").write_text(json.dumps(items))
    here = ("--corpus-file", "items.json")
    done = recallbench(
        "run", "longmemeval", *here, "--allow-deviation", "dataset", "--store", "bm25", "--folder", "r", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    sessions = len(items[0]["haystack_dates"])
    later = metrics["later"]
    assert (later["questions"], later["segments"], later["gold"], later["emptied"]) == (2, 2 * sessions - 6, 1, 1)
    assert (later["of_these"][0]["measure"], later["of_these"][0]["n"]) == ("recall_any@10", 1)
    # The headline is the protocol's: sessions count whatever their date.
    assert metrics["headline"][0]["estimate"]["n"] == len(items)
    assert later["of_all"][0]["n"] == len(items) - 1
    said = f"2 questions have {2 * sessions - 6} sessions in their haystacks that are dated after them, 1 of these"
    assert said in (tmp_path / "r" / "report.md").read_text()
    assert said in (tmp_path / "r" / "report.html").read_text()
    audited = recallbench("audit", "r", *here, cwd=tmp_path).stdout
    failing = {line.split()[1] for line in audited.splitlines() if line.startswith("  fail ")}
    assert failing <= {"RB-CORPUS", "RB-DATASET-PINNED"}
    text = (tmp_path / "r" / "metrics.json").read_text()
    (tmp_path / "r" / "metrics.json").write_text(text.replace('"emptied": 1', '"emptied": 0'))
    audited = recallbench("audit", "r", *here, cwd=tmp_path).stdout
    assert any(line.startswith("  fail ") and "RB-RETRIEVAL" in line for line in audited.splitlines())
    # A result of an earlier release does not tell of it, and is no worse for that.
    document = json.loads(text)
    del document["later"]
    (tmp_path / "r" / "metrics.json").write_text(json.dumps(document, indent=1) + "\n")
    audited = recallbench("audit", "r", *here, cwd=tmp_path).stdout
    assert not any(line.startswith("  fail ") and "RB-RETRIEVAL" in line for line in audited.splitlines())
