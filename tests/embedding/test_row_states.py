"""A row is the user's own by its seal alone; any other is foreign until it is accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cache_rows import DIMS, OTHER, SEAL, fill, key, states, values

from forged_rows import forge
from recallbench.embedding.own_key import Seal
from recallbench.embedding.vector_cache import RECORD, RowState
from recallbench.errors import RecallBenchError

OWN, FOREIGN, ACCEPTED = RowState.OWN, RowState.FOREIGN, RowState.ACCEPTED


@pytest.mark.parametrize("seal", [OTHER, Seal(b"k" * 32, "another fingerprint")], ids=["user", "encoder"])
def test_rows_of_another_user_or_encoder_are_foreign(opened_cache: Any, seal: Seal) -> None:
    fill(opened_cache(seal), 1, 2)
    mine = opened_cache()
    fill(mine, 3)
    for opened in (mine, opened_cache()):
        assert states(opened, 1, 2, 3, 4) == [FOREIGN, FOREIGN, OWN, None]
        assert values(opened, 1, 2, 3) == [1.0, 2.0, 3.0]
    assert states(opened_cache(seal), 1, 2, 3) == [OWN, OWN, FOREIGN]


def test_rows_from_before_there_were_seals_are_foreign(opened_cache: Any, tmp_path: Path) -> None:
    fill(opened_cache(), 1, 2)
    (tmp_path / "c" / f"seals-{SEAL.owner}").unlink()
    old = opened_cache()
    assert states(old, 1, 2) == [FOREIGN, FOREIGN]
    fill(old, 3)
    assert states(opened_cache(), 1, 2, 3) == [FOREIGN, FOREIGN, OWN]


def nine(record: Any, vector: Any) -> None:
    vector[:] = 9


def test_a_vector_that_somebody_put_in_its_place_is_foreign(opened_cache: Any, tmp_path: Path) -> None:
    fill(opened_cache(), 1, 2, 3)
    forge(tmp_path / "c", [1], nine)
    again = opened_cache()
    assert states(again, 1, 2, 3) == [OWN, FOREIGN, OWN]
    assert values(again, 2) == [9.0]
    # Another row's seal does not make it one's own either.
    file = tmp_path / "c" / f"seals-{SEAL.owner}"
    file.write_bytes(file.read_bytes()[:16] * 3)
    assert states(opened_cache(), 2) == [FOREIGN]


def test_a_vector_that_is_changed_after_it_was_verified_is_refused(opened_cache: Any, tmp_path: Path) -> None:
    mine = opened_cache()
    fill(mine, 1, 2)
    rows = [mine.row(key(1)) or 0, mine.row(key(2)) or 0]
    assert mine.vectors(rows)[:, 0].tolist() == [1.0, 2.0]
    forge(tmp_path / "c", [1], nine)
    assert mine.vectors(rows[:1])[:, 0].tolist() == [1.0]
    with pytest.raises(RecallBenchError, match="vectors changed in the cache while they were in use") as caught:
        mine.vectors(rows)
    assert caught.value.found == "row 1 with other numbers"


def test_an_own_row_takes_the_place_of_a_foreign_one_that_came_first(opened_cache: Any, tmp_path: Path) -> None:
    mine = opened_cache()
    theirs = opened_cache(OTHER)
    theirs.append([key(1)], [0], [0], np.full((1, DIMS), 9, np.float32))
    fill(mine, 1)
    assert (values(mine, 1), states(mine, 1)) == ([1.0], [OWN])
    fill(mine, 1)
    assert (tmp_path / "c" / "index").stat().st_size == 2 * RECORD.itemsize


def test_accepted_rows_are_good_for_this_run_and_proven_ones_are_own_from_then_on(opened_cache: Any) -> None:
    fill(opened_cache(OTHER), 1, 2, 3)
    mine = opened_cache()
    rows = [mine.row(key(number)) or 0 for number in (1, 2, 3)]
    mine.accept(rows, rows[1:2])
    assert states(mine, 1, 2, 3) == [ACCEPTED, OWN, ACCEPTED]
    assert states(opened_cache(), 1, 2, 3) == [FOREIGN, OWN, FOREIGN]
    # A row that one user accepts stays the other's own.
    assert states(opened_cache(OTHER), 1, 2, 3) == [OWN] * 3


def test_a_seal_is_the_same_every_time_and_another_for_every_user_and_vector(opened_cache: Any, tmp_path: Path) -> None:
    fill(opened_cache(), 1)
    seals = []
    for seal in (SEAL, SEAL, OTHER):
        opened = opened_cache(seal)
        seals.append(opened.seal(opened.row(key(1)) or 0))
    forge(tmp_path / "c", [0], nine)
    changed = opened_cache()
    seals.append(changed.seal(changed.row(key(1)) or 0))
    assert seals[0] == seals[1]
    assert len(set(seals)) == 3
    assert not any(SEAL.owner.encode() in seal or b"k" * 8 in seal for seal in seals)
