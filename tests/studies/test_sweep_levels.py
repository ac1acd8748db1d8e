"""The levels between which a step is taken."""

from __future__ import annotations

from recallbench.studies.sweep.around import settings_around
from recallbench.studies.sweep.file import ParameterRange, SweepFile
from recallbench.studies.sweep.levels import parameter_levels


def test_values_of_a_grid_stand_in_the_order_of_the_file_and_one_alone_is_no_level() -> None:
    parameters = {"rrf.k": ("60", "1", "10"), "k": ("10",)}
    file = SweepFile("tune", "", "grid", parameters)
    assert parameter_levels(file, [], {"rrf.k": "1", "k": "10"}) == {"rrf.k": ("60", "1", "10")}


def test_what_was_drawn_from_a_range_is_ordered_by_size() -> None:
    file = SweepFile("tune", "", "random", {"set.ef_search": ParameterRange(10, 200), "k": ("5", "10")})
    points = [{"set.ef_search": value, "k": "5"} for value in ("120", "9e1", "30", "120")]
    assert parameter_levels(file, points, points[0]) == {"set.ef_search": ("30", "9e1", "120"), "k": ("5", "10")}


def test_of_a_list_only_what_the_chosen_point_sets_has_levels() -> None:
    points = [{"a": "1", "b": "x"}, {"a": "2"}, {"c": "7"}, {"b": "y", "a": "1"}]
    file = SweepFile("tune", "", "list", listed=points)
    assert parameter_levels(file, points, points[1]) == {"a": ("1", "2")}
    assert settings_around({"a": ("1", "2")}, points[0]) == [{"a": "1", "b": "x"}, {"a": "2", "b": "x"}]
