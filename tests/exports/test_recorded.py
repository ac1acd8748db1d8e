"""What folders record: rows that say what the folder's own files say."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commandline import recallbench
from exports import measured
from labelled_sets import beir
from recallbench.compare.drift import why_another_series
from recallbench.errors import InputError
from recallbench.exports.forms import COSTS, FIGURES, GATES, LATENCIES, OF_QUESTIONS, OF_RESULTS, RESULTS
from recallbench.exports.gauges import gauges
from recallbench.exports.question_rows import question_tables
from recallbench.exports.recorded import Recorded, newest, read_folders
from recallbench.exports.study_forms import LEVELS, OF_STUDIES, POINTS, QUALITY, STUDIES, SWEEPS
from recallbench.exports.table_form import Row, TableForm, columns
from recallbench.progress import Silent
from recallbench.results import manifest
from recallbench.results.latency import stage_latencies
from recallbench.results.result import Result, open_unchanged


@pytest.fixture(scope="module")
def taken() -> list[Result]:
    return []


@pytest.fixture(scope="module")
def recorded(place: Path, taken: list[Result]) -> Recorded:
    return read_folders([place / name for name in measured.folders(place)], None, Silent(), taken.append)


def row_of(recorded: Recorded, folder: str) -> dict:
    (row,) = (row for row in recorded.rows(RESULTS.name) if row["folder"] == folder)
    return dict(row)


def test_a_result_is_what_its_files_say(place: Path, recorded: Recorded) -> None:
    row = row_of(recorded, "hybrid")
    metrics = json.loads((place / "hybrid" / "metrics.json").read_text())
    stated = json.loads((place / "hybrid" / "environment.json").read_text())
    manifest = json.loads((place / "hybrid" / "manifest.json").read_text())
    assert row["content_sha256"] == manifest["content_sha256"]
    assert row["dataset_sha256"] == metrics["dataset_sha256"]
    assert row["made"] == datetime.fromisoformat(stated["started"])
    assert (row["corpus"], row["store"], row["embedder"]) == ("canary-locomo", "exact", "hash")
    assert row["pipeline"] == metrics["pipeline"]["words"]
    assert row["line"] == f"{row['system']}, hash on canary-locomo"
    assert (row["verdict"], row["canonical"]) == ("UNVERIFIED", False)
    assert row["deviations"] == [f"{part['kind']}: {part['detail']}" for part in metrics["deviations"]]
    (whole,) = (part for part in stage_latencies(place / "hybrid", "warm") if not part.stage and not part.part)
    assert (row["timed"], row["p95_ms"]) == (whole.n, whole.percentiles()[1].value)
    assert row["cost_per_1000"] > 0
    assert (row["currency"], row["prices_of"]) == ("USD", "2026-06-20")


def test_every_slice_has_its_figures(place: Path, recorded: Recorded) -> None:
    id = row_of(recorded, "bm25")["result"]
    rows = [row for row in recorded.rows(FIGURES.name) if row["result"] == id]
    metrics = json.loads((place / "bm25" / "metrics.json").read_text())
    stated = {
        (name, part["measure"]): (part["value"], part["low"], part["n"], part["chance"], part["saturated"])
        for name, parts in metrics["estimates"].items()
        for part in parts
    }
    found = {
        (row["slice"], row["measure"]): tuple(row[name] for name in ("value", "low", "n", "chance", "saturated"))
        for row in rows
        if row["slice_kind"] in ("overall", "kind") and row["measure"] not in ("auroc", "false_retrieval")
    }
    assert found == stated
    # The store bm25 is the control itself.
    assert all(row["bm25"] == row["value"] for row in rows if row["slice_kind"] == "overall" and "bm25" in row)
    measures = {row["measure"] for row in recorded.rows(FIGURES.name)}
    assert {"auroc", "false_retrieval"} <= measures


def test_a_line_over_time_is_the_system_without_its_version(recorded: Recorded) -> None:
    series = {name: row_of(recorded, name)["series"] for name in ("bm25", "later", "few", "other", "hybrid")}
    assert series["bm25"] == series["later"]
    assert len(set(series.values())) == 4
    assert row_of(recorded, "few")["line"] == "bm25 on canary-locomo; first 20 questions"
    assert row_of(recorded, "later")["version"].startswith('bm25 "x"')
    dated = newest(recorded.rows(RESULTS.name), RESULTS, "series")
    assert {row["folder"] for row in dated} == {"later", "few", "other", "hybrid"}


def test_another_encoder_or_pipeline_of_the_same_name_is_another_line(place: Path, tmp_path: Path) -> None:
    def other(name: str, part: str, **facts: object) -> Path:
        folder = tmp_path / name
        shutil.copytree(place / "hybrid", folder)
        metrics = json.loads((folder / "metrics.json").read_text())
        metrics[part] |= facts
        (folder / "metrics.json").write_text(json.dumps(metrics))
        (folder / manifest.NAME).write_text(manifest.build(folder))
        return folder

    encoder = json.loads((place / "hybrid" / "metrics.json").read_text())["embedder"]["fingerprint"]
    short = encoder | {"max_tokens": "8"}
    folders = [
        place / "hybrid",
        other("encoder", "embedder", fingerprint=short, fingerprint_sha256="0" * 64),
        other("stages", "pipeline", sha256="1" * 64),
        other("repeat", "store", version="another"),
    ]
    recorded = read_folders(folders, None, Silent())
    rows = {str(row["folder"]): row for row in recorded.rows(RESULTS.name)}
    assert len({row["line"] for row in rows.values()}) == 1
    assert (rows["encoder"]["embedder_sha256"], rows["stages"]["pipeline_sha256"]) == ("0" * 64, "1" * 64)
    series = {name: row["series"] for name, row in rows.items()}
    assert series["repeat"] == series["hybrid"]
    assert len(set(series.values())) == 3
    # The same as whether results can be compared over time.
    metrics = {folder.name: open_unchanged(folder).metrics for folder in folders}
    for one, first in metrics.items():
        for two, second in metrics.items():
            assert (series[one] == series[two]) == (not why_another_series(first, second, (one, two))), (one, two)
    # Each line has samples of its own.
    (info,) = (gauge for gauge in gauges(recorded) if gauge.name == "recallbench_result_info")
    assert {labels["series"] for labels, _ in info.samples} == set(series.values())


@pytest.mark.parametrize(("days", "last"), [((1, 2), "b"), ((2, 1), "a"), ((1, 1), "b")])
def test_the_later_of_two_is_the_newest_whatever_the_order(days: tuple[int, int], last: str) -> None:
    rows: list[Row] = [
        {"result": id, "series": "s", "made": datetime(2026, 1, day, tzinfo=UTC)}
        for id, day in zip("ab", days, strict=True)
    ]
    for given in (rows, rows[::-1]):
        assert [row["result"] for row in newest(given, RESULTS, "series")] == [last]


def test_a_sweep_says_when_it_started_else_its_last_day_counts(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "the_one_to_keep"
    shutil.copytree(next((place / "sweeps").iterdir()), folder)

    def made(started: str | None, *days: str) -> object:
        sweep = json.loads((folder / "sweep.json").read_text())
        sweep["environment"].pop("started", None)
        sweep["environment"] |= {} if started is None else {"started": started}
        for point, day in zip(sweep["points"], days, strict=True):
            point["measured"] = day
        (folder / "sweep.json").write_text(json.dumps(sweep))
        (folder / manifest.NAME).write_text(manifest.build(folder))
        (row,) = read_folders([folder], None, Silent()).rows(SWEEPS.name)
        return row["made"]

    days = ("2026-11-02", "2026-11-04", "")
    assert made("2026-11-05T06:07:08+00:00", *days) == datetime(2026, 11, 5, 6, 7, 8, tzinfo=UTC)
    assert made(None, *days) == datetime(2026, 11, 4, tzinfo=UTC)
    with pytest.raises(InputError, match="nothing to export"):
        made(None, "", "", "")


def test_stages_costs_and_gates_have_their_rows(place: Path, recorded: Recorded) -> None:
    id = row_of(recorded, "hybrid")["result"]
    of_hybrid = {form.name: [r for r in recorded.rows(form.name) if r["result"] == id] for form in OF_RESULTS}
    metrics = json.loads((place / "hybrid" / "metrics.json").read_text())
    names = {stage["name"] for stage in metrics["pipeline"]["stages"]}
    assert {row["stage"] for row in of_hybrid[LATENCIES.name]} >= {"", *names}
    assert {row["ledger"] for row in of_hybrid[COSTS.name]} >= {"ingest", "query"}
    assert [(row["gate"], row["status"]) for row in of_hybrid[GATES.name]] == [
        (gate["name"], gate["status"]) for gate in metrics["gates"]
    ]


def test_the_ranks_of_questions_are_those_of_the_rankings(place: Path, taken: list[Result], recorded: Recorded) -> None:
    assert recorded
    (result,) = (result for result in taken if result.folder.name == "hybrid")
    tables = question_tables(result)
    rows = [json.loads(line) for line in (place / "hybrid" / "raw_retrievals.jsonl").read_text().splitlines()]
    questions, values = (tables[form.name] for form in OF_QUESTIONS)
    assert len(questions) == len(rows) == 158
    for row, stated in zip(questions, rows, strict=True):
        ranks = [hit["rank"] for hit in stated["hits"] if hit["id"] in stated["gold"]]
        assert (row["question"], row["gold_ranks"]) == (stated["question_id"], ranks)
        assert row["first_rank"] == (ranks[0] if ranks else None)
    recall = [row["value"] for row in values if row["measure"] == "recall_any@10"]
    metrics = json.loads((place / "hybrid" / "metrics.json").read_text())
    assert sum(recall) / len(recall) == pytest.approx(metrics["headline"][0]["estimate"]["value"], abs=1e-9)


def test_a_question_without_an_answer_has_a_row_and_no_values(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    words = ("evaluate", "team", "--store", "bm25", "--folder", "r", "-q")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    taken: list[Result] = []
    recorded = read_folders([tmp_path / "r"], None, Silent(), taken.append)
    questions, values = (question_tables(taken[0])[form.name] for form in OF_QUESTIONS)
    told = {str(row["question"]): (row["kind"], row["tenant"], row["abstention"], row["gold"]) for row in questions}
    assert told == {
        "q1": ("travel", "north", False, 2),
        "q2": ("weather", "north", False, 1),
        "q3": ("travel", "south", False, 1),
        "q4": ("abstention", "south", True, 0),
    }
    assert {row["question"] for row in values} == {"q1", "q2", "q3"}
    slices = {(row["slice_kind"], row["slice"]) for row in recorded.rows(FIGURES.name)}
    assert slices >= {("overall", "overall"), ("kind", "travel"), ("tenant", "north"), ("tenant", "south")}


def test_a_study_and_a_sweep_have_rows_of_their_own(place: Path, recorded: Recorded) -> None:
    load, sweep = (json.loads(next((place / d).glob(f"*/{f}")).read_text()) for d, f in FILES)
    assert [row["corpus"] for row in recorded.rows(STUDIES.name)] == ["canary-locomo"]
    levels = recorded.rows(LEVELS.name)
    assert [(row["loop"], row["n"], row["p95_ms"]) for row in levels] == [
        (row["kind"], row["n"], row["p95"]["value"]) for row in load["rows"]
    ]
    assert [row["level"] for row in levels if row["void"]] == [1]
    assert len(recorded.rows(QUALITY.name)) == 2 * len(levels)
    (summary,) = recorded.rows(SWEEPS.name)
    assert (summary["name"], summary["chosen"]) == ("tune", sweep["choice"]["chosen"])
    points = recorded.rows(POINTS.name)
    assert [(row["point"], row["tuning"]) for row in points] == [(p["name"], p["tuning"]) for p in sweep["points"]]
    assert [row["parameters"] for row in points] == ["k=5", "k=10", "k=10"]  # in force
    assert [row["point"] for row in points if row["chosen"]] == [sweep["choice"]["chosen"]]


FILES = (("load", "latency.json"), ("sweeps", "sweep.json"))


def test_every_row_fits_its_form_and_no_column_is_never_filled(recorded: Recorded, taken: list[Result]) -> None:
    tables = {form.name: recorded.rows(form.name) for form in (*OF_RESULTS, *OF_STUDIES)}
    tables |= question_tables(taken[0])
    for form in (*OF_RESULTS, *OF_STUDIES, *OF_QUESTIONS):
        rows = tables[form.name]
        assert rows, form.name
        assert all(form.values(row) for row in rows)
        keys = [tuple(row[name] for name in form.key) for row in rows]
        assert len(set(keys)) == len(keys), form.name
        assert {name for row in rows for name in row} == set(form.names), form.name


def test_a_row_with_a_column_of_its_own_is_refused() -> None:
    form = TableForm("t", "a row", ("a",), columns("text", a="a", b="b"))
    assert form.values({"b": "2", "a": "1"}) == ("1", "2")
    assert form.values({"a": "1"}) == ("1", None)
    with pytest.raises(KeyError, match="t has no column c"):
        form.values({"a": "1", "c": "3"})


def test_what_is_no_result_is_left_out_with_the_reason(place: Path) -> None:
    given = [place / name for name in ("few", "few", *measured.UNUSABLE)]
    recorded = read_folders(given, None, Silent())
    reasons = {folder.name: reason for folder, reason in recorded.left_out}
    assert list(reasons) == list(measured.UNUSABLE)
    assert reasons["blocked"] == "BLOCKED.md: the run could not be made"
    assert reasons["versions_20261119"] == "a folder of 1 results"
    assert reasons["changed"].startswith("run.trec has sha256 ")
    assert reasons["nowhere"] == "no such folder"
    assert recorded.words == "1 result"


def test_the_same_run_in_two_folders_is_there_once(place: Path) -> None:
    recorded = read_folders([place / "few", place / "versions_20261119" / "first"], None, Silent())
    assert (recorded.words, recorded.repeated) == ("1 result", 1)


def test_nothing_that_can_be_read_is_an_error(place: Path) -> None:
    with pytest.raises(InputError, match="nothing to export") as raised:
        read_folders([place / name for name in measured.UNUSABLE], None, Silent())
    assert "no such folder" in raised.value.found
