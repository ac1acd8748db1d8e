"""`recallbench evaluate DIR`: a store over a labelled set, with all that a result has."""

import json
from pathlib import Path

import pytest

from commandline import recallbench
from labelled_sets import EXPECTING, QUERIES, SAYING, beir, short
from recallbench.results.metrics import Metrics


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    beir(tmp_path / "team")
    return tmp_path


def test_a_set_gets_a_result_like_any_corpus(folder: Path) -> None:
    done = recallbench("evaluate", "team", "--store", "bm25", "--folder", "result", cwd=folder)
    assert done.returncode == 0
    metrics = Metrics.model_validate_json((folder / "result" / "metrics.json").read_bytes())
    assert metrics.corpus.name == f"labelled/team@{metrics.dataset_sha256}"
    assert [deviation.kind for deviation in metrics.deviations] == ["corpus", "store"]
    assert (metrics.retrieval.asked, metrics.retrieval.left_out, metrics.headline[0].estimate.n) == (4, 0, 3)
    assert metrics.abstention is not None
    assert (metrics.abstention.questions, metrics.abstention.answerable) == (1, 3)
    assert metrics.tenants is not None
    assert {name: row[2].n for name, row in metrics.tenants.items()} == {"north": 2, "south": 1}
    assert metrics.labels is not None
    assert (metrics.labels.dated, metrics.labels.undated, metrics.labels.oldest) == (2, 2, "2026-05-01")
    graded = (folder / "result" / "qrels.graded.trec").read_text()
    assert graded.splitlines()[:2] == ["q1 0 north/0 200", "q1 0 north/2 100"]
    names = (folder / "result" / "documents.tsv").read_text().splitlines()
    assert names == ["north/0\toslo", "north/1\tbergen", "north/2\tfjord", "south/0\trome", "south/1\toslo"]
    assert metrics.coverage is not None
    assert (metrics.coverage.segments, metrics.coverage.gold) == (5, 4)
    assert [(at.k, at.segments, at.gold) for at in metrics.coverage.at[:2]] == [(1, 4, 3), (5, 5, 4)]
    report = (folder / "result" / "report.md").read_text()
    headings = ("By tenant", "Questions that drag the mean down", "Labels", "Abstention", "Coverage")
    for heading in (f"## {heading}" for heading in headings):
        assert heading in report
    audited = recallbench("audit", "result", "--corpus-file", "team", "--failures", cwd=folder)
    assert ": holds, not committed\n" in audited.stdout


def test_the_questions_that_drag_the_mean_down_are_named(folder: Path) -> None:
    # By importance alone the ferry is always first, whatever is asked.
    (folder / "naive.py").write_text(
        "def open_memory(items, vectors):\n"
        "    return lambda query, k: [(i.id, i.importance - i.id / 1e6) for i in items][:k]\n"
        "open_memory.needs_vectors = False\n"
    )
    words = ("--store", "callable", "--call", "naive:open_memory", "--folder", "result")
    done = recallbench("evaluate", "team", *words, cwd=folder)
    assert done.returncode == 0
    assert "these drag the mean down: q2 (first gold at 2, 1 of 1 in the first 10)" in done.stdout
    metrics = json.loads((folder / "result" / "metrics.json").read_text())
    assert [(row["question_id"], row["first_rank"]) for row in metrics["worst"]] == [("q2", 2)]


def test_old_labels_are_warned_of(folder: Path) -> None:
    words = ("evaluate", "team", "--store", "bm25", "-q", "--stale-after")
    done = recallbench(*words, "30d", cwd=folder)
    assert done.returncode == 0
    assert "warning: labels are older than 30d: the oldest is of 2026-05-01" in done.stderr
    assert "warning: 2 queries say nothing of when they were labelled" in done.stderr
    assert "older than" not in recallbench(*words, "900y", cwd=folder).stderr
    assert "--stale-after soon is no age" in recallbench(*words, "soon", cwd=folder).stderr


@pytest.mark.marked
def test_results_lie_by_the_set_and_compare(folder: Path) -> None:
    for store in (("--store", "bm25"), ("--store", "exact", "--embedder", "hash")):
        assert recallbench("evaluate", "team", *store, "-q", cwd=folder).returncode == 0
    results = sorted((folder / "benchmarks" / "labelled" / "team" / "results").iterdir())
    assert [path.name.split("_")[0] for path in results] == ["bm25", "exact"]
    done = recallbench("compare", *results, "--allow", "embedder,store", cwd=folder)
    assert "recall_any@10" in done.stdout
    (folder / "team" / "qrels" / "test.tsv").write_text("q1\tbergen\t1\nq2\tfjord\t1\nq3\toslo\t1\n")
    assert recallbench("evaluate", "team", "--store", "bm25", "--folder", "other", cwd=folder).returncode == 0
    refused = recallbench("compare", results[0], "other", cwd=folder)
    assert refused.returncode == 2
    assert "dataset" in refused.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere",), "there is no folder nowhere"),
        (("team", "--split", "dev"), "has no split dev"),
        (("team", "--run", "x.trec"), "a folder and files at once"),
    ],
)
def test_sets_that_cannot_be_evaluated_are_refused(folder: Path, words: tuple[str, ...], message: str) -> None:
    done = recallbench("evaluate", *words, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_misspelt_field_is_named_beside_the_field_it_may_mean(tmp_path: Path) -> None:
    short(tmp_path / "ids", [{"query": "Where does it rain?", "relevent": ["d1"]}], [{"_id": "d1", "text": "Rain."}])
    short(tmp_path / "texts", [{"query": "Where?", "expcted": "rain"}], [{"_id": "d1", "text": "Rain."}])
    beir(tmp_path / "beir", [{"_id": "d1", "text": "Rain."}], [{"_id": "q1", "txt": "Where?"}], test="q1\td1\t1\n")
    for words, hint in (
        (("ids",), "'relevent' may mean 'relevant'"),
        (("texts", "--match", "tokens"), "'expcted' may mean 'expected'"),
        (("beir",), "'txt' may mean 'text'"),
    ):
        done = recallbench("evaluate", *words, "--store", "bm25", cwd=tmp_path)
        assert done.returncode == 2
        assert f"the unknown field {hint}" in done.stderr


def test_a_plain_set_has_no_tenants_and_no_grades(tmp_path: Path) -> None:
    folder = short(tmp_path / "plain", [{"query": "When does the ferry leave?", "relevant": ["a"]}])
    (folder / "corpus.jsonl").write_text(
        '{"_id": "a", "text": "The ferry leaves at nine."}\n{"_id": "b", "text": "Rain."}\n'
    )
    assert recallbench("evaluate", "plain", "--store", "bm25", "--folder", "result", cwd=tmp_path).returncode == 0
    metrics = json.loads((tmp_path / "result" / "metrics.json").read_text())
    assert "tenants" not in metrics
    assert not (tmp_path / "result" / "qrels.graded.trec").exists()
    assert metrics["worst"] == []


@pytest.mark.marked
def test_expected_texts_are_matched_and_every_output_names_the_method(tmp_path: Path) -> None:
    short(tmp_path / "team", EXPECTING, SAYING)
    for name, words in {
        "tokens": ("tokens",),
        "chunked": ("tokens", "--match-chunk", "60"),
        "exact": ("exact",),
    }.items():
        done = recallbench(
            "evaluate", "team", "--store", "bm25", "--folder", name, "-q", "--match", *words, cwd=tmp_path
        )
        assert done.returncode == 0
        if name == "tokens":
            assert "matched by tokens f1>=0.3: 1 gold exact, 2 fuzzy; 2 of 3 queries have some" in done.stdout
            assert "nothing matches bicycle: 0 in the denominator all, recall_any@10 0.6667 of 3" in done.stdout
    metrics = Metrics.model_validate_json((tmp_path / "tokens" / "metrics.json").read_bytes())
    assert metrics.corpus.name == f"labelled/team@{metrics.dataset_sha256}+tokens-0.3"
    assert (metrics.retrieval.asked, metrics.headline[0].estimate.n) == (4, 2)
    (denominator,) = metrics.denominators
    assert (denominator.count, denominator.scored, denominator.values["recall_any@10"]) == (3, 2, round(2 / 3, 10))
    assert metrics.abstention is not None
    assert (metrics.abstention.questions, metrics.abstention.answerable) == (1, 2)
    matching = metrics.matching
    assert matching is not None
    assert (matching.exact, matching.fuzzy, matching.exact_questions, matching.fuzzy_questions) == (1, 2, 1, 1)
    assert (matching.without, matching.unmatched) == (1, ["bicycle"])
    assert [(point.threshold, point.questions, point.gold) for point in matching.sensitivity] == [
        (None, 1, 1),
        (0.1, 2, 7),
        (0.2, 2, 4),
        (0.3, 2, 3),
        (0.4, 2, 3),
        (0.5, 2, 3),
        (0.6, 2, 3),
    ]
    assert [point.recall_frac_10_of_all for point in matching.sensitivity][:2] == [round(1 / 3, 10), round(2 / 3, 10)]
    report = (tmp_path / "tokens" / "report.md").read_text()
    assert "by **tokens f1>=0.3**" in report
    assert "Nothing matches `bicycle`" in report
    for other in ("chunked", "exact"):
        refused = recallbench("compare", "tokens", other, cwd=tmp_path)
        assert refused.returncode == 2
        assert "differ in dataset" in refused.stderr
    for name in ("tokens", "chunked", "exact"):
        audited = recallbench("audit", name, "--corpus-file", "team", "--failures", cwd=tmp_path)
        assert ": holds, not committed\n" in audited.stdout


@pytest.mark.marked
def test_a_short_answer_does_not_match_every_text_with_its_words(tmp_path: Path) -> None:
    documents = [
        {"_id": id, "text": text}
        for id, text in {
            "no": "No.",
            "oh": "Oh no!",
            "ferry": "There is no ferry on that day.",
            "wet": "Bergen is wet.",
        }.items()
    ]
    short(tmp_path / "team", [{"query": "Is there no ferry on that day?", "expected": "No"}], documents)
    words = ("evaluate", "team", "--store", "bm25", "--match", "tokens", "--match-chunk", "60")
    done = recallbench(*words, "--folder", "loose", cwd=tmp_path)
    assert done.returncode == 0
    # F1 2 / 2, 2 / 3 and 2 / 8.
    assert "matched by tokens f1>=0.3, chunk 60: 2 gold exact, 0 fuzzy; 1 of 1 queries have some" in done.stdout
    warning = "warning: 1 of 1 expected texts are too short for chunks of 60 tokens"
    assert done.stderr.count(warning) == 1
    assert "--match-chunk 5 lets the shortest match" in done.stderr
    assert recallbench(*words, "--match-threshold", "0.7", "--folder", "strict", cwd=tmp_path).returncode == 0
    matchings = {
        name: Metrics.model_validate_json((tmp_path / name / "metrics.json").read_bytes()).matching
        for name in ("loose", "strict")
    }
    rows = [(None, 3), (0.1, 3), (0.2, 3), (0.3, 2), (0.4, 2), (0.5, 2), (0.6, 2)]
    assert matchings["loose"] is not None
    assert [(point.threshold, point.gold) for point in matchings["loose"].sensitivity] == rows
    # All four are in the top 10.
    assert [point.recall_frac_10 for point in matchings["loose"].sensitivity] == [1.0] * 7
    assert matchings["strict"] is not None
    assert (matchings["strict"].exact, matchings["strict"].fuzzy, matchings["strict"].exact_questions) == (1, 0, 1)
    assert [(point.threshold, point.gold) for point in matchings["strict"].sensitivity] == [*rows, (0.7, 1)]
    for name in ("loose", "strict"):
        audited = recallbench("audit", name, "--corpus-file", "team", "--failures", cwd=tmp_path)
        assert ": holds, not committed\n" in audited.stdout


def test_a_run_of_words_below_the_threshold_is_no_match(tmp_path: Path) -> None:
    documents = [{"_id": "ferry", "text": "There is no ferry on that day."}, {"_id": "paris", "text": "Paris it is."}]
    labels = [
        {"query_id": "ferry", "query": "Is there a ferry?", "expected": "No"},
        {"query_id": "paris", "query": "Where is Paris?", "expected": "Paris"},
    ]
    short(tmp_path / "team", labels, documents)
    words = ("evaluate", "team", "--store", "bm25", "--match", "tokens", "--match-chunk", "10", "--folder", "result")
    done = recallbench(*words, cwd=tmp_path)
    # F1 2 / 8 for the one, 2 / 4 for the other.
    assert "matched by tokens f1>=0.3, chunk 10: 1 gold exact, 0 fuzzy; 1 of 2 queries have some" in done.stdout
    metrics = Metrics.model_validate_json((tmp_path / "result" / "metrics.json").read_bytes())
    matching = metrics.matching
    assert matching is not None
    assert (matching.exact_questions, matching.fuzzy_questions, matching.unmatched) == (1, 0, ["ferry"])
    assert [point.gold for point in matching.sensitivity] == [2, 2, 2, 1, 1, 1, 0]


def test_a_set_that_mixes_ids_and_texts_counts_them_apart(tmp_path: Path) -> None:
    labels = [*EXPECTING, {"query_id": "berlin", "query": "How large is Berlin?", "relevant": {"berlin": 2}}]
    short(tmp_path / "team", labels, SAYING)
    words = ("evaluate", "team", "--store", "bm25", "--match", "tokens", "--folder", "made", "--k", "10", "-q")
    done = recallbench(*words, cwd=tmp_path)
    assert "1 by id: recall_any@10 1.0000, 2 by text: recall_any@10 1.0000" in done.stdout
    assert "id          1          1.0000        0.1000" in done.stdout
    metrics = Metrics.model_validate_json((tmp_path / "made" / "metrics.json").read_bytes())
    assert metrics.matching is not None
    assert metrics.matching.questions == 3
    assert metrics.matching.by_id is not None
    assert (metrics.matching.by_id.questions, metrics.matching.by_id.mrr) == (1, 1.0)
    assert "| gold known by | questions | `recall_any@10` | MRR |" in (tmp_path / "made" / "report.md").read_text()
    audited = recallbench("audit", "made", "--corpus-file", "team", "--failures", cwd=tmp_path)
    assert ": holds, not committed\n" in audited.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--match tokens matches by the expected text"),
        (("--match-threshold", "0.5"), "--match-threshold is for token F1"),
        (("--match", "exact", "--match-threshold", "0.5"), "--match-threshold is for token F1"),
        (("--match-chunk", "60"), "ids have no chunks"),
        (
            ("--match", "tokens", "--match-threshold", "3"),
            "a threshold of token F1, or of relative BM25, lies between 0 and 1",
        ),
    ],
)
def test_invalid_matching_options_are_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    short(tmp_path / "team", EXPECTING, SAYING)
    done = recallbench("evaluate", "team", "--store", "bm25", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_store_that_finds_nothing_has_no_threshold_and_a_result(folder: Path) -> None:
    (folder / "none.py").write_text(
        "def open_memory(items, vectors):\n    return lambda query, k: []\nopen_memory.needs_vectors = False\n"
    )
    done = recallbench("evaluate", "team", "--store", "python:none:open_memory", "--folder", "result", cwd=folder)
    assert done.returncode == 0
    metrics = json.loads((folder / "result" / "metrics.json").read_text())
    assert metrics["abstention"]["threshold"] is None
    assert metrics["abstention"]["false_retrieval"] == 0.0
    assert metrics["headline"][0]["estimate"]["value"] == 0.0
    assert metrics["retrieval"]["missing_hits"] == 20  # of two calls


@pytest.mark.marked
def test_a_result_stands_after_another_split_is_added(tmp_path: Path) -> None:
    queries = (*QUERIES, {"_id": "q5", "tenant": "south", "text": "Who left?"})
    folder = beir(tmp_path / "team", queries=queries)
    names = []
    for result in ("before", "after"):
        words = ("evaluate", "team", "--split", "test", "--store", "bm25", "-q", "--folder", result)
        assert recallbench(*words, cwd=tmp_path).returncode == 0
        metrics = Metrics.model_validate_json((tmp_path / result / "metrics.json").read_bytes())
        assert metrics.retrieval.asked == 4
        assert metrics.labels is not None
        names.append((metrics.corpus.name, metrics.labels.unjudged))
        # Another split judges q4, which should find nothing, and q5, which was unjudged.
        (folder / "qrels" / "zz.tsv").write_text("query-id\tcorpus-id\tscore\nq4\trome\t1\nq5\trome\t1\n")
    assert [unjudged for _, unjudged in names] == [1, 0]
    assert names[0] != names[1]
    # With two more splits the files of each result are only a part of the set.
    for name in ("aa", "bb"):
        (folder / "qrels" / f"{name}.tsv").write_text("query-id\tcorpus-id\tscore\nq1\toslo\t1\n")
    for result in ("before", "after"):
        audited = recallbench("audit", result, "--corpus-file", "team", "--failures", cwd=tmp_path)
        assert ": holds, not committed\n" in audited.stdout


def test_queries_judged_with_grade_0_alone_are_counted_in_a_result_that_stands(tmp_path: Path) -> None:
    beir(tmp_path / "team", test="query-id\tcorpus-id\tscore\nq1\toslo\t1\nq2\tbergen\t0\nq3\trome\t1\n")
    words = ("evaluate", "team", "--split", "test", "--store", "bm25", "-q", "--folder", "result")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    metrics = Metrics.model_validate_json((tmp_path / "result" / "metrics.json").read_bytes())
    assert metrics.labels is not None
    assert (metrics.retrieval.asked, metrics.labels.irrelevant, metrics.labels.unjudged) == (3, 1, 0)
    sentence = "1 query is judged with grade 0 alone, and was passed over."
    assert sentence in (tmp_path / "result" / "report.md").read_text()
    audited = recallbench("audit", "result", "--corpus-file", "team", "--failures", cwd=tmp_path)
    assert ": holds, not committed\n" in audited.stdout


def test_a_folder_that_is_no_set_is_told_what_a_set_is(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    done = recallbench("evaluate", "team", "--store", "bm25", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    line, of_gold = '{"_id": "d1", "text": "…"}', '{"query": "…", "relevant": ["d1"]}'
    assert f"a line of corpus.jsonl is {line}, one of gold.jsonl {of_gold}; `recallbench label` writes" in done.stderr
