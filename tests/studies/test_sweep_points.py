"""The points of a sweep as its file states them."""

from __future__ import annotations

from pathlib import Path

from recallbench.studies.sweep.drawing import draw_points
from recallbench.studies.sweep.file import SweepFile


def read(folder: Path, text: str) -> SweepFile:
    path = folder / "a.toml"
    path.write_text(text)
    return SweepFile.read(path)


def test_a_grid_has_every_combination_in_the_order_of_the_file(tmp_path: Path) -> None:
    file = read(tmp_path, '[parameters]\nk = [5, 10]\n[parameters.mmr]\nlambda = [0.5, 1]\n"weights" = [[1, 2]]\n')
    assert draw_points(file) == [
        {"k": "5", "mmr.lambda": "0.5", "mmr.weights": "1,2"},
        {"k": "5", "mmr.lambda": "1", "mmr.weights": "1,2"},
        {"k": "10", "mmr.lambda": "0.5", "mmr.weights": "1,2"},
        {"k": "10", "mmr.lambda": "1", "mmr.weights": "1,2"},
    ]


def test_draws_are_seeded_differ_and_stay_in_their_ranges(tmp_path: Path) -> None:
    text = (
        'method = "random"\ndraws = 30\nseed = 7\n[parameters]\n'
        '"set.ef_search" = {from = 10, to = 1000, scale = "log"}\n'
        '"mmr.lambda" = {from = 0.25, to = 0.75}\nk = [5, 10]\n'
    )
    points = draw_points(read(tmp_path, text))
    assert points == draw_points(read(tmp_path, text))
    assert points != draw_points(read(tmp_path, text.replace("seed = 7", "seed = 8")))
    assert len({tuple(point.items()) for point in points}) == 30
    efs = sorted(int(point["set.ef_search"]) for point in points)
    assert efs[0] >= 10
    assert efs[-1] <= 1000
    assert efs[15] < 300  # half of a logarithmic range lies below its geometric middle, 100
    assert all(0.25 <= float(point["mmr.lambda"]) <= 0.75 for point in points)
    assert {point["k"] for point in points} == {"5", "10"}


def test_there_are_no_more_draws_than_different_points(tmp_path: Path) -> None:
    file = read(tmp_path, 'method = "random"\ndraws = 50\n[parameters]\nk = {from = 1, to = 4}\n')
    assert sorted(point["k"] for point in draw_points(file)) == ["1", "2", "3", "4"]
