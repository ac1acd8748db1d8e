"""`export parquet`: files that pandas and duckdb read, without any text of a corpus."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pandas
import pyarrow.parquet
import pytest

from commandline import recallbench
from exports import measured
from recallbench.corpora.canary import FOLDER
from recallbench.exports.forms import HISTORY, QUESTIONS
from recallbench.exports.parquet_files import FORMS


@pytest.fixture(scope="module")
def written(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("files") / "parquet"
    done = recallbench("export", "parquet", *measured.folders(place), "--folder", out, "-q", cwd=place)
    assert done.returncode == 0
    assert f"{out} holds 5 results, 1 latency study, 1 sweep in {len(FORMS)} files" in done.stdout
    return out


def test_every_table_has_its_file_with_what_its_columns_mean(written: Path) -> None:
    assert sorted(path.name for path in written.iterdir()) == sorted(f"{form.name}.parquet" for form in FORMS)
    for form in FORMS:
        schema = pyarrow.parquet.read_schema(written / f"{form.name}.parquet")
        assert schema.names == list(form.names)
        meanings = [(field.metadata or {})[b"meaning"].decode() for field in schema]
        assert meanings == [column.meaning for column in form.columns]
        assert schema.metadata[b"rows"].decode() == form.meaning


def test_pandas_reads_the_figures_with_all_that_is_known_of_them(place: Path, written: Path) -> None:
    history = pandas.read_parquet(written / "history.parquet")
    rows = history[(history.slice_kind == "overall") & (history.measure == "recall_any@10")]
    assert list(rows.folder) == [*measured.RUNS, "later"]
    for name, value in zip(rows.folder, rows.value, strict=True):
        stated = json.loads((place / name / "metrics.json").read_text())
        assert value == stated["headline"][0]["estimate"]["value"]
    assert str(rows.made.dtype) == "datetime64[us, UTC]"
    assert list(rows.verdict.unique()) == ["UNVERIFIED"]


def test_duckdb_finds_the_mean_again_in_the_questions(written: Path) -> None:
    found = duckdb.sql(f"""
        SELECT r.folder, count(*), avg(v.value)
        FROM '{written}/question_values.parquet' v JOIN '{written}/results.parquet' r USING (result)
        WHERE v.measure = 'mrr@50' GROUP BY r.folder ORDER BY r.folder""").fetchall()
    history = pandas.read_parquet(written / "history.parquet")
    stated = history[(history.slice_kind == "overall") & (history.measure == "mrr@50")].sort_values("folder")
    assert [(folder, n) for folder, n, _ in found] == list(zip(stated.folder, stated.n, strict=True))
    assert [mean for *_, mean in found] == pytest.approx(list(stated.value), abs=1e-9)


def test_ranks_of_questions_are_there_and_say_which_were_not_found(place: Path, written: Path) -> None:
    questions = pandas.read_parquet(written / "questions.parquet")
    results = pandas.read_parquet(written / "results.parquet").set_index("result").folder
    counts = questions.result.map(results).value_counts().to_dict()
    rows = (place / "other" / "raw_retrievals.jsonl").read_text().count("\n")
    assert counts == {"bm25": 158, "later": 158, "hybrid": 158, "few": 20, "other": rows}
    missing = questions[questions.first_rank.isna()]
    assert all(len(ranks) == 0 for ranks in missing.gold_ranks)
    found = questions[questions.first_rank.notna()]
    assert all(ranks[0] == first for ranks, first in zip(found.gold_ranks, found.first_rank, strict=True))


def corpus_texts() -> list[str]:
    """Every turn and question of the bundled corpora that were measured."""
    texts: list[str] = []

    def collect(value: object) -> None:
        if isinstance(value, dict):
            for name, item in value.items():
                if isinstance(item, str) and name in ("text", "content", "question", "answer") and len(item) > 20:
                    texts.append(item)
                collect(item)
        elif isinstance(value, list):
            for item in value:
                collect(item)

    for name in ("locomo.json", "longmemeval.json"):
        collect(json.loads((FOLDER / name).read_text("utf-8")))
    assert len(texts) > 500
    return texts


def test_no_file_has_text_of_a_corpus(place: Path, written: Path) -> None:
    texts = corpus_texts()
    # One of the results was written with text, so that there was some to take.
    rows = (place / "hybrid" / "raw_retrievals.jsonl").read_text("utf-8")
    assert any(json.dumps(text)[1:-1] in rows for text in texts)
    for path in written.iterdir():
        table = pyarrow.parquet.read_table(path)
        words = "\n".join(str(value) for column in table.columns for value in column.to_pylist())
        assert not [text for text in texts if text in words], path.name


def test_an_export_replaces_the_files_of_an_earlier_one(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "parquet"
    for names in (["bm25", "few"], ["few"]):
        assert recallbench("export", "parquet", *names, "--folder", out, "-q", cwd=place).returncode == 0
    assert list(pandas.read_parquet(out / "results.parquet").folder) == ["few"]
    assert len(pandas.read_parquet(out / f"{QUESTIONS.name}.parquet")) == 20
    assert len(pandas.read_parquet(out / "sweeps.parquet")) == 0
    assert len(pandas.read_parquet(out / f"{HISTORY.name}.parquet")) > 20


def test_nothing_is_written_where_nothing_can_be_read(place: Path, tmp_path: Path) -> None:
    done = recallbench("export", "parquet", "blocked", "--folder", tmp_path / "parquet", "-q", cwd=place)
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []
