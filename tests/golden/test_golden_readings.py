"""What commands tell machines of results that the program made before it was rebuilt."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from golden.formats import CHECKS, EXPECTED, RESULTS, SIGNED
from golden.likeness import shape
from golden.reading import read_everything


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("golden") / "repository"


@pytest.fixture(scope="module")
def read(repository: Path) -> dict[str, Any]:
    return read_everything(repository)


@pytest.mark.parametrize("name", CHECKS)
def test_a_golden_result_reads_as_ever(read: dict[str, Any], name: str) -> None:
    before = json.loads((EXPECTED / f"{name}.json").read_text())
    assert read[name] == before
    assert list(flat(read[name])) == list(flat(before)), "fields come in another order"


def flat(document: Any, path: str = "") -> Iterator[str]:
    """The path of every value in a document, in its order."""
    if isinstance(document, dict):
        for name, part in document.items():
            yield from flat(part, f"{path}.{name}")
    elif isinstance(document, list):
        for part in document:
            yield from flat(part, path)
    else:
        yield path


def test_every_expected_file_is_looked_at() -> None:
    assert {path.stem for path in EXPECTED.iterdir()} == set(CHECKS)


@pytest.mark.usefixtures("read")
def test_an_attestation_signs_the_same_bytes(repository: Path) -> None:
    path = repository / f"{SIGNED}.attestation.json"
    before, now = (json.loads(one.read_text()) for one in (RESULTS / path.name, path))
    statement = json.loads(base64.b64decode(now["payload"]))
    since = {name: statement["predicate"].pop(name) for name in ("outcome", "not_checked", "not_derivable")}
    assert (since["outcome"], since["not_checked"]) == ("holds", [])
    kept = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    assert kept == base64.b64decode(before["payload"])
    assert shape(now) == shape(before)
    assert [sorted(signature) for signature in now["signatures"]] == [["keyid", "sig"]]
