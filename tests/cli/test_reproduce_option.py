"""`recallbench run --reproduce`, as a user types it."""

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from commandline import recallbench
from recallbench.results.manifest import differences
from recallbench.results.metrics import Metrics

MEMORY = """
def open_memory(items, vectors):
    def search(query, k):
        matches = [item.id for word in query.text.split() for item in items if word in item.text.split()]
        return [(id, -position) for position, id in enumerate(dict.fromkeys(matches))][:k]
    return search

open_memory.needs_vectors = False
"""
"""Answers with the sessions that hold the question's first word, then its second, and so on."""

QUESTIONS = {
    "A": [("b1 a2", [1, 2]), ("b5", [5]), ("May,", [1]), ("b6", [6])],
    "B": [("a3 a4 b2", [2])],
}


def write_locomo(folder: Path) -> None:
    """Write two conversations of eight sessions: session 3 of A says `a3`, below a date in May."""
    conversations = []
    for name, labels in QUESTIONS.items():
        dialog: dict[str, object] = {"speaker_a": "Ada", "speaker_b": "Ben"}
        for number in range(1, 9):
            dialog[f"session_{number}_date_time"] = f"1:00 pm on {number} May, 2023"
            dialog[f"session_{number}"] = [
                {"speaker": "Ada", "dia_id": f"D{number}:1", "text": f"{name}{number}".lower()}
            ]
        questions = [
            {"question": text, "answer": "", "evidence": [f"D{n}:1" for n in gold], "category": 4}
            for text, gold in labels
        ]
        conversations.append({"sample_id": name, "conversation": dialog, "qa": questions})
    (folder / "locomo10.json").write_text(json.dumps(conversations))


def run(folder: Path, corpus: str, *more: str) -> CompletedProcess[str]:
    (folder / "memory.py").write_text(MEMORY)
    files = ("--corpus-file", "locomo10.json" if corpus == "locomo" else f"{corpus}.json")
    store = ("--store", "callable", "--call", "memory:open_memory", "--allow-deviation", "dataset")
    return recallbench("run", corpus, *store, *files, "--folder", "made", *more, cwd=folder)


@pytest.fixture(scope="module")
def locomo(tmp_path_factory: pytest.TempPathFactory) -> tuple[CompletedProcess[str], Path]:
    folder = tmp_path_factory.mktemp("reproduced")
    write_locomo(folder)
    done = run(folder, "locomo", "--reproduce", "baseline-v0.2.1")
    assert done.returncode == 0
    return done, folder / "made"


def test_published_reproduced_and_canonical_stand_side_by_side(
    locomo: tuple[CompletedProcess[str], Path],
) -> None:
    done, folder = locomo
    record = json.loads((folder / "reproduction.json").read_text())
    recall, mrr = record["figures"]
    # By question, the old way: b1 counts for A's session 1; b5 and b6 too; no date is there to find; b2 is third.
    assert [question["recall"] for question in record["questions"]] == [1, 1, 0, 1, 1]
    assert [question["first"] for question in record["questions"]] == [1, 1, None, 1, 3]
    assert (recall["published"], recall["reproduced"]) == (0.795, 0.8)
    assert mrr["published"] == 0.548
    assert mrr["reproduced"] == pytest.approx((1 + 1 + 0 + 1 + 1 / 3) / 5)
    # The protocol's way: from the own conversation, where b5 and b6 are not, and the date is.
    assert (recall["canonical_measure"], recall["canonical"]) == ("recall_any@10", 0.6)
    assert recall["same_measure_canonical"] == 0.5
    assert (mrr["canonical_measure"], mrr["canonical"]) == ("mrr@50", 0.6)
    assert "recall@10  0.795      0.8000      0.6000" in done.stdout
    row = "| recall@10 | 0.795 (0.7951, 0.7786 to 0.8117) | 0.8000 (0.4080 to 1.0000) | 0.6000 `recall_any@10` | 0.5000"
    assert row in (folder / "reproduction.md").read_text()


def test_the_result_itself_follows_the_protocol(locomo: tuple[CompletedProcess[str], Path]) -> None:
    _, folder = locomo
    metrics = Metrics.model_validate_json((folder / "metrics.json").read_bytes())
    assert [headline.estimate.value for headline in metrics.headline] == [0.6, 0.6]
    assert metrics.retrieval.scope == "own"
    assert metrics.reproduction == "baseline-v0.2.1"


def test_every_output_labels_the_reproduction(locomo: tuple[CompletedProcess[str], Path]) -> None:
    done, folder = locomo
    label = "baseline-v0.2.1, in reproduction.md: a flawed definition, never citable"
    assert f"deviation: reproduction: {label}" in done.stdout
    assert "baseline-v0.2.1: reproduction of a flawed definition, never citable" in done.stdout
    assert f"- **reproduction**: {label}" in (folder / "report.md").read_text()
    title = (folder / "reproduction.md").read_text().splitlines()[0]
    assert title == "# baseline-v0.2.1 on locomo: reproduction of a flawed definition, never citable"
    assert json.loads((folder / "reproduction.json").read_text())["citable"] is False
    assert "not CANONICAL" in done.stdout


def test_the_page_says_why_the_published_figure_cannot_be_compared(locomo: tuple[CompletedProcess[str], Path]) -> None:
    _, folder = locomo
    page = (folder / "reproduction.md").read_text()
    assert "- the store is callable, the published figure is that of pgmnemo" in page
    assert "- the embedder is none, the published figure was made with dragon-plus" in page
    assert "- the corpus file is " in page


def test_the_audit_derives_the_label_and_misses_no_file(
    locomo: tuple[CompletedProcess[str], Path], tmp_path: Path
) -> None:
    _, folder = locomo
    files = json.loads((folder / "manifest.json").read_text())["files"]
    assert {"reproduction.json", "reproduction.md"} <= set(files)
    assert differences(folder) == []
    done = recallbench("audit", str(folder), "--verbose", cwd=tmp_path)
    assert "pass        RB-DEVIATIONS      deviations: 4 stated, as they follow" in done.stdout
    assert "deviation   reproduction: baseline-v0.2.1" in done.stdout


def test_without_the_option_no_reproduction_is_written(tmp_path: Path) -> None:
    write_locomo(tmp_path)
    assert run(tmp_path, "locomo").returncode == 0
    assert not list((tmp_path / "made").glob("reproduction*"))
    assert "reproduction" not in json.loads((tmp_path / "made" / "metrics.json").read_text())


def test_longmemeval_is_cut_at_500_characters_and_looks_20_deep(tmp_path: Path) -> None:
    def item(name: str, question: str, texts: list[str], gold: int) -> dict[str, object]:
        return {
            "question_id": name,
            "question_type": "multi-session",
            "question": question,
            "question_date": "2023/06/01 (Thu) 10:00",
            "answer": "",
            "answer_session_ids": [f"s{gold}"],
            "haystack_dates": ["2023/05/01 (Mon) 10:00"] * len(texts),
            "haystack_session_ids": [f"s{i}" for i in range(len(texts))],
            "haystack_sessions": [[{"role": "user", "content": text}] for text in texts],
        }

    items = [
        item("early", "pear", ["apple", "pear"], 1),
        item("late", "pear", ["apple", "so " * 170 + "pear"], 1),
        item("deep", "pear", ["pear"] * 25, 20),
    ]
    (tmp_path / "longmemeval.json").write_text(json.dumps(items))
    assert run(tmp_path, "longmemeval", "--reproduce", "baseline-v0.2.1").returncode == 0
    record = json.loads((tmp_path / "made" / "reproduction.json").read_text())
    assert [question["first"] for question in record["questions"]] == [1, None, None]
    recall, mrr = record["figures"]
    assert [figure["reproduced"] for figure in (recall, mrr)] == pytest.approx([1 / 3, 1 / 3])
    assert recall["canonical"] == pytest.approx(2 / 3)
    assert mrr["canonical"] == pytest.approx((1 + 1 + 1 / 21) / 3)


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_an_unknown_name_and_another_corpus_are_refused(tmp_path: Path, more: tuple[str, ...]) -> None:
    for words in (("locomo", "--reproduce", "baseline-v9"), ("canary-locomo", "--reproduce", "baseline-v0.2.1")):
        done = recallbench("run", *words, "--store", "exact", "--embedder", "hash", *more, cwd=tmp_path)
        assert done.returncode == 2
        assert "expected: baseline-v0.2.1 on locomo, baseline-v0.2.1 on longmemeval" in done.stderr
        assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_walks_the_reproduction_too(tmp_path: Path) -> None:
    done = recallbench("run", "longmemeval", "--dry-run", "--reproduce", "baseline-v0.2.1", cwd=tmp_path)
    assert done.returncode == 0
    assert "reproduction.json, reproduction.md" in done.stdout
    assert "reproduction: baseline-v0.2.1" in done.stdout
