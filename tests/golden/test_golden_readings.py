"""What commands tell machines of results that the program made before it was rebuilt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from golden.formats import CHECKS, EXPECTED
from golden.reading import read_everything


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return read_everything(tmp_path_factory.mktemp("golden") / "repository")


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
