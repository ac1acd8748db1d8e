"""The guide to dashboards: its commands, queries and programs run as they stand, and its lists are complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import yaml
from psycopg.conninfo import make_conninfo

from commandline import environment, installed, recallbench
from documents.markdown import ROOT, blocks, section, spans
from exports.push_gateway import push_gateway
from recallbench.exports.forms import HISTORY, OF_RESULTS
from recallbench.exports.registry import TARGETS
from recallbench.exports.study_forms import OF_STUDIES
from recallbench.stores.postgres.embedded import EmbeddedServer

GUIDE = (ROOT / "docs" / "dashboards.md").read_text("utf-8")
EXAMPLES = ROOT / "examples" / "grafana"


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with EmbeddedServer(password="guide-1234") as running:
        yield running.dsn


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, dsn: str) -> Path:
    """A folder in which every shell command of the guide was run, in its order."""
    folder = tmp_path_factory.mktemp("guide")
    with push_gateway() as gateway:
        variables = {"HISTORY_DSN": dsn, "GATEWAY": gateway.address, "RECALLBENCH_QUIET": "1"}
        path = {"PATH": installed(folder / "bin")}
        for block in blocks(GUIDE):
            if block.language == "sh":
                command = ["bash", "-euo", "pipefail", "-c", block.body]
                env = environment(folder, variables | path)
                done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
                assert done.returncode == 0, block.body + done.stdout + done.stderr
                assert "was left out" not in done.stderr
        assert list(gateway.groups) == ["/metrics/job/recall"]
    return folder


@pytest.mark.marked
def test_the_commands_leave_what_the_guide_says(place: Path) -> None:
    assert {"nights", "dashboard.json", "recallbench.prom", "parquet", "dataset"} <= set(os.listdir(place))
    assert (place / "dashboard.json").read_text() == (EXAMPLES / "dashboard.json").read_text()


@pytest.mark.marked
def test_the_queries_run_as_those_who_are_to_run_them(place: Path, dsn: str) -> None:
    reader, query = (block.body for block in blocks(GUIDE) if block.language == "sql")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(reader.encode())
    own = make_conninfo(dsn, user="grafana_reader", password="choose-one")
    with psycopg.connect(own, autocommit=True) as connection:
        rows = connection.execute(query.encode()).fetchall()
        # Of the first command, and of the one of every night.
        assert [round(value, 4) for _, _, value, _, _ in rows] == [0.8354, 0.8354]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM recallbench_history.results")


@pytest.mark.marked
def test_the_programs_run(place: Path) -> None:
    programs = [block.body for block in blocks(GUIDE) if block.language == "python"]
    printed = []
    for program in programs:
        env = environment(place, {"HF_DATASETS_OFFLINE": "1"})
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    frames, dataset = printed
    assert "0.835443" in frames
    assert "canary-1/q" in frames
    assert dataset.startswith("474 [")


def test_every_target_is_in_the_table() -> None:
    assert re.findall(r"^\| `recallbench export (\w+)", GUIDE, re.MULTILINE) != []
    assert {*re.findall(r"^\| `recallbench export (\w+)", GUIDE, re.MULTILINE)} == {*TARGETS}


def test_every_table_is_listed() -> None:
    listed = section(GUIDE, "### Queries of your own").split("```")[0]
    every = {form.name for form in (*OF_RESULTS, *OF_STUDIES, HISTORY)} | {"latest", "lines", "migrations"}
    assert {*re.findall(r"`(\w+)`", listed)} == every


@pytest.mark.marked
def test_every_gauge_is_listed(place: Path) -> None:
    listed = set()
    for row in re.findall(r"^\| (`recallbench_.*) \|$", section(GUIDE, "## Prometheus"), re.MULTILINE):
        names = re.findall(r"`(\w+)`", row)
        listed |= {name if name.startswith("recallbench") else names[0] + name for name in names}
    source = (ROOT / "src" / "recallbench" / "exports" / "gauges.py").read_text("utf-8")
    whole = set(re.findall(r'"(recallbench_\w+)"', source)) - {"recallbench_version"}  # a label
    assert whole <= listed
    written = re.findall(r"^# TYPE (\w+) gauge$", (place / "recallbench.prom").read_text(), re.MULTILINE)
    assert set(written) <= listed
    absent = {"recallbench_load_questions_per_second", "recallbench_cost_per_1000_queries_at_least"}
    assert {name for name in listed if "sweep" not in name} - set(written) <= absent


def test_the_provisioning_files_name_the_dashboards_source_and_no_secret() -> None:
    source = yaml.safe_load((EXAMPLES / "datasource.yml").read_text())["datasources"][0]
    assert source["type"] == "grafana-postgresql-datasource"
    assert source["user"] in GUIDE
    assert source["secureJsonData"]["password"].startswith("$")
    (provider,) = yaml.safe_load((EXAMPLES / "dashboards.yml").read_text())["providers"]
    assert provider["type"] == "file"
    for block in blocks(GUIDE):
        if block.language == "yaml":
            assert yaml.safe_load(block.body)


@pytest.mark.marked
def test_the_command_that_pushes_is_the_one_that_is_told(place: Path) -> None:
    done = recallbench("export", "hub", *_nights(place), "--folder", "dataset", "--repo", "OWNER/NAME", "-q", cwd=place)
    told = done.stdout.splitlines()[-1].rpartition("push it: ")[2]
    assert told in spans(GUIDE)


def _nights(place: Path) -> list[Path]:
    return sorted((place / "nights").iterdir())
