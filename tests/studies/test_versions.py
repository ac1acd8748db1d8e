from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import date
from itertools import product
from pathlib import Path

import pytest

from recallbench.errors import Blocked, InputError
from recallbench.progress import Silent
from recallbench.reports.versions import PairPart, Versions
from recallbench.results.manifest import differences
from recallbench.results.metrics import Metrics
from recallbench.results.result import open_result
from recallbench.runs.options import Options
from recallbench.studies.versions import VersionsOutcome, measure_versions
from versioned import BROKEN, databases, versioned_server

DAY = date(2026, 11, 18)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with versioned_server() as running:
        yield running.dsn


def measured(dsn: str, out: Path, *versions: str) -> VersionsOutcome:
    options = Options(corpus="canary-locomo", embedder="hash", dsn=(dsn,), out=out, cache_dir=out / "cache")
    return measure_versions(options, versions, Silent(), DAY)


@pytest.fixture(scope="module")
def compared(server: str, tmp_path_factory: pytest.TempPathFactory) -> VersionsOutcome:
    return measured(server, tmp_path_factory.mktemp("compared"), "1.0", BROKEN, "1.0-noisy", "1.0-uuid", "2.0")


def rows(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "raw_retrievals.jsonl").read_text().splitlines()]


def reciprocal_ranks(folder: Path) -> dict[str, float]:
    """mrr@50 by question, from the file and with nothing of ours."""
    ranks_of_first = {}
    for row in rows(folder):
        ranks = [hit["rank"] for hit in row["hits"] if hit["id"] in row["gold"]]
        ranks_of_first[row["question_id"]] = 1 / min(ranks) if ranks else 0.0
    return ranks_of_first


def pair(summary: Versions, before: str, measure: str) -> PairPart:
    (part,) = [pair for pair in summary.pairs if (pair.before, pair.measure) == (before, measure)]
    return part


def test_each_version_has_an_ordinary_result_of_its_name(compared: VersionsOutcome, server: str) -> None:
    assert [folder.name for folder in compared.results] == ["1.0_20261118", "1.0-noisy_20261118", "2.0_20261118"]
    for folder, version in zip(compared.results, ("1.0", "1.0-noisy", "2.0"), strict=True):
        metrics = Metrics.model_validate_json((folder / "metrics.json").read_bytes())
        assert (metrics.pgmnemo_version, metrics.store.asked_version) == (version, version)
        assert {gate.name: gate.status for gate in metrics.gates}["version pin"] == "pass"
        assert differences(folder) == []
    assert databases(server) == set()


def test_what_could_not_be_measured_has_a_row_with_the_reason(compared: VersionsOutcome) -> None:
    versions = {version.version: version for version in compared.summary.versions}
    assert list(versions) == ["1.0", BROKEN, "1.0-noisy", "1.0-uuid", "2.0"]
    assert not compared.complete
    broken, unfit = versions[BROKEN], versions["1.0-uuid"]
    assert (broken.status, unfit.status) == ("not installed", "blocked")
    assert broken.reason == f"pgmnemo {BROKEN} could not be installed; function no_such_thing() does not exist"
    assert unfit.reason.startswith("pgmnemo.recall_lessons can't be called as this version declares it; ")
    assert unfit.figures == []
    # Only measured versions are neighbours.
    assert [(pair.before, pair.after) for pair in compared.summary.pairs[::2]] == [
        ("1.0", "1.0-noisy"),
        ("1.0-noisy", "2.0"),
    ]


def test_versions_that_rank_alike_do_not_differ(compared: VersionsOutcome) -> None:
    for measure in ("recall_any@10", "mrr@50"):
        part = pair(compared.summary, "1.0", measure)
        assert (part.difference, part.p, part.p_holm, part.smallest_p) == (0.0, 1.0, 1.0, 1.0)
        assert (part.wins, part.ties, part.losses, part.n) == (0, 158, 0, 158)


def test_the_test_is_the_one_that_is_claimed(compared: VersionsOutcome) -> None:
    first, _, last = compared.results
    before, after = reciprocal_ranks(first), reciprocal_ranks(last)
    cluster = {row["question_id"]: row["cluster"] for row in rows(first)}
    counted = [row["question_id"] for row in rows(first) if row["gold"]]
    totals = [
        sum(after[question] - before[question] for question in counted if cluster[question] == name)
        for name in sorted(set(cluster.values()))
    ]
    assert len(totals) == 4
    sums = [abs(sum(s * t for s, t in zip(signs, totals, strict=True))) for signs in product((-1, 1), repeat=4)]
    part = pair(compared.summary, "1.0-noisy", "mrr@50")
    assert part.difference == pytest.approx(sum(totals) / len(counted), abs=1e-9)
    assert part.losses > 20
    assert part.p == sum(total >= abs(sum(totals)) - 1e-9 for total in sums) / 16
    assert (part.test, part.smallest_p, part.clusters) == ("all 16 sign flips", 2 / 16, 4)
    assert part.wins == sum(after[question] > before[question] for question in counted)
    # Four tests in all: the smallest p, times 4.
    smallest = min(pair.p for pair in compared.summary.pairs)
    assert min(pair.p_holm for pair in compared.summary.pairs) == min(1.0, 4 * smallest)


@pytest.mark.marked
def test_a_repeat_gives_the_same_bytes_and_harms_nothing(
    compared: VersionsOutcome, server: str, tmp_path: Path
) -> None:
    names = ("1.0", BROKEN, "1.0-noisy", "1.0-uuid", "2.0")
    again = measured(server, tmp_path, *names)
    assert (again.folder / "versions.json").read_bytes() == (compared.folder / "versions.json").read_bytes()
    assert (again.folder / "versions.html").read_bytes() == (compared.folder / "versions.html").read_bytes()
    third = measured(server, tmp_path, "1.0")
    assert (third.folder.name, third.results[0].name) == ("versions_20261118_2", "1.0_20261118_2")
    assert third.summary.pairs == []


def test_rankings_that_do_not_give_the_figures_are_refused(compared: VersionsOutcome, tmp_path: Path) -> None:
    folder = compared.results[0]
    assert len(open_result(folder).rankings.questions) == len(rows(folder))
    changed = rows(folder)
    for row in changed:
        row["gold"] = row["gold"][:1]
        row["hits"].reverse()
    forged = tmp_path / "forged"
    forged.mkdir()
    shutil.copy(folder / "metrics.json", forged)
    (forged / "raw_retrievals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))
    with pytest.raises(InputError, match="forged: the rankings do not give the figures"):
        assert open_result(forged).rankings
    (forged / "raw_retrievals.jsonl").write_text('{"question_id": ')
    with pytest.raises(InputError, match=r"forged/raw_retrievals\.jsonl, line 1: can't be read"):
        assert open_result(forged).rankings


def test_nothing_to_measure_is_blocked(server: str, tmp_path: Path) -> None:
    with pytest.raises(Blocked) as caught:
        measured(server, tmp_path, BROKEN, "7.7")
    assert caught.value.problem == "none of the versions could be measured"
    assert f"{BROKEN} not installed: " in caught.value.found
    assert "7.7 not installed: the server does not offer pgmnemo 7.7" in caught.value.found
    assert list(tmp_path.iterdir()) == []
