"""A latency study is read back as it was written, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallbench.errors import InputError
from recallbench.results import manifest
from recallbench.results.load.reading import read_latency


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no latency study"):
        read_latency(tmp_path / "none")
    (tmp_path / "latency.json").write_text('{"schema_version": "1"}\n')
    with pytest.raises(InputError, match="was changed") as error:
        read_latency(tmp_path)
    assert error.value.found == "manifest.json is missing"
    (tmp_path / manifest.NAME).write_text(manifest.build(tmp_path))
    with pytest.raises(InputError, match="no latency study of this release") as error:
        read_latency(tmp_path)
    assert error.value.found == "recallbench_version: Field required"
