"""The gates of `recallbench sweep`: what they look at, and whether the chosen point keeps them on questions held out."""

from __future__ import annotations

from pathlib import Path

from commandline import recallbench
from sweeps import document, tuned

SEVENTH = '''
def open_memory(items, vectors, *, place=0):
    """Finds the item whose text is the query's at this place, behind others."""
    known = {item.text: item.id for item in items}

    def search(query, k):
        id = known[query.text]
        others = [each for each in sorted(known.values()) if each != id][:place]
        return [(each, 1.0 - 0.01 * rank) for rank, each in enumerate([*others, id])][:k]

    return search

open_memory.needs_vectors = False
'''
RUN = '[run]\nstore = "python:memory:open_memory"\nout = "out"\n'


def test_a_gate_judges_the_hits_that_a_point_hands_on_and_none_below(tmp_path: Path) -> None:
    tuned(tmp_path)
    (tmp_path / "memory.py").write_text(SEVENTH)
    (tmp_path / "tune.toml").write_text(f"{RUN}[parameters]\nset.place = [6]\nk = [5, 7, 10]\n")
    words = ("sweep", "tune.toml", "team", "-q", "--gate")
    assert recallbench(*words, "recall_any@10 >= 0.95", cwd=tmp_path).returncode == 0
    assert [point["passes"] for point in document(tmp_path)["points"]] == [False, True, True]
    # What needs more than five hits no point can keep.
    (tmp_path / "tune.toml").write_text(f"{RUN}[parameters]\nset.place = [4]\nk = [5]\n")
    assert recallbench(*words, "mrr@10 >= 0.2", cwd=tmp_path).returncode == 0
    refused = recallbench(*words, "returned_share@10 >= 0.6", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "at most 0.5000, what the best possible rankings reach here with 5 hits" in refused.stderr
