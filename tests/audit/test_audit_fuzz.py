"""An audit of any folder ends with a verdict or a refusal, and a changed folder never passes."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audited_copies import audit_copy
from commandline import recallbench
from recallbench.audit.difference import ROUNDING
from recallbench.errors import RecallBenchError
from recallbench.results.manifest import build

BYTES = {"RB-MANIFEST", "RB-COMMITTED"}
"""Checks of bytes alone: a change must be seen without them."""
FILES = ("metrics.json", "raw_retrievals.jsonl", "run.trec", "run.bm25.trec", "qrels.trec", "report.md")
fuzzed = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.just([])
    | st.just({})
)


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("genuine")
    words = ("run", "canary-locomo", "--store", "bm25", "--limit", "20", "--folder", "result", "-q")
    assert recallbench(*words, cwd=workspace).returncode == 0
    return workspace / "result"


@pytest.fixture
def folder(genuine: Path, tmp_path: Path) -> Path:
    return tmp_path / "result"


def fresh(genuine: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(genuine, folder)
    return folder


def failing_checks(folder: Path) -> set[str]:
    """Return the codes that do not pass, without those of bytes; a refusal counts."""
    (folder / "manifest.json").write_text(build(folder))
    try:
        report = audit_copy(folder)
    except RecallBenchError as error:
        return {str(error)}
    wrong = [check for check in report.checks if check.status != "pass" and check.code not in BYTES]
    assert not any("broke down" in check.observed for check in wrong), [check.observed for check in wrong]
    assert report.verdict.label != "VERIFIED"
    return {check.code for check in wrong}


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    nothing = True
    for key, item in inner:
        nothing = False
        yield from leaves(item, (*path, key))
    if nothing:
        yield path


def put(document: Any, path: tuple[str | int, ...], value: object) -> object:
    """Set a leaf, and return its value of before."""
    for step in path[:-1]:
        document = document[step]
    before, document[path[-1]] = document[path[-1]], value
    return before


def alike(first: object, second: object) -> bool:
    """Return whether both are the same value, numbers up to rounding."""
    numbers = (int, float)
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, numbers) and isinstance(second, numbers):
        return abs(first - second) <= ROUNDING
    return type(first) is type(second) and first == second


def test_the_unchanged_folder_lacks_only_a_commit(genuine: Path, folder: Path) -> None:
    (fresh(genuine, folder) / "manifest.json").write_text(build(folder))
    report = audit_copy(folder)
    assert [check.code for check in report.checks if check.status != "pass"] == ["RB-COMMITTED"]


@given(data=st.data())
@fuzzed
def test_a_changed_value_of_the_metrics_never_passes(genuine: Path, folder: Path, data: st.DataObject) -> None:
    path = fresh(genuine, folder) / "metrics.json"
    metrics = json.loads(path.read_text())
    leaf = data.draw(st.sampled_from(sorted(leaves(metrics), key=str)))
    value = data.draw(scalars)
    if alike(put(metrics, leaf, value), value):
        return
    path.write_text(json.dumps(metrics))
    assert failing_checks(folder), leaf


@given(data=st.data())
@fuzzed
def test_a_changed_value_of_a_row_never_passes(genuine: Path, folder: Path, data: st.DataObject) -> None:
    path = fresh(genuine, folder) / "raw_retrievals.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    row = data.draw(st.sampled_from(rows))
    leaf = data.draw(st.sampled_from(sorted(leaves(row), key=str)))
    value = data.draw(scalars)
    if leaf[-1] == "score" and isinstance(value, (int, float)):
        value = str(value)  # no check can refute a score that keeps the order
    if alike(put(row, leaf, value), value):
        return
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert failing_checks(folder), leaf


@pytest.mark.marked
@given(data=st.data(), name=st.sampled_from(FILES[1:]))
@fuzzed
def test_lines_dropped_doubled_or_swapped_never_pass(
    genuine: Path, folder: Path, data: st.DataObject, name: str
) -> None:
    path = fresh(genuine, folder) / name
    lines = path.read_text().splitlines(keepends=True)
    first, second = data.draw(st.integers(0, len(lines) - 1)), data.draw(st.integers(0, len(lines) - 1))
    changed = list(lines)
    kind = data.draw(st.sampled_from(["drop", "double", "swap"]))
    if kind == "drop":
        del changed[first]
    elif kind == "double":
        changed.insert(first, changed[first])
    else:
        changed[first], changed[second] = changed[second], changed[first]
    if "".join(changed).rstrip() == "".join(lines).rstrip():
        return
    path.write_text("".join(changed))
    assert failing_checks(folder), (name, kind, first, second)


@pytest.mark.marked
@given(content=st.binary(max_size=200), name=st.sampled_from((*FILES, "environment.json", "timings.jsonl")))
@fuzzed
def test_a_file_of_other_bytes_never_passes(genuine: Path, folder: Path, content: bytes, name: str) -> None:
    (fresh(genuine, folder) / name).write_bytes(content)
    assert failing_checks(folder)


@pytest.mark.marked
@given(data=st.data(), name=st.sampled_from(FILES))
@fuzzed
def test_a_file_cut_off_anywhere_never_passes(genuine: Path, folder: Path, data: st.DataObject, name: str) -> None:
    path = fresh(genuine, folder) / name
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 2))])
    assert failing_checks(folder)


@pytest.mark.marked
@given(name=st.sampled_from(FILES), data=st.data())
@fuzzed
def test_noise_in_any_byte_fails_the_seal(genuine: Path, folder: Path, name: str, data: st.DataObject) -> None:
    path = fresh(genuine, folder) / name
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(content))
    try:
        report = audit_copy(folder)
    except RecallBenchError:
        return
    assert "RB-MANIFEST" in {check.code for check in report.checks if check.status == "fail"}
