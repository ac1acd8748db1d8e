"""`recallbench sample LOG --labels FILE --match …`: a log scored by its texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recall_logs import ANSWERS, EXPECTED, scored, write, write_text_log

from commandline import recallbench
from stages import sampled


@pytest.mark.marked
def test_a_log_is_scored_by_its_texts(tmp_path: Path) -> None:
    write_text_log(tmp_path)
    words = ("log.jsonl", "--labels", "gold.jsonl", "--k", "2")
    scores = scored(tmp_path, *words, "--match", "tokens")
    values = {entry["measure"]: entry["value"] for entry in scores["overall"]["measures"]}
    assert values["recall_any@2"] == pytest.approx(2 / 3)
    assert values["mrr@2"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert scores["matching"] == "tokens f1>=0.3"
    matched = scores["matched"]
    assert (matched["exact"], matched["fuzzy"], matched["without"]) == (1, 1, 1)
    at = {entry["threshold"]: entry["value"] for entry in matched["sensitivity"]}
    # Paris, is, the, capital, of, france: 6 of 6 and 10 words make 0.75; the exact match counts at any threshold.
    assert at == {None: pytest.approx(1 / 3), **{tenth / 10: pytest.approx(2 / 3) for tenth in range(1, 7)}}
    assert scores["overall"]["found_anyway"] == 1
    strict = scored(tmp_path, *words, "--match", "tokens", "--match-threshold", "0.8")
    assert strict["overall"]["measures"][0]["value"] == pytest.approx(1 / 3)
    exact = scored(tmp_path, *words, "--match", "exact")
    assert (exact["matching"], exact["overall"]["measures"][0]["value"]) == ("exact", pytest.approx(1 / 3))
    for format in ("text", "markdown"):
        printed = recallbench("sample", *words, "--match", "tokens", "--format", format, cwd=tmp_path).stdout
        assert "matched by tokens f1>=0.3: judged recalls exact 1, fuzzy 1, without 1" in printed
        assert "recall_any@2 by threshold: exact 0.3333" in printed


def test_labels_may_mix_ids_and_texts(tmp_path: Path) -> None:
    write_text_log(tmp_path)
    labels = [{"query": ANSWERS[0][0], "relevant": ["m0"]}, {"query": ANSWERS[1][0], "expected": EXPECTED[1]}]
    write(tmp_path / "gold.jsonl", labels)
    scores = scored(tmp_path, "log.jsonl", "--labels", "gold.jsonl", "--k", "2", "--match", "tokens")
    assert {key: scores["matched"][key] for key in ("by_id", "exact", "fuzzy", "without")} == {
        "by_id": 1,
        "exact": 1,
        "fuzzy": 0,
        "without": 0,
    }
    assert scores["overall"]["measures"][0]["value"] == 1.0


def test_a_short_answer_in_a_long_text_is_found_in_chunks(tmp_path: Path) -> None:
    before, after = (" ".join(f"{word}{i}" for i in range(50)) for word in "xy")
    long = f"{before} at the harbour {after}"
    write(tmp_path / "log.jsonl", [{"query": "where", "ids": ["a"], "texts": [long]}])
    write(tmp_path / "gold.jsonl", [{"query": "where", "expected": "at the harbour"}])
    words = ("log.jsonl", "--labels", "gold.jsonl", "--match", "tokens")
    assert scored(tmp_path, *words)["overall"]["measures"][0]["value"] == 0.0
    scores = scored(tmp_path, *words, "--match-chunk", "6")
    assert scores["matching"] == "tokens f1>=0.3, chunk 6"
    assert scores["overall"]["measures"][0]["value"] == 1.0


def test_texts_by_id_are_the_texts_beside_the_ids(tmp_path: Path) -> None:
    write_text_log(tmp_path)
    words = ("log.jsonl", "--labels", "gold.jsonl", "--match", "tokens")
    beside = scored(tmp_path, *words)
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    for line in log:
        line["texts"] = dict(reversed([*zip(line["ids"], line["texts"], strict=True)]))
    write(tmp_path / "log.jsonl", log)
    assert scored(tmp_path, *words) == beside
    del log[1]["texts"]["m1"]
    write(tmp_path / "log.jsonl", log)
    done = recallbench("sample", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "recallbench: log.jsonl, line 2: not a recall" in done.stderr
    assert "found: texts: none for 'm1'" in done.stderr


@pytest.mark.marked
def test_ids_are_matched_unless_the_option_says_texts(tmp_path: Path) -> None:
    write_text_log(tmp_path)
    done = recallbench("sample", "log.jsonl", "--labels", "gold.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert "--match tokens scores by the expected text" in done.stderr
    write(tmp_path / "ids.jsonl", [{"query": ANSWERS[0][0], "relevant": ["m1"]}])
    assert scored(tmp_path, "log.jsonl", "--labels", "ids.jsonl")["matching"] == "id"
    for format in ("text", "markdown"):
        words = ("log.jsonl", "--labels", "ids.jsonl", "--format", format)
        assert "matched by id\n" in recallbench("sample", *words, cwd=tmp_path).stdout


def test_recalls_without_texts_are_refused_or_counted(tmp_path: Path) -> None:
    write_text_log(tmp_path)
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write(json.dumps({"query": ANSWERS[0][0], "ids": ["m7"]}) + "\n")
        file.write(json.dumps({"query": "of no label", "ids": ["m7"]}) + "\n")
    words = ("log.jsonl", "--labels", "gold.jsonl", "--match", "tokens")
    done = recallbench("sample", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"a recall of {ANSWERS[0][0]!r} has no texts" in done.stderr
    scores = scored(tmp_path, *words, "--skip-bad")
    assert scores["without_texts"] == 1
    assert "1 recall has no texts: taken to be like the others" in scores["notes"]


TEXT_LABELS = {
    '{"query": "q", "relevant": ["a"]}': "--match id",
    '{"query": "q", "relevant": null}': "nothing says what is relevant",
    '{"query": "q", "expcted": "x"}': "the unknown field 'expcted' may mean 'expected'",
    '{"query": "q", "relevant": null, "kind": "abstention"}': "nothing says what is relevant",
    '{"query": "q", "expected": "..."}': "a text with letters or digits",
    '{"query": "q", "expected": 5}': "expected, a text",
    '{"query": "q", "expected": "x", "kind": "abstention"}': "no expected text",
    '{"query": "q", "relevant": ["a"], "kind": "abstention"}': "no relevant id",
}  # fmt: skip


@pytest.mark.parametrize("text", sampled(TEXT_LABELS))
def test_invalid_labels_with_texts_are_refused(tmp_path: Path, text: str) -> None:
    write(tmp_path / "log.jsonl", [{"query": "q", "ids": ["a"], "texts": ["x"]}])
    (tmp_path / "gold.jsonl").write_text(text + "\n")
    done = recallbench("sample", "log.jsonl", "--labels", "gold.jsonl", "--match", "tokens", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert TEXT_LABELS[text] in done.stderr
