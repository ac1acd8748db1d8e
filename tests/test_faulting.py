"""The trial of faults: a sample of each kind, and that it sees what it looks for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from faulting import campaign, place, warm
from faulting.campaign import KINDS, Note
from faulting.kills import SIGNALS, point
from faulting.phases import PHASES, SCENES
from faulting.servers import CASES, NOT_TRIED
from recallbench.scratch import Scratch

ROOT = Path(__file__).resolve().parents[1]
SERVERS = (("full", "ingest"), ("promoted", "search"))
SAMPLE = (
    *(f"kill-{number + len(PHASES) * (number % len(SIGNALS))}" for number in range(len(PHASES))),
    *(f"server-{number}" for number, (fault, phase) in enumerate(CASES) if (fault.name, phase) in SERVERS),
    "clock-1",
    "shared-1",
)
"""Every phase, the signals in turns, and one or two of each other kind."""


@pytest.mark.marked
@pytest.mark.parametrize("name", SAMPLE)
def test_a_fault_costs_nothing_but_time(name: str) -> None:
    done = campaign.do(7, name)
    assert done.problems == []
    if done.ended == NOT_TRIED:
        pytest.skip(done.about)


@pytest.mark.marked
def test_a_process_that_measures_again_and_again_stays_as_it_is() -> None:
    assert warm.many_runs(SCENES["corpus"], 24, 12).problems == []


def test_points_follow_from_the_seed_and_cover_phases_and_signals_evenly() -> None:
    once, again, other = ([point(seed, number) for number in range(30 * len(PHASES))] for seed in (1, 1, 2))
    assert once == again
    assert [(each.scene, each.share) for each in once] != [(each.scene, each.share) for each in other]
    pairs = [(each.phase, each.order) for each in once]
    assert {pairs.count(pair) for pair in pairs} == {10}
    assert len(set(pairs)) == 3 * len(PHASES)
    assert all(each.scene in SCENES for each in once)


def test_what_is_noted_is_not_done_again_and_a_finding_says_how_it_is(tmp_path: Path) -> None:
    log = tmp_path / "done.jsonl"
    wrong = Note("kill-3", "SIGTERM at line 5", "with exit code 2", 0, ["it left a folder"], 1.5)
    campaign.note(log, wrong)
    campaign.note(log, Note("kill-4", "SIGINT at line 5", "in good order", 64, [], 1.5))
    assert campaign.noted(log)["kill-3"] == wrong
    told = campaign.keep(tmp_path / "findings", 9, wrong).read_text()
    assert told == "SIGTERM at line 5\nagain: scripts/faults --seed 9 --replay kill-3\n\nit left a folder\n"


def test_a_case_that_is_none_is_named() -> None:
    with pytest.raises(SystemExit, match="there is no case flood-3: kill, ray, server, clock, shared, warm, each with"):
        campaign.kind_of("flood-3")
    assert campaign.kind_of("kill-17") == (KINDS[0], 17)


def test_what_is_left_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "GONE_WITHIN", 0.0)
    case = place.Place(tmp_path)
    before = case.names()
    room = Scratch(case.tmp, "recallbench-pg-")
    (case.work / "cache").mkdir()
    (case.work / "cache" / "half").write_text("")
    sleeping = subprocess.Popen(["sleep", "60"], cwd=case.work)
    try:
        command = Path(f"/proc/{sleeping.pid}/cmdline")
        while b"sleep" not in command.read_bytes():  # until it is the program that it becomes
            pass
        found = case.left_over()
    finally:
        sleeping.kill()
        sleeping.wait()
    assert found == [f"tmp/{room.path.name}", "process sleep\x0060\x00"]
    room.remove()
    assert case.left_over() == []
    assert case.names() - before == {"cache/half"}
