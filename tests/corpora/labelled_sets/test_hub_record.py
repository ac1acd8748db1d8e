"""The record of a hub set's files, which lies in a folder that others may write to."""

from pathlib import Path

import pytest

from recallbench.corpora.labelled_sets.hub_record import NAME, read_record
from recallbench.errors import InputError


@pytest.mark.parametrize(
    "content",
    [b"\xff", b"[" * 100_000, b"[]", b'{"files": "\\ud800"}', b'{"files": {}, "pinned": []}', b"9" * 5000],
    ids=["not UTF-8", "nested without end", "a list", "half a character", "too little", "5000 digits"],
)
def test_a_record_that_can_not_be_read_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(InputError, match="can't be read"):
        read_record(tmp_path)
