"""`recallbench sweep` over tenants: whole tenants are the units of its intervals, and are filled in another order."""

from __future__ import annotations

from pathlib import Path

from commandline import recallbench
from labelled_sets import beir
from sweeps import document

HALVED = '''
def open_memory(items, vectors, *, half=0):
    """Finds the item whose text is the query's; with `half` it finds nothing of the first four tenants."""
    known = {item.text: item.id for item in items}

    def search(query, k):
        return [] if half and query.text < "tenant 4" else [(known[query.text], 1.0)]

    return search

open_memory.needs_vectors = False
'''
FILLED = '''
opened = []

def open_memory(items, vectors):
    """Finds the item whose text is the query's, unless its tenant is filled earlier than its number says."""
    known = {item.text: item.id for item in items}
    early = len(opened) % 8 < int(items[0].text.removeprefix("tenant ")[0])
    opened.append(items)
    return lambda query, k: [] if early else [(known[query.text], 1.0)]

open_memory.needs_vectors = False
'''
RUN = '[run]\nstore = "python:memory:open_memory"\nout = "out"\n'


def eight_tenants(folder: Path) -> None:
    """Eight tenants of ten items, each asked for by its own text."""
    named = [(tenant, f"{tenant}{n}", f"tenant {tenant}, text {n}") for tenant in range(8) for n in range(10)]
    documents = [{"_id": f"d{id}", "tenant": f"t{tenant}", "text": text} for tenant, id, text in named]
    queries = [{"_id": f"q{id}", "tenant": f"t{tenant}", "text": text} for tenant, id, text in named]
    judged = "".join(f"q{id}\td{id}\t1\n" for _, id, _ in named)
    beir(folder / "team", documents, queries, test=f"query-id\tcorpus-id\tscore\n{judged}")


def test_a_step_that_moves_half_of_the_tenants_is_as_unsure_as_eight_of_them(tmp_path: Path) -> None:
    eight_tenants(tmp_path)
    (tmp_path / "memory.py").write_text(HALVED)
    (tmp_path / "tune.toml").write_text(f"{RUN}[parameters]\nset.half = [1, 0]\n")
    assert recallbench("sweep", "tune.toml", "team", "--sensitivity", "-q", cwd=tmp_path).returncode == 0
    (step,) = document(tmp_path)["sensitivity"]["steps"]
    # Four tenants move by 1 and four by 0. Of the 255 sets of tenants 15 have a mean of 0, and 15 one of 1.
    assert (step["mean"], step["low"], step["high"]) == (0.5, 0.0, 1.0)
    assert step["interval"] == "95% by 256 sign flips of 8 clusters"


def test_each_seed_fills_the_tenants_in_an_order_of_its_own(tmp_path: Path) -> None:
    eight_tenants(tmp_path)
    (tmp_path / "memory.py").write_text(FILLED)
    (tmp_path / "tune.toml").write_text(f"{RUN}[[point]]\nk = 10\n")
    words = ("sweep", "tune.toml", "team", "--repeats", "2", "--seeds", "4", "-q")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    swept = document(tmp_path)
    # In the order of the files none is early.
    assert swept["points"][0]["estimate"]["value"] == 1.0
    runs = swept["stability"]["spreads"][0]["runs"]
    assert [len(set(of_seed)) for of_seed in runs] == [1] * 4
    assert len({of_seed[0] for of_seed in runs}) > 1
    assert max(of_seed[0] for of_seed in runs) < 1.0
