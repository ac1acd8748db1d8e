"""Questions that see what was said before them, by the real command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.compare.frame import series_facts
from recallbench.corpora.realmem import write_miniature
from recallbench.results.metrics import Metrics

RUN = ("run", "realmem", "--corpus-file", "data", "--allow-deviation", "dataset", "-q")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("time")
    write_miniature(place / "data")
    return place


ANOTHER_DATASET = ["RB-CORPUS", "RB-DATASET-PINNED"]


def failing(audited: str) -> list[str]:
    """Return the codes of the checks that fail."""
    return [line.split()[1] for line in audited.splitlines() if line.startswith("  fail ")]


def metrics_of(folder: Path) -> dict:
    return json.loads((folder / "metrics.json").read_text())


def built_in(place: Path, name: str) -> float | None:
    """Return how long filling the store of a result took, as a table has it: only where that was all it did."""
    (shown,) = json.loads(recallbench("table", name, "--format", "json", cwd=place).stdout)["standings"]
    return shown["build_s"]


def test_a_question_is_answered_from_what_was_said_before_it_and_the_audit_holds_the_result_to_that(
    place: Path,
) -> None:
    done = recallbench(*RUN, "--store", "bm25", "--folder", "kept", cwd=place)
    assert done.returncode == 0, done.stderr
    line = "A question sees what was said before it, 4.0 of 8.0 segments on average: the store filters by it."
    assert line in done.stdout
    rows = [json.loads(row) for row in (place / "kept" / "raw_retrievals.jsonl").read_text().splitlines()]
    assert [row["candidates"] for row in rows] == [*range(1, 8), *range(1, 8)]
    assert all(len(row["hits"]) == row["candidates"] for row in rows)
    metrics = metrics_of(place / "kept")
    assert metrics["time"] == {"way": "filtered", "visible": 4.0, "haystack": 8.0, "planted": 14}
    assert [deviation["kind"] for deviation in metrics["deviations"]] == ["corpus", "dataset", "store"]
    report = (place / "kept" / "report.md").read_text()
    assert "a generator used for its answer" in report.split("## Headline")[0]
    assert line in report.split("## Headline")[0]
    for file in (place / "kept" / "environment.json", place / "kept" / "metrics.json"):
        assert '"time": "kept"' not in file.read_text()
    audit = ("audit", "kept", "--corpus-file", "data", "--verbose")
    audited = recallbench(*audit, cwd=place)
    assert failing(audited.stdout) == ANOTHER_DATASET
    assert "ranked again, all 14 rankings equal" in audited.stdout
    # A hit from the future, and a smaller or larger part of the haystack than there was.
    for old, new, code in (
        ('"rank": 1, "id": "Ada_Byron/0"', '"rank": 1, "id": "Ada_Byron/7"', "RB-SCOPE"),
        ('"candidates": 1,', '"candidates": 8,', "RB-LABELS"),
    ):
        whole = (place / "kept" / "raw_retrievals.jsonl").read_text()
        (place / "kept" / "raw_retrievals.jsonl").write_text(whole.replace(old, new, 1))
        assert code in failing(recallbench(*audit, cwd=place).stdout)
        (place / "kept" / "raw_retrievals.jsonl").write_text(whole)
    whole = (place / "kept" / "metrics.json").read_text()
    (place / "kept" / "metrics.json").write_text(whole.replace('"visible": 4.0', '"visible": 8.0'))
    assert "RB-RETRIEVAL" in failing(recallbench(*audit, cwd=place).stdout)


def test_time_ignored_is_a_deviation_that_shows_what_the_future_would_have_given(place: Path) -> None:
    done = recallbench(*RUN, "--store", "bm25", "--time", "ignored", "--folder", "ignored", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "note: questions also see what was said after them" in done.stdout
    assert "Here time was ignored: a question also saw what was said after it, 8.0 segments in all." in done.stdout
    metrics = metrics_of(place / "ignored")
    assert metrics["time"] == {"way": "ignored", "visible": 8.0, "haystack": 8.0}
    first = json.loads((place / "ignored" / "raw_retrievals.jsonl").read_text().splitlines()[0])
    # Its own session, which says the question word by word.
    assert (first["hits"][0]["id"], first["candidates"]) == ("Ada_Byron/1", 8)
    audited = recallbench("audit", "ignored", "--corpus-file", "data", cwd=place)
    assert failing(audited.stdout) == ANOTHER_DATASET
    # Each question has other segments to be answered from, so that nothing of the two can be compared.
    recallbench(*RUN, "--store", "bm25", "--folder", "before", cwd=place)
    compared = recallbench("compare", "before", "ignored", cwd=place)
    assert (compared.returncode, compared.stdout) == (2, "")
    assert "can't be compared: they differ in time\n" in compared.stderr
    assert "found: time: kept against ignored\n" in compared.stderr
    assert "time: kept against ignored" in recallbench("table", "before", "ignored", cwd=place).stdout
    # They are two series over time; that of results which kept it goes by what it went by before.
    facts = [series_facts(Metrics.model_validate(metrics_of(place / name))) for name in ("before", "ignored")]
    assert [series.get("time") for series in facts] == [None, "ignored"]


SWEEP = '[run]\nstore = "bm25"\n[parameters]\nk = [1, 3]\n'


@pytest.mark.parametrize(
    ("words", "read", "ignored", "kept"),
    [
        (("repeat", "2", "realmem"), lambda study: study["passes"][0]["values"]["mrr@50"], 0.3571, 1.0),
        (
            ("sweep", "tune.toml", "realmem", "--measure", "mrr@3"),
            lambda study: study["points"][1]["estimate"]["value"],
            0.3571,
            1,
        ),
        (
            ("latency", "realmem", "--seconds", "0.1", "--clients", "1", "--at", ".5"),
            lambda study: study["questions"],
            *(14, 14),
        ),
    ],
    ids=["repeat", "sweep", "latency"],
)
def test_studies_keep_time_and_ignore_it_where_they_are_told_to(
    place: Path, words: tuple[str, ...], read: Callable[[dict], float], ignored: float, kept: float
) -> None:
    (place / "tune.toml").write_text(SWEEP)
    # What was measured with the future is kept, and is none of the answers without it.
    for time, expected in (("ignored", ignored), ("kept", kept)):
        out = f"{words[0]}-{time}"
        done = recallbench(*words, *RUN[2:], "--store", "bm25", "--time", time, "--out", out, cwd=place)
        assert done.returncode == 0, done.stderr
        (study,) = (place / out).iterdir()
        assert round(read(json.loads((study / f"{words[0]}.json").read_text())), 4) == expected
        reports = "".join(path.read_text() for path in study.glob("*.md"))
        assert (" what was said after " in reports) == (time == "ignored")


def test_what_time_does_not_go_together_with_is_refused_before_anything_is_read(place: Path) -> None:
    untimed = recallbench("run", "canary-locomo", "--store", "bm25", "--time", "ignored", cwd=place)
    assert (untimed.returncode, untimed.stdout) == (2, "")
    assert "canary-locomo does not say what came before a question" in untimed.stderr
    pooled = recallbench(*RUN, "--store", "bm25", "--scope", "pooled", cwd=place)
    assert pooled.returncode == 2
    assert "a question of realmem sees what was said before it in its own haystack" in pooled.stderr
    grown = recallbench(
        "grow", "realmem", "--corpus-file", "data", "--allow-deviation", "dataset", "--store", "bm25", cwd=place
    )
    assert grown.returncode == 2
    assert "the haystacks of realmem can't grow: what is added comes last" in grown.stderr


MEMORY = """
class Memory:
    def __init__(self):
        self.notes = {}

    def add(self, id, text):
        self.notes[id] = set(text.lower().split())

    def search(self, query, k):
        scored = [(id, len(set(query.lower().split()) & words)) for id, words in self.notes.items()]
        return sorted(scored, key=lambda hit: -hit[1])[:k]
"""


def test_a_class_with_add_and_search_is_replayed_and_audited(place: Path) -> None:
    (place / "my_memory.py").write_text(MEMORY)
    done = recallbench(*RUN, "--store", "python:my_memory:Memory", "--folder", "replayed", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "sessions went in one by one, and each question was asked when its moment had come" in done.stdout
    assert metrics_of(place / "replayed")["time"]["way"] == "replayed"
    audited = recallbench("audit", "replayed", "--corpus-file", "data", cwd=place)
    assert failing(audited.stdout) == ANOTHER_DATASET
    assert built_in(place, "replayed") is None


def test_a_store_that_can_be_held_to_time_in_no_way_is_named_before_anything_is_done(place: Path) -> None:
    refused = recallbench(*RUN, "--store", "graph", "--folder", "graph", cwd=place)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "the store graph can't be held to what was said before a question" in refused.stderr
    assert "--time ignored" in refused.stderr
    swept = recallbench("latency", *RUN[1:], "--store", "python:my_memory:Memory", "--seconds", "1", cwd=place)
    assert swept.returncode == 2
    assert "is asked while it fills, and can't be asked again as it was" in swept.stderr


CHEATING = """
import my_memory


class Cheating(my_memory.Memory):
    filters_time = True

    def search(self, query, k, visible):
        # What comes later is returned only where it says the very question.
        first = dict(list(self.notes.items())[:visible])
        words = set(query.lower().split())
        first |= {id: said for id, said in self.notes.items() if said == words}
        return sorted(((id, len(words & said)) for id, said in first.items()), key=lambda hit: -hit[1])[:k]
"""


@pytest.mark.parametrize("more", [(), ("--keep-going",)])
def test_a_store_that_returns_what_is_planted_behind_a_question_is_named_and_the_run_ends(
    place: Path, more: tuple[str, ...]
) -> None:
    """No session of the corpus is what it waits for: the pass over planted ones alone finds it out."""
    (place / "my_memory.py").write_text(MEMORY)
    (place / "cheating.py").write_text(CHEATING)
    refused = recallbench(*RUN, "--store", "python:cheating:Cheating", "--folder", "cheated", *more, cwd=place)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "the store python:cheating:Cheating returns what was said only after a question" in refused.stderr
    assert "for question Ada_Byron/Q-0001" in refused.stderr
    assert not (place / "cheated").exists()


def test_the_legs_of_a_pipeline_are_proven_each(place: Path) -> None:
    (place / "hybrid.toml").write_text(
        '[[stage]]\nkind = "search"\nmethod = "dense"\n'
        '[[stage]]\nkind = "search"\nmethod = "lexical"\n'
        '[[stage]]\nkind = "fuse"\nmethod = "rrf"\n'
    )
    done = recallbench(*RUN[:-1], "--pipeline", "hybrid.toml", "--embedder", "hash", "--folder", "hybrid", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "proving that exact returns nothing from the future" in done.stderr
    assert "proving that bm25 returns nothing from the future" in done.stderr
    audited = recallbench("audit", "hybrid", "--corpus-file", "data", cwd=place)
    assert failing(audited.stdout) == ANOTHER_DATASET
    assert built_in(place, "hybrid") is None


def test_the_reference_store_filters_and_the_audit_knows_its_plan(place: Path) -> None:
    words = (*RUN, "--store", "pgvector", "--embedder", "hash", "--folder")
    for name, more in (("whole", ()), ("cosine", ("--weights", "cosine"))):
        done = recallbench(*words, name, *more, cwd=place)
        assert done.returncode == 0, done.stderr
        assert metrics_of(place / name)["time"]["way"] == "filtered"
        audited = recallbench("audit", name, "--corpus-file", "data", cwd=place)
        assert failing(audited.stdout) == ANOTHER_DATASET


@pytest.mark.marked
def test_a_filled_reference_store_is_asked_again_and_swept(place: Path) -> None:
    words = (*RUN[2:], "--store", "pgvector", "--embedder", "hash", "--out")
    repeated = recallbench("repeat", "2", "realmem", *words, "repeated", cwd=place)
    assert repeated.returncode == 0, repeated.stderr
    assert "realmem: 2 cold runs and 2 warm passes of pgvector with hash" in repeated.stdout
    assert "rankings: identical in every pass, to the last score" in repeated.stdout
    (place / "parts.toml").write_text('[parameters]\n"set.weights" = ["cosine", "bm25"]\n')
    swept = recallbench("sweep", "parts.toml", "realmem", *words, "swept", cwd=place)
    assert swept.returncode == 0, swept.stderr
    assert "Sweep parts on realmem: 2 points" in swept.stdout


@pytest.mark.marked
@pytest.mark.parametrize(
    ("index", "short"),
    [
        (("index=hnsw", "ef_search=2"), True),
        (("index=ivfflat", "lists=4", "probes=1"), True),
        (("index=hnsw", "ef_search=2", "iterative_scan=relaxed_order"), False),
    ],
)
def test_answers_that_an_index_leaves_short_since_the_future_is_taken_out_are_counted_and_told(
    place: Path, index: tuple[str, ...], short: bool
) -> None:
    name = "-".join(index)
    chosen = [word for setting in index for word in ("--set", setting)]
    words = ("--store", "pgvector", "--embedder", "hash", "--weights", "cosine", *chosen, "--folder", name)
    done = recallbench(*RUN[:-1], *words, cwd=place)
    assert done.returncode == 0, done.stderr
    assert ("what was said after a question takes room in its answer too" in done.stderr) == short
    rows = [json.loads(row) for row in (place / name / "raw_retrievals.jsonl").read_text().splitlines()]
    for row in rows:
        assert all(int(hit["id"].rpartition("/")[2]) < row["candidates"] for hit in row["hits"])
    lost = [row["candidates"] - len(row["hits"]) for row in rows]
    assert (sum(lost) > 0) == short
    # Both calls lose the same: no haystack of the miniature has more than ten segments.
    questions, hits = sum(count > 0 for count in lost), 2 * sum(lost)
    retrieval = metrics_of(place / name)["retrieval"]
    assert (retrieval["short_questions"], retrieval["missing_hits"]) == (questions, hits)
    told = f"{questions} questions got fewer hits than their haystacks could give, {hits} in all"
    assert (told in done.stdout) == short
    table = f"| 50 | 700 | 56 | {56 - sum(lost)} |"
    assert (table in (place / name / "report.md").read_text()) == short
    audited = recallbench("audit", name, "--corpus-file", "data", cwd=place)
    assert failing(audited.stdout) == ANOTHER_DATASET
