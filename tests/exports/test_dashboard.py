"""The Grafana dashboard: documented fields alone, panels that do not overlap, and queries that run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import psycopg
import pytest

from commandline import recallbench
from documents.markdown import ROOT
from exports import grafana_fields as known
from exports import measured
from exports.grafana_query import FROM, TO, sent, variables

SHIPPED = ROOT / "examples" / "grafana" / "dashboard.json"
TEXTS, TIME = {"text", "varchar"}, "timestamptz"
NUMBERS = {"float8", "int8", "numeric"}


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = recallbench("export", "grafana", cwd=tmp_path_factory.mktemp("board"))
    assert done.returncode == 0
    assert "next: in Grafana" in done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def history(server: str, place: Path) -> Iterator[psycopg.Connection]:
    """A session in a database that the command filled."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE dashboard")
        dsn = psycopg.conninfo.make_conninfo(server, dbname="dashboard")
        words = ("export", "postgres", *measured.folders(place), "--dsn", dsn, "-q")
        assert recallbench(*words, cwd=place).returncode == 0
        with psycopg.connect(dsn, autocommit=True) as own:
            yield own


def test_the_shipped_dashboard_is_the_commands(board: dict[str, Any]) -> None:
    assert json.loads(SHIPPED.read_text("utf-8")) == board


def panel_ids(board: Mapping[str, Any]) -> list[int]:
    return [panel["id"] for panel in board["panels"]]


def test_only_documented_fields_are_used(board: dict[str, Any]) -> None:
    assert set(board) <= known.DASHBOARD
    assert isinstance(board["schemaVersion"], int)
    assert 8 <= len(board["uid"]) <= 40
    assert set(board["time"]) == {"from", "to"}
    assert board["graphTooltip"] in (0, 1, 2)
    for panel in board["panels"]:
        kind = panel["type"]
        assert set(panel) <= known.PANEL, panel["title"]
        assert set(panel["gridPos"]) <= known.GRID
        assert set(panel["options"]) <= known.OPTIONS[kind]
        assert set(panel["options"].get("legend", {})) <= known.LEGEND
        assert set(panel["options"].get("tooltip", {})) <= known.TOOLTIP
        config = panel["fieldConfig"]
        assert set(config) == {"defaults", "overrides"}
        assert set(config["defaults"]) <= known.FIELD
        assert set(config["defaults"].get("custom", {})) <= known.CUSTOM[kind]
        for override in config["overrides"]:
            assert set(override) == {"matcher", "properties"}
            assert override["matcher"]["id"] in known.MATCHERS
            for one in override["properties"]:
                assert set(one) == {"id", "value"}
                name, _, custom = one["id"].partition(".")
                assert (custom in known.CUSTOM[kind]) if custom else (name in known.FIELD), one
                for mapping in one["value"] if name == "mappings" else ():
                    assert mapping["type"] == "value"
                    assert all(set(result) <= known.MAPPING_RESULT for result in mapping["options"].values())
        for target in panel["targets"]:
            assert set(target) <= known.TARGET
            assert target["format"] in known.FORMATS
            assert (target["rawQuery"], target["editorMode"]) == (True, "code")
            # A panel that draws time needs frames of time, and a bar chart needs a text to draw at.
            assert target["format"] == ("time_series" if kind == "timeseries" else "table")
    for variable in board["templating"]["list"]:
        assert set(variable) <= known.VARIABLE, variable["name"]
        assert variable["type"] in known.VARIABLE_TYPES


def test_panels_have_ids_of_their_own_and_do_not_overlap(board: dict[str, Any]) -> None:
    assert len(set(panel_ids(board))) == len(board["panels"]) >= 8
    places = [panel["gridPos"] for panel in board["panels"]]
    for at in places:
        assert 0 <= at["x"] < at["x"] + at["w"] <= 24
        assert at["h"] > 0
    for one, other in combinations(places, 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)


def test_the_source_is_chosen_by_a_variable_and_every_variable_is_there(board: dict[str, Any]) -> None:
    listed = {variable["name"]: variable for variable in board["templating"]["list"]}
    assert {"datasource", "corpus", "store", "measure"} <= set(listed)
    assert listed["datasource"]["type"] == "datasource"
    source = {"type": listed["datasource"]["query"], "uid": "${datasource}"}
    users = [*board["panels"], *(t for panel in board["panels"] for t in panel["targets"])]
    users += [variable for variable in listed.values() if variable["type"] == "query"]
    assert all(user["datasource"] == source for user in users)
    # A variable may use those that stand before it.
    names = list(listed)
    for place, variable in enumerate(listed.values()):
        if variable["type"] == "query":
            assert variables(variable["query"]) <= set(names[:place])
    used = {name for panel in board["panels"] for name in variables(panel["targets"][0]["rawSql"] + panel["title"])}
    assert used == set(names) - {"datasource"}


def chosen_values(board: dict[str, Any], history: psycopg.Connection) -> dict[str, list[str]]:
    """The values that Grafana has chosen when the dashboard is opened: All stands for every value of a variable."""
    values: dict[str, list[str]] = {}
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            rows = history.execute(sent(variable["query"], values).encode()).fetchall()
            every = [row[0] for row in rows]
            current = variable["current"]["value"]
            assert every
            assert all(isinstance(value, str) and value for value in every)
            assert current == ["$__all"] or current in every
            values[variable["name"]] = every if current == ["$__all"] else [current]
        elif variable["type"] == "textbox":
            values[variable["name"]] = [variable["current"]["value"]]
    return values


def test_variables_offer_what_was_measured(board: dict[str, Any], history: psycopg.Connection) -> None:
    values = chosen_values(board, history)
    assert values["corpus"] == ["canary-locomo", "canary-longmemeval"]
    assert values["store"] == ["bm25", "exact"]
    assert values["measure"] == ["recall_any@10"]


def test_every_panels_query_gives_what_the_panel_draws(board: dict[str, Any], history: psycopg.Connection) -> None:
    values = chosen_values(board, history)
    types = dict(history.execute("SELECT oid, typname FROM pg_type").fetchall())
    for panel in board["panels"]:
        cursor = history.execute(sent(panel["targets"][0]["rawSql"], values).encode())
        rows = cursor.fetchall()
        assert cursor.description is not None
        columns = {column.name: types[column.type_code] for column in cursor.description}
        assert rows, panel["title"]
        assert len(columns) == len(cursor.description), "two columns of one name"
        if panel["type"] == "timeseries":
            first, *others = columns
            assert (first, columns[first]) == ("time", TIME)
            assert {columns[name] for name in others} <= TEXTS | {"float8"}
            assert any(columns[name] == "float8" for name in others)
            moments = [row[0] for row in rows]
            assert moments == sorted(moments), "Grafana takes frames of time in ascending order alone"
        if panel["type"] == "barchart":
            first, *others = columns
            assert columns[first] in TEXTS
            assert others
            assert {columns[name] for name in others} <= NUMBERS
        # Each field that something is said of is there.
        for override in panel["fieldConfig"]["overrides"]:
            named = override["matcher"]["options"].strip("/^$").strip("()").split("|")
            matching = [name for name in columns if any(name.startswith(word) for word in named)]
            assert matching or override["matcher"]["id"] == "byName", (panel["title"], named)


def rows_of(
    board: dict[str, Any], history: psycopg.Connection, title: str, **chosen: list[str]
) -> list[dict[str, Any]]:
    """The rows of the panel whose title holds these words."""
    (panel,) = (panel for panel in board["panels"] if title in panel["title"])
    sql = sent(panel["targets"][0]["rawSql"], chosen_values(board, history) | chosen)
    with history.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        return cursor.execute(sql.encode()).fetchall()


def test_panels_show_the_figures_of_the_folders(
    board: dict[str, Any], history: psycopg.Connection, place: Path
) -> None:
    metrics = {name: json.loads((place / name / "metrics.json").read_text()) for name in measured.RUNS}
    value = {name: stated["headline"][0]["estimate"] for name, stated in metrics.items()}
    over_time = rows_of(board, history, "over time, with its")
    full = [row for row in over_time if row["line"] == "bm25 on canary-locomo"]
    assert [(row["value"], row["low"], row["high"]) for row in full] == 2 * [
        (value["bm25"]["value"], value["bm25"]["low"], value["bm25"]["high"])
    ]
    assert full[1]["time"].isoformat().startswith("2026-12-24")
    by_version = rows_of(board, history, "by version")
    assert len([row for row in by_version if row["version"].startswith("bm25 on canary-locomo, ")]) == 2
    p95 = [row["p95"] for row in rows_of(board, history, "p95 of single") if row["line"] == "bm25 on canary-locomo"]
    assert p95[1] == 2.0
    latest = rows_of(board, history, "The newest result of each system")
    assert len(latest) == 4
    (newest,) = (row for row in latest if row["line"] == "bm25 on canary-locomo")
    assert newest["p95 ms"] == 2.0
    assert newest["verdict, as recorded"] == "UNVERIFIED (pending: committed)"
    only = rows_of(board, history, "The newest result of each system", corpus=["canary-longmemeval"])
    assert [row["value"] for row in only] == [value["other"]["value"]]


def test_the_gate_goes_by_the_floor_that_is_typed(
    board: dict[str, Any], history: psycopg.Connection, place: Path
) -> None:
    def gates(measure: str, floor: str) -> dict[str, dict[str, Any]]:
        rows = rows_of(board, history, "Gate: $measure", at_least=[floor], measure=[measure])
        every = {row["line"]: row for row in rows}
        assert len(every) == len(rows)
        return every

    # A row for each system, of the chosen measure alone: 0.8354, from 0.7598 to 0.8877
    assert len(gates("recall_any@10", "0.8")) == 4
    whole = gates("recall_any@10", "0.8")["bm25 on canary-locomo"]
    assert (whole["gate"], whole["change"]) == ("holds, but its interval does not", 0.0)
    assert whole["result before"] == whole["value"] == pytest.approx(0.8354, abs=1e-4)
    assert gates("recall_any@10", "0.7")["bm25 on canary-locomo"]["gate"] == "holds"
    assert gates("recall_any@10", "0.99")["bm25 on canary-locomo"]["gate"] == "falls short"
    chance = json.loads((place / "bm25" / "metrics.json").read_text())["headline"][0]["estimate"]["chance"]
    below = gates("recall_any@10", str(chance / 2))["bm25 on canary-locomo"]
    assert (below["gate"], below["chance"]) == ("holds, but so does chance", chance)
    # An error rate of 0 is the best there is, and of 1 the worst.
    assert {row["gate"] for row in gates("false_retrieval", "0.8").values()} == {"no floor: less is better"}


def test_studies_and_sweeps_are_shown(board: dict[str, Any], history: psycopg.Connection, place: Path) -> None:
    study = json.loads(next((place / "load").glob("*/latency.json")).read_text())
    drawn = rows_of(board, history, "Latency under load")
    assert [row["p95"] for row in drawn] == [row["p95"]["value"] for row in study["rows"] if not row["void"]]
    assert len({row["level"] for row in drawn}) == len(drawn)
    levels = rows_of(board, history, "Levels of load")
    assert [row["void"] for row in levels] == [row["void"] for row in study["rows"]]
    sweep = json.loads(next((place / "sweeps").glob("*/sweep.json")).read_text())
    points = rows_of(board, history, "last sweep")
    assert {row["point"] for row in points} == {point["name"] for point in sweep["points"]}
    assert (points[0]["point"], points[0]["choice"]) == (sweep["choice"]["chosen"], "chosen")


def test_a_name_with_a_quote_stays_a_name(board: dict[str, Any], history: psycopg.Connection) -> None:
    for panel in board["panels"]:
        values = chosen_values(board, history) | {"corpus": ["it's'; DROP SCHEMA recallbench_history CASCADE; --"]}
        assert history.execute(sent(panel["targets"][0]["rawSql"], values).encode()).fetchall() == []
    assert history.execute("SELECT count(*) FROM recallbench_history.results").fetchone() == (5,)


def test_the_time_range_of_the_tests_holds_what_was_measured() -> None:
    assert FROM < measured.LATER < TO
