"""The gates of `recallbench sweep`: what they look at, and whether they are kept on questions held out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from recallbench.scoring.choice.split import split_questions
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


LUCKY = '''
def open_memory(items, vectors, *, hidden=0, of=""):
    """Finds the item whose text is the query's, but for the first so many of one part of the questions."""
    known = {item.text: item.id for item in items}
    missed = {f"text {number}" for number in PARTS.get(of, [])[:hidden]}
    return lambda query, k: [] if query.text in missed else [(known[query.text], 1.0)]

open_memory.needs_vectors = False
'''


@pytest.fixture
def lucky(tmp_path: Path) -> Path:
    """A team whose memory can be made to fail on one part of the questions alone."""
    tuned(tmp_path)
    drawn = split_questions([f"q{number}" for number in range(200)]).tuning.tolist()
    parts = {name: [n for n in range(200) if drawn[n] is (name == "tuning")] for name in ("tuning", "held_out")}
    (tmp_path / "memory.py").write_text(f"PARTS = {parts}\n{LUCKY}")
    return tmp_path


def swept(folder: Path, hidden: int, gate: str) -> tuple[int, str, dict[str, Any]]:
    """The exit code, what was printed and the choice of a sweep whose point misses so many of the held-out ones."""
    point, baseline = f'set.of = "held_out"\nset.hidden = {hidden}\n', 'set.of = "tuning"\nset.hidden = 6\n'
    (folder / "tune.toml").write_text(f"{RUN}[[point]]\n{point}[baseline]\n{baseline}")
    done = recallbench("sweep", "tune.toml", "team", "-q", "--gate", gate, cwd=folder)
    return done.returncode, done.stdout, document(folder, -1)["choice"]


@pytest.mark.parametrize(
    ("gate", "limit", "compared"),
    [("recall_any@10 >= 0.95", 0.95, False), ("recall_any@10 >= baseline", 1.0, True)],
)
def test_a_gate_that_only_luck_kept_fails_by_the_questions_held_out(
    lucky: Path, gate: str, limit: float, compared: bool
) -> None:
    code, printed, choice = swept(lucky, 40, gate)
    (told,) = choice["gates"]
    assert (code, choice["chosen"]) == (1, "p1")
    assert (told["gate"], told["tuning"], told["value"], told["limit"]) == (gate, 1.0, 0.5, limit)
    assert (told["kept"], told["outcome"], told["of_difference"]) == (False, "fails", compared)
    assert told["high"] < (0 if compared else 0.95)
    assert f"Gate {gate}, held out: missed, by its whole interval: 0.5" in printed
    last = printed.splitlines()[-1]
    assert last.startswith(f"Don't take p1: held out it is shown to miss {gate}; held-out recall_any@10 -0.")
    assert last.endswith("next: take another point, or hold out more questions")
    assert f"Gates: {gate}. Gates choose by the tuning questions" in printed
    folder = max((lucky / "out").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert "held out: missed, by its whole interval: 0.5" in (folder / "report.md").read_text()
    assert "Gates were judged by the questions to choose by" in (folder / "report.html").read_text()


def test_a_gate_that_held_out_questions_neither_keep_nor_miss_for_sure_is_said_and_passes(lucky: Path) -> None:
    code, printed, choice = swept(lucky, 5, "recall_any@10 >= 0.95")
    (told,) = choice["gates"]
    assert (code, told["value"], told["kept"], told["outcome"]) == (0, 0.9375, False, "inconclusive")
    assert told["low"] < 0.95 < told["high"]
    assert "Gate recall_any@10 >= 0.95, held out: missed as seen, but not shown: 0.9375 (95% 0." in printed
    assert "each with its share of resamples of the questions, prices as measured: p1 (100%)." in printed
    assert printed.splitlines()[-1].startswith("Keep the baseline: p1 is no better, held-out recall_any@10 -0.0625 (")
    code, printed, choice = swept(lucky, 0, "recall_any@10 >= 0.9")
    assert (code, choice["gates"][0]["outcome"]) == (0, "passes")
    assert "Gate recall_any@10 >= 0.9, held out: kept, by its whole interval: 1 (95% 0.9" in printed
    code, printed, choice = swept(lucky, 0, "recall_any@10 >= baseline")
    assert (code, choice["gates"][0]["method"]) == (0, "no question's value differs")


def test_times_are_held_to_their_gate_by_the_questions_held_out(lucky: Path) -> None:
    code, printed, choice = swept(lucky, 0, "p95 < 60000ms")
    (told,) = choice["gates"]
    assert (code, told["kept"], told["limit"]) == (0, True, 60000)
    assert 0 < told["value"] < 60000
    code, printed, choice = swept(lucky, 0, "usd_per_1000 < 9")
    assert (code, choice["gates"][0]["kept"]) == (0, True)
    assert "no interval: n/a (the cost is that of all questions)" in printed
