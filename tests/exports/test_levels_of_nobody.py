"""A study of latency whose levels are of a system that it does not name is refused, whatever its manifest says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from recallbench.errors import InputError
from recallbench.results import manifest
from recallbench.results.load.reading import read_latency


@pytest.mark.parametrize("part", ["rows", "saturation", "cold", "warm_up"])
def test_every_part_is_of_a_system(part: str, place: Path, tmp_path: Path) -> None:
    (measured,) = (place / "load").iterdir()
    folder = shutil.copytree(measured, tmp_path / "study")
    document = json.loads((folder / "latency.json").read_text())
    assert document[part][0]["side"] == "A"
    document[part][0]["side"] = "B"
    (folder / "latency.json").write_text(json.dumps(document))
    (folder / manifest.NAME).write_text(manifest.build(folder))
    with pytest.raises(InputError, match="no latency study of this release") as error:
        read_latency(folder)
    assert error.value.found == "something is of side B, and no system is"
