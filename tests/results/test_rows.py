"""Rows that are kept say what the file says, in little memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recallbench.results.rankings import HitIds
from recallbench.results.rows import NAME, KeptHit, PlacedHits, read_rows

FIELDS = {"question_id": "q", "scope": "s", "kind": "k", "cluster": "", "abstention": False, "denominators": ["all"]}
PLAIN = [{"rank": 1, "id": "s/7", "score": 0.5}, {"rank": 2, "id": "s/0", "score": -0.0}]


def kept(folder: Path, hits: list[dict[str, Any]], short: list[dict[str, Any]] | None = None) -> Any:
    row = FIELDS | {"candidates": 9, "gold": ["s/1"], "hits": hits}
    (folder / NAME).write_text(json.dumps(row | ({} if short is None else {"hits_of_k_call": short})) + "\n")
    return read_rows(folder)[0]


def test_hits_of_a_run_are_kept_by_place_and_score(tmp_path: Path) -> None:
    row = kept(tmp_path, PLAIN, PLAIN[:1])
    assert isinstance(row.hits, PlacedHits)
    assert isinstance(row.hits_of_k_call, PlacedHits)
    assert list(row.hits) == [KeptHit(1, "s/7", 0.5), KeptHit(2, "s/0", -0.0)]
    assert (row.hits[1], row.hits[-1], row.hits[:1], len(row.hits)) == (
        KeptHit(2, "s/0", 0.0),
        KeptHit(2, "s/0", 0.0),
        [KeptHit(1, "s/7", 0.5)],
        2,
    )
    assert str(row.hits[1].score) == "-0.0"


def test_hits_that_a_run_does_not_write_stay_as_the_file_has_them(tmp_path: Path) -> None:
    others = (
        {"rank": 3},
        {"id": "t/7"},
        {"id": "s/07"},
        {"id": "s"},
        {"id": "s/1234567890"},
        {"text": "what it says"},
    )
    for other in others:
        hit = PLAIN[0] | other
        row = kept(tmp_path, [hit, PLAIN[1]])
        assert not isinstance(row.hits, PlacedHits)
        assert [row.hits[0].model_dump(exclude_none=True), row.hits[1].id] == [hit, "s/0"]


def test_ids_are_those_of_the_hits_whatever_they_are_kept_as(tmp_path: Path) -> None:
    plain, other = kept(tmp_path, PLAIN), kept(tmp_path, [PLAIN[0] | {"id": "t/7"}])
    ids = HitIds([plain.hits, other.hits, ()])
    assert list(ids) == [("s/7", "s/0"), ("t/7",), ()]
    assert (ids[0], ids[1:]) == (("s/7", "s/0"), [("t/7",), ()])
    assert ids == (("s/7", "s/0"), ("t/7",), ())
    assert ids == HitIds([plain.hits, other.hits, ()])
    assert ids != (("s/7", "s/0"), ("t/7",), ("s/1",))
    assert ids != (("s/7", "s/0"), ("t/7",))
