"""The file of a sweep: what is measured, which parameters are tried, and how their values are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Self, get_args

from recallbench.errors import InputError, UsageError
from recallbench.nearest_name import nearest_name
from recallbench.reading import document, toml
from recallbench.retrieval.pipeline.pipeline import option_texts

Method = Literal["grid", "list", "random"]
METHODS: tuple[Method, ...] = get_args(Method)
RUN = "run"
"""The table of a sweep's file that holds options of the command."""
KEYS = (RUN, "method", "draws", "seed", "parameters", "point", "baseline")
_RANGE = frozenset({"from", "to", "scale"})
SCALES = ("linear", "log")
SEED = 42


@dataclass(frozen=True, slots=True)
class ParameterRange:
    """The numbers that a random sweep draws a parameter from; whole ones where both ends are."""

    low: float
    high: float
    scale: str = "linear"

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are drawn."""
        return isinstance(self.low, int) and isinstance(self.high, int)


@dataclass(frozen=True, slots=True)
class SweepFile:
    """A sweep as its file states it; nothing in it was looked up yet."""

    name: str
    """The file's name without its ending."""
    sha256: str
    method: Method
    parameters: Mapping[str, Sequence[str] | ParameterRange] = field(default_factory=dict)
    """The values of each parameter, as text; of a grid or a random sweep."""
    listed: Sequence[Mapping[str, str]] = ()
    """The points of a list, each with the value of every parameter that it sets."""
    baseline: Mapping[str, str] | None = None
    """The parameters of the system as it is; None where the file names none."""
    draws: int = 0
    seed: int = SEED

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a sweep; raises InputError or UsageError, naming the place, where it is none."""
        table, content = _table(path)
        method = _method(table, path)
        draws, seed = _whole(table, "draws", path, 0), _whole(table, "seed", path, SEED)
        parameters = _parameters(table.get("parameters", {}), path, ranges=method == "random")
        listed = table.get("point", [])
        if not isinstance(listed, list) or not all(isinstance(point, dict) for point in listed):
            raise _wrong(path, "the points are no tables", "[[point]] for each", type(listed).__name__)
        if method == "list" and (parameters or not listed):
            raise _wrong(
                path, "a list has points and no parameters", "[[point]] for each", "[parameters]" if parameters else ""
            )
        if not listed and not parameters:
            raise _wrong(path, "it names nothing to measure", "[parameters] with their values, or [[point]] for each")
        if method != "list" and (listed or not parameters):
            raise _wrong(
                path, f"a {method} has parameters and no points", "[parameters]", "[[point]]" if listed else ""
            )
        if method == "random" and draws < 1:
            raise _wrong(path, "a random sweep says how many points it draws", "draws = 20", f"draws = {draws}")
        if method != "random" and "draws" in table:
            raise _wrong(path, "only a random sweep draws points", 'method = "random"', f'method = "{method}"')
        baseline = table.get("baseline")
        if baseline is not None and not isinstance(baseline, dict):
            raise _wrong(path, "the baseline is no table", "[baseline] with its parameters", str(baseline)[:60])
        return cls(
            path.stem,
            sha256(content).hexdigest(),
            method,
            parameters,
            tuple(option_texts(point) for point in listed),
            None if baseline is None else option_texts(baseline),
            draws,
            seed,
        )


def run_table(path: Path) -> dict[str, Any]:
    """Return the options of the command that a sweep's file holds; files that it names lie beside it."""
    table, _ = _table(path)
    options = table.get(RUN, {})
    if not isinstance(options, dict):
        raise _wrong(path, "[run] is no table", "[run] with options of the command", str(options)[:60])
    return {
        name: _beside(path, value) if name in ("pipeline", "corpus-file") else value for name, value in options.items()
    }


def _beside(path: Path, value: Any) -> Any:
    return str(path.parent / value) if isinstance(value, str) else value


def _table(path: Path) -> tuple[dict[str, Any], bytes]:
    try:
        content = document(path)
        table = toml(content.decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} can't be read as a sweep",
            expected='TOML with [parameters], such as "rrf.k" = [10, 60]',
            found=str(error),
            remedy="mend the file",
        ) from None
    unknown = sorted(table.keys() - set(KEYS))
    if unknown:
        near = nearest_name(unknown[0], KEYS)
        raise UsageError(
            f"{path.name}: a sweep has no `{unknown[0]}`",
            expected=", ".join(KEYS),
            found=unknown[0],
            remedy=f"you may mean {near}" if near else "options of the command stand under [run]",
        )
    return table, content


def _method(table: Mapping[str, Any], path: Path) -> Method:
    given = table.get("method", "list" if "point" in table else "grid")
    for method in METHODS:
        if method == given:
            return method
    near = nearest_name(str(given), METHODS)
    raise UsageError(
        f"{path.name}: there is no method `{given}`",
        expected=", ".join(METHODS),
        found=str(given),
        remedy=f"you may mean {near}" if near else "",
    )


def _whole(table: Mapping[str, Any], name: str, path: Path, default: int) -> int:
    value = table.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**9:
        raise _wrong(path, f"{name} is no number", f"{name} = a whole number of 0 or more", str(value)[:60])
    return value


def _parameters(table: Any, path: Path, prefix: str = "", *, ranges: bool) -> dict[str, Sequence[str] | ParameterRange]:
    """Return the values by parameter; those of a table inside are `table.name`."""
    if not isinstance(table, dict):
        raise _wrong(path, "[parameters] is no table", '"rrf.k" = [10, 60]', str(table)[:60])
    found: dict[str, Sequence[str] | ParameterRange] = {}
    for name, values in table.items():
        full = prefix + name
        if isinstance(values, dict) and {"from", "to"} <= values.keys() <= _RANGE:
            if not ranges:
                raise _wrong(path, f"`{full}` is a range", 'a list of values, or method = "random"', "from and to")
            found[full] = _range(values, full, path)
        elif isinstance(values, dict):
            found |= _parameters(values, path, f"{full}.", ranges=ranges)
        elif not isinstance(values, list) or not values:
            raise _wrong(path, f"`{full}` has no list of values", f"{full} = [one, two]", str(values)[:60])
        else:
            if tables := [value for value in values if isinstance(value, dict)]:
                raise _wrong(
                    path, f"`{full}` has a table among its values", f"{full} = [one, two]", str(tables[0])[:60]
                )
            texts = [option_texts({"": value})[""] for value in values]
            if len(set(texts)) < len(texts):
                twice = next(text for text in texts if texts.count(text) > 1)
                raise _wrong(path, f"`{full}` has a value twice", "each value once", twice)
            found[full] = tuple(texts)
    return found


def _range(values: Mapping[str, Any], name: str, path: Path) -> ParameterRange:
    low, high, scale = values["from"], values["to"], values.get("scale", "linear")
    numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high))
    if not numbers or not low < high:
        raise _wrong(path, f"the range of `{name}` is none", "from a number to a larger one", f"{low} to {high}")
    if scale not in SCALES or (scale == "log" and low <= 0):
        raise _wrong(path, f"`{name}` has no such scale", "linear, or log above 0", f"{scale} from {low}")
    return ParameterRange(low, high, scale)


def _wrong(path: Path, problem: str, expected: str, found: str = "") -> UsageError:
    return UsageError(f"{path.name}: {problem}", expected=expected, found=found or "none")
