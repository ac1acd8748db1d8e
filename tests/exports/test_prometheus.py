"""`export prometheus`: text that the official parser reads back, of each line its newest result."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from commandline import recallbench
from exports import measured
from exports.push_gateway import PushGateway, push_gateway

Samples = dict[str, list[tuple[dict[str, str], float]]]


def samples(text: str) -> Samples:
    """The samples of a text by name, as the official parser reads them; each is there once."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        assert family.type == "gauge"
        assert family.documentation
        for sample in family.samples:
            assert sample.timestamp is None
            found.setdefault(sample.name, []).append((dict(sample.labels), sample.value))
    for name, every in found.items():
        assert len({tuple(sorted(labels.items())) for labels, _ in every}) == len(every), name
    return found


def only(found: Samples, name: str, **labels: str) -> float:
    (value,) = [value for own, value in found[name] if labels.items() <= own.items()]
    return value


@pytest.fixture(scope="module")
def written(place: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Samples]:
    file = tmp_path_factory.mktemp("textfile") / "recallbench.prom"
    done = recallbench("export", "prometheus", *measured.folders(place), "--textfile", file, "-q", cwd=place)
    assert done.returncode == 0
    text = file.read_text("utf-8")
    assert text.endswith("\n")
    return done, samples(text)


def test_figures_are_those_of_the_newest_result(place: Path, written: tuple[object, Samples]) -> None:
    _, found = written
    line = {"corpus": "canary-locomo", "store": "bm25", "limit": ""}
    overall = {"measure": "recall_any@10", "slice_kind": "overall"}
    stated = json.loads((place / "bm25" / "metrics.json").read_text())["headline"][0]["estimate"]
    assert only(found, "recallbench_measure", **line, **overall) == stated["value"]
    for name in ("low", "high", "chance", "ceiling"):
        assert only(found, f"recallbench_measure_{name}", **line, **overall) == stated[name]
    assert only(found, "recallbench_measure_questions", **line, **overall) == 158
    # The later one of the same line: its times are 2 ms each.
    query = {"state": "warm", "stage": "", "part": "", "percentile": "p95"}
    assert only(found, "recallbench_query_seconds", **line, **query) == 0.002
    assert only(found, "recallbench_result_made_timestamp_seconds", **line) == 1798092000
    assert only(found, "recallbench_measure", corpus="canary-locomo", limit="20", **overall) == pytest.approx(0.85)
    assert only(found, "recallbench_gate_info", **line, gate="dataset integrity", status="pass") == 1
    assert len(found["recallbench_result_info"]) == 4


def test_any_words_of_a_store_stay_a_label(written: tuple[object, Samples]) -> None:
    _, found = written
    versions = {labels["version"] for labels, _ in found["recallbench_result_info"]}
    assert 'bm25 "x"\\ <b> END [31m' in versions


def test_levels_and_points_have_gauges_and_void_levels_none(place: Path, written: tuple[object, Samples]) -> None:
    _, found = written
    study = json.loads(next((place / "load").glob("*/latency.json")).read_text())
    told = {labels["level"] for labels, _ in found["recallbench_load_seconds"]}
    assert told == {str(row["level"]) for row in study["rows"]} - {"1"}
    second = study["rows"][1]
    p95 = only(found, "recallbench_load_seconds", level="2", percentile="p95")
    assert p95 == pytest.approx(second["p95"]["value"] / 1000)
    assert only(found, "recallbench_load_answers_per_second", level="2") == second["throughput"]
    sweep = json.loads(next((place / "sweeps").glob("*/sweep.json")).read_text())
    chosen = [labels["point"] for labels, value in found["recallbench_sweep_chosen"] if value]
    assert chosen == [sweep["choice"]["chosen"]]
    assert {labels["sweep"] for labels, _ in found["recallbench_sweep_measure"]} == {"tune"}


def test_the_last_lines_say_how_many_and_that_older_ones_are_left_out(
    written: tuple[subprocess.CompletedProcess[str], Samples],
) -> None:
    done, found = written
    count = sum(map(len, found.values()))
    older, blank, last = done.stdout.splitlines()
    assert (older, blank) == ("older results of the same lines, not in it: 1", "")
    assert (
        f" holds {count:,} values of 5 results, 1 latency study, 1 sweep; each folder is as its manifest says; " in last
    )
    assert last.endswith("; next: query recallbench_measure, once node_exporter has read the file")


def test_the_file_is_replaced_whole(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "recallbench.prom"
    for name in ("bm25", "other"):
        assert recallbench("export", "prometheus", name, "--textfile", file, "-q", cwd=place).returncode == 0
    assert {labels["corpus"] for labels, _ in samples(file.read_text())["recallbench_measure"]} == {
        "canary-longmemeval"
    }
    assert [path.name for path in tmp_path.iterdir()] == ["recallbench.prom"]


@pytest.fixture
def gateway() -> Iterator[PushGateway]:
    with push_gateway() as running:
        yield running


def test_a_push_gateway_takes_the_group_of_the_job(place: Path, gateway: PushGateway) -> None:
    words = ("export", "prometheus", "bm25", "--push-gateway", gateway.address, "-q")
    done = recallbench(*words, cwd=place)
    assert done.returncode == 0
    assert done.stdout.startswith(f"{gateway.address} took ")
    assert done.stdout.endswith(
        " values of 1 result, in place of what its job recallbench had; each folder is as its manifest says; next: "
        "query recallbench_measure\n"
    )
    assert list(gateway.groups) == ["/metrics/job/recallbench"]
    assert gateway.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert recallbench(*words, "--job", "night/ly", cwd=place).returncode == 0
    # A slash in a name is written as the gateway's documentation has it.
    assert list(gateway.groups)[1] == f"/metrics/job@base64/{base64.urlsafe_b64encode(b'night/ly').decode()}"
    first, second = map(samples, gateway.groups.values())
    assert first == second
    assert only(first, "recallbench_measure", measure="recall_any@10", slice="overall") == pytest.approx(
        0.8354, abs=1e-4
    )


def test_user_and_password_go_along_and_are_not_printed(place: Path, gateway: PushGateway) -> None:
    address = gateway.address.replace("http://", "http://joe:s3cr3t-word@") + "/below"
    done = recallbench("export", "prometheus", "bm25", "--push-gateway", address, "-q", cwd=place)
    assert done.returncode == 0
    assert list(gateway.groups) == ["/below/metrics/job/recallbench"]
    assert base64.b64decode(gateway.headers["authorization"].removeprefix("Basic ")) == b"joe:s3cr3t-word"
    assert "s3cr3t-word" not in done.stdout + done.stderr


def test_a_gateway_that_refuses_or_is_not_there_is_told(place: Path, gateway: PushGateway) -> None:
    gateway.status = 400
    words = ("export", "prometheus", "bm25", "-q", "--push-gateway")
    refused = recallbench(*words, gateway.address, cwd=place)
    assert refused.returncode == 2
    assert "refused while taking the values" in refused.stderr
    gateway.status = 401
    assert recallbench(*words, gateway.address, cwd=place).returncode == 3
    absent = recallbench(*words, "http://127.0.0.1:9", cwd=place)
    assert absent.returncode == 3
    assert "start the server, or name another --push-gateway" in absent.stderr
    strange = recallbench(*words, "gateway", cwd=place)
    assert (strange.returncode, "--push-gateway is no address" in strange.stderr) == (2, True)
