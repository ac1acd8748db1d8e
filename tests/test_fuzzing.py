"""The trial of hostile input: a sample of it, and that it finds what it looks for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from fuzzing import campaign, trial
from fuzzing.__main__ import _campaign
from fuzzing.mutations import CHANGES, mutated
from fuzzing.readers import READERS, Reader
from fuzzing.trial import Outcome, attempt
from recallbench.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
QUICK = (
    "beam",
    "gold",
    "hub-file",
    "imports",
    "locomo",
    "longmemeval",
    "model-folders",
    "prices",
    "rankings-made-elsewhere",
)
QUICK += ("realmem", "realtalk", "trec", "vectors")
"""The readers that take a few milliseconds."""
EVERY_WAY = """
import os, tempfile
from pathlib import Path
from fuzzing import campaign, place
from fuzzing.readers import READERS
from fuzzing.trial import load_libraries
load_libraries()
with tempfile.TemporaryDirectory() as name:
    valid = Path(name)
    os.chdir(valid)
    assert place.make(valid) == []
    seen = set()
    for reader in READERS:
        file = campaign.matching(valid, reader)[0]
        for way in range(len(reader.ways)):
            if reader.ways[way] in seen:
                continue
            seen.add(reader.ways[way])
            one = campaign.Case(0, reader, file, way, (valid / file).read_bytes(), False)
            outcome = campaign.perform(valid, one)
            if not outcome.accepted or "No such option" in outcome.text or "Missing argument" in outcome.text:
                print(reader.name, reader.ways[way], outcome)
    os.chdir("/")
"""


def fuzz(*words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([ROOT / "scripts" / "fuzz", *words], capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    return done


@pytest.mark.marked
def test_spoilt_files_are_read_or_refused(tmp_path: Path) -> None:
    quick = [word for name in QUICK for word in ("--reader", name)]
    for words, count in ((quick, "600"), ([], "86")):
        done = fuzz("--seed", "7", "--cases", count, "--folder", str(tmp_path), *words)
        assert done.returncode == 0
        assert f"All {count} cases were read or refused in good order.\n" in done.stdout


@pytest.mark.marked
def test_every_way_of_every_reader_takes_its_valid_file() -> None:
    paths = os.pathsep.join(str(ROOT / name) for name in ("scripts", "tests"))
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "HF_"))}
    done = subprocess.run(
        [sys.executable, "-c", EVERY_WAY], env=env | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-2000:]


def test_the_names_of_readers_are_their_own() -> None:
    names = [reader.name for reader in READERS]
    assert len(set(names)) == len(names)
    assert set(QUICK) <= set(names)


def good() -> int:
    return 0


def refused() -> int:
    raise InputError("the file can't be read")


def broken() -> int:
    raise KeyError("a field")


def endless() -> int:
    while True:
        pass


def greedy() -> int:
    return len(bytearray(700 << 20)) and 0


def gone() -> int:
    os._exit(9)


@pytest.mark.parametrize(
    ("work", "kind", "signature"),
    [
        (good, "read", ""),
        (refused, "refused", ""),
        (broken, "defect", "KeyError test_fuzzing.py:broken"),
        (endless, "hang", "hang"),
        (greedy, "memory", "memory"),
        (gone, "died", "exit 9"),
    ],
)
def test_what_became_of_a_case_is_told(
    work: Callable[[], int], kind: str, signature: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "SECONDS", 2)
    # A worker that ran thousands of tests is large itself, and each fork of it has those pages but no mapped library's.
    own = re.search(r"^RssAnon:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert own is not None
    monkeypatch.setattr(trial, "MEGABYTES", trial.MEGABYTES + (int(own[1]) >> 10))
    outcome = attempt(work)
    assert (outcome.kind, outcome.signature) == (kind, signature)
    assert outcome.accepted is (kind in ("read", "refused"))


def test_a_change_follows_from_its_seed() -> None:
    data = b'{"a": [1, {"b": "c"}], "d": 0.5}\nq1 0 d1 1\n[run]\nk = 5\n'
    once, again, other = ([mutated(data, Random(f"{seed}:{i}")) for i in range(300)] for seed in (1, 1, 2))
    assert once == again
    assert once != other
    assert len(set(once)) > 200


@pytest.mark.parametrize("change", dict.fromkeys(CHANGES), ids=lambda change: change.__name__)
def test_every_change_takes_any_bytes(change: Callable[[bytes, Random], bytes]) -> None:
    large = b'{"a": 1%s}' % (b"0" * 400)
    for data in (b"", b"\n", b"\xff\xfe\x00", b"[]", large, b'{"a": {"b": [1, 2]}}\n{"a": 2}\n', b"a = 1\n"):
        for seed in range(20):
            assert isinstance(change(data, Random(seed)), bytes)


def breaks_at_x(path: Path) -> int:
    return 0 if b"x" not in path.read_bytes() else broken()


def test_what_goes_wrong_is_kept_and_can_be_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place, findings, log = tmp_path / "place", tmp_path / "findings", tmp_path / "done.jsonl"
    place.mkdir()
    (place / "file").write_bytes(b"abc")
    reader = Reader("tiny", ("file",), (breaks_at_x,))
    monkeypatch.setattr(campaign, "READERS", (reader,))
    one = campaign.Case(5, reader, "file", 0, b"axc", False)
    outcome = campaign.perform(place, one)
    assert (place / "file").read_bytes() == b"abc"
    folder = campaign.keep(findings, one, outcome)
    assert folder == findings / "tiny-5"
    told = (folder / "outcome.txt").read_text()
    assert told.startswith("defect: KeyError test_fuzzing.py:broken\nfile: file\nread by: breaks_at_x\n")
    assert f"again: scripts/fuzz --replay {folder}\n" in told
    assert "Traceback" in told
    assert campaign.perform(place, campaign.kept_case(folder)) == outcome

    tally = campaign.run(place, findings, 1, range(40), (reader,))
    assert tally.kinds.total() == 40
    assert tally.by_reader == {"tiny": 40}
    campaign.note(log, 3, tally)
    assert campaign.noted(log) == {3: tally}
    assert json.loads(log.read_text())["chunk"] == 3


def reads(path: Path) -> int:
    return len(path.read_bytes()) and 0


def test_what_is_done_is_not_done_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "CHUNK", 10)
    monkeypatch.setattr(trial, "MEGABYTES", 10_000)  # a fork counts what these tests hold themselves
    place, kept = tmp_path / "place", tmp_path / "kept"
    place.mkdir()
    kept.mkdir()
    (place / "file").write_bytes(b"abc")
    readers = [Reader("tiny", ("file",), (reads,))]
    told = []
    for cases in (30, 30, 60):
        assert _campaign(place, kept, 1, cases, 2, readers) == 0
        told.append((capsys.readouterr().out.splitlines()[-1], len((kept / "done.jsonl").read_text().splitlines())))
    sentence = "All {} cases were read or refused in good order."
    assert told == [(sentence.format(30), 3), (sentence.format(30), 3), (sentence.format(60), 6)]


def test_a_case_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b'{"a": 1}')
    reader = Reader("tiny", ("file",), (breaks_at_x, breaks_at_x))
    first, second = ([campaign.case(tmp_path, seed, i, (reader,)) for i in range(30)] for seed in (1, 1))
    assert first == second
    assert Outcome("read").accepted
