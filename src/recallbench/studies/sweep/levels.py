"""The levels of each parameter of a sweep, between which a step is taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recallbench.studies.sweep.file import ParameterRange, SweepFile


def parameter_levels(
    file: SweepFile, points: Sequence[Mapping[str, str]], chosen: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return the levels of each parameter that the chosen point sets and that has more than one.

    Values that are listed stand in the order of the file. Those that were drawn from a range are ordered by their size.
    """
    levels = {}
    for name in chosen:
        stated = file.parameters.get(name, ())
        if isinstance(stated, ParameterRange):
            values = tuple(sorted({point[name] for point in points}, key=float))
        else:
            values = tuple(stated) or tuple(dict.fromkeys(point[name] for point in points if name in point))
        if len(values) > 1:
            levels[name] = values
    return levels
