"""One panel of a plot: marks over two axes, drawn as SVG in the colours of its page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from recallbench.escaping.web import html

INK, LINE, SECOND, THIRD, BAND = (f"var(--{name})" for name in ("ink", "line", "second", "third", "band"))
"""The colours that the page defines, light and dark."""
Shape = Literal["circle", "square", "triangle", "none"]
DASHES = {"solid": "", "dashed": "6 4", "dotted": "1.5 3"}
LEFT, RIGHT, TOP, BOTTOM = 50.0, 14.0, 12.0, 26.0
"""Room beside the axes, in pixels."""
WIDE = 10.0
"""From this ratio of the highest to the lowest on, an axis of prices has orders of magnitude."""
ALONE = 0.05
"""The share of a single price that is left free beside it."""
LETTER = 6.6
"""The width of a letter, in pixels, at the size of labels."""
ROW = 17.0
"""The height of a line of text."""


class Bounded(Protocol):
    """What has an interval: an estimate, or the movement of one."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


@dataclass(slots=True)
class Axis:
    """The range of values of an axis, with its ticks."""

    label: str = ""
    low: float | None = None
    """The lower end; None lets the values decide."""
    high: float | None = None
    ticks: Sequence[tuple[float, str]] = ()
    """Values with their labels; empty takes round values."""
    logarithmic: bool = False
    margin: float = 0.05
    """The share of the range that is left free at an end which the values decide."""

    def scale(self, values: Sequence[float], start: float, end: float) -> Callable[[float], float]:
        """Return the place of a value between two pixels; sets the ends that the values decide."""
        finite = [self._position(value) for value in values if math.isfinite(value)] or [0.0, 1.0]
        least, most = min(finite), max(finite)
        room = self.margin * (most - least) if most > least else 0.5
        low = least - room if self.low is None else self._position(self.low)
        high = most + room if self.high is None else self._position(self.high)
        self.low, self.high = self._value(low), self._value(high)
        return lambda value: start + (self._position(value) - low) / (high - low) * (end - start)

    def labelled(self) -> Sequence[tuple[float, str]]:
        """Return the ticks, once the scale is known."""
        rounded = decimal_ticks if self.logarithmic else round_ticks
        return self.ticks or rounded(self.low or 0.0, self.high or 0.0)

    def _position(self, value: float) -> float:
        return math.log(value) if self.logarithmic else value

    def _value(self, position: float) -> float:
        return math.exp(position) if self.logarithmic else position


def price_axis(label: str, prices: Sequence[float]) -> Axis:
    """Return the axis of times or sums: of orders of magnitude where the highest is many times the lowest."""
    low, high = min(prices), max(prices)
    if low == high > 0:  # one price stands in the middle, and nothing below 0 is a price
        return Axis(label, low * (1 - ALONE), high * (1 + ALONE))
    return Axis(label, logarithmic=low > 0 and high >= WIDE * low)


def round_ticks(low: float, high: float, most: int = 6) -> list[tuple[float, str]]:
    """Return round values between two, at most so many, with labels of the decimals that they need."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    first = math.ceil(low / step - 1e-9)
    values = [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]
    # Sums of a ten-millionth are told in powers of ten.
    return [(value, f"{value or 0.0:.{decimals}f}" if decimals < 7 else f"{value:.6g}") for value in values]


def decimal_ticks(low: float, high: float, most: int = 9) -> list[tuple[float, str]]:
    """Return values of one digit between two above 0, for an axis of orders of magnitude; at most so many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        values = [digit * 10.0**power for power in powers for digit in digits]
        within = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(within) <= most:
            break
    return [(value, f"{value:.4g}") for value in within]


@dataclass(slots=True)
class _Mark:
    """What is drawn, once the scales are known, with its entry in the legend."""

    draw: Callable[[Callable[[float], float], Callable[[float], float]], Iterable[str]]
    label: str = ""
    key: Callable[[float, float], str] | None = None
    """Draws the sample of the legend at a place."""


@dataclass(slots=True)
class Panel:
    """Marks over a horizontal and a vertical axis."""

    title: str = ""
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    marks: list[_Mark] = field(default_factory=list)
    _xs: list[float] = field(default_factory=list)
    _ys: list[float] = field(default_factory=list)

    def line(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        colour: str = LINE,
        label: str = "",
        shape: Shape = "circle",
        dash: str = "solid",
    ) -> None:
        """Draw points joined by a line; `dash` "none" leaves the line out, and a value that is no number its point."""
        self._include(xs, ys)
        points = [(x, y) for x, y in zip(xs, ys, strict=True) if math.isfinite(y)]

        def draw(at: Callable[[float], float], up: Callable[[float], float]) -> Iterator[str]:
            if dash != "none":
                yield _path([(at(x), up(y)) for x, y in points], colour, DASHES[dash])
            yield from (_point(shape, at(x), up(y), colour) for x, y in points)

        def key(x: float, y: float) -> str:
            stroke = "" if dash == "none" else _path([(x, y), (x + 22, y)], colour, DASHES[dash])
            return stroke + _point(shape, x + 11, y, colour)

        self.marks.append(_Mark(draw, label, key))

    def intervals(
        self,
        xs: Sequence[float],
        estimates: Sequence[Bounded],
        label: str = "95% interval of each value",
        colour: str = INK,
    ) -> None:
        """Draw the 95% interval of each value that has one. An empty label leaves it out of the legend."""
        bounds = [
            (x, estimate.low, estimate.high)
            for x, estimate in zip(xs, estimates, strict=True)
            if estimate.low is not None and estimate.high is not None
        ]
        self._include([x for x, _, _ in bounds], [end for _, *ends in bounds for end in ends])

        def draw(at: Callable[[float], float], up: Callable[[float], float]) -> Iterator[str]:
            return (_whisker(at(x), up(low), up(high), colour) for x, low, high in bounds)

        self.marks.append(_Mark(draw, label if bounds else "", lambda x, y: _whisker(x + 11, y - 6, y + 6, colour)))

    def boxes(
        self, xs: Sequence[float], lows: Sequence[float], highs: Sequence[float], half_width: float, label: str = ""
    ) -> None:
        """Draw a band from low to high around each place."""
        self._include([x + side for x in xs for side in (-half_width, half_width)], [*lows, *highs])

        def draw(at: Callable[[float], float], up: Callable[[float], float]) -> Iterator[str]:
            for x, low, high in zip(xs, lows, highs, strict=True):
                left, right = at(x - half_width), at(x + half_width)
                yield _box(left, up(high), right - left, up(low) - up(high))

        self.marks.append(_Mark(draw, label, lambda x, y: _box(x, y - 5, 22, 10)))

    def names(self, xs: Sequence[float], ys: Sequence[float], names: Sequence[str]) -> None:
        """Write a name beside each place: to its right, but for places near the right end."""
        self._include(xs, ys)

        def draw(at: Callable[[float], float], up: Callable[[float], float]) -> Iterator[str]:
            left, right = at(self.x.low or 0.0), at(self.x.high or 0.0)
            for x, y, name in zip(xs, ys, names, strict=True):
                near_end = at(x) + LETTER * len(name) + 7 > right and at(x) - left > right - at(x)
                yield _text(at(x) + (-7 if near_end else 7), up(y) - 5, name, "end" if near_end else "start")

        self.marks.append(_Mark(draw))

    def across(self, y: float, label: str, colour: str = INK, dash: str = "dashed") -> None:
        """Draw a line at one value over the whole width."""
        self._include([], [y])

        def draw(at: Callable[[float], float], up: Callable[[float], float]) -> Iterator[str]:
            yield _path([(at(self.x.low or 0.0), up(y)), (at(self.x.high or 0.0), up(y))], colour, DASHES[dash])

        self.marks.append(_Mark(draw, label, lambda x, y: _path([(x, y), (x + 22, y)], colour, DASHES[dash])))

    def upright(self, x: float, label: str, colour: str = INK, dash: str = "dotted") -> None:
        """Draw a line at one place over the whole height."""
        self._include([x], [])

        def draw(at: Callable[[float], float], up: Callable[[float], float]) -> Iterator[str]:
            yield _path([(at(x), up(self.y.low or 0.0)), (at(x), up(self.y.high or 0.0))], colour, DASHES[dash])

        self.marks.append(_Mark(draw, label, lambda x, y: _path([(x, y), (x + 22, y)], colour, DASHES[dash])))

    def svg(self, top: float, width: float, height: float) -> tuple[list[str], float]:
        """Return the elements of the panel below a place, and where it ends; `height` is that of its axes."""
        above = top + TOP + (ROW if self.title else 0.0)
        names = self.y.label.split("\n") if self.y.label else []
        left, right, base = LEFT + 15 * len(names), width - RIGHT, above + height
        at = self.x.scale(self._xs, left, right)
        up = self.y.scale(self._ys, base, above)
        lines = [_text(width / 2, top + ROW, self.title, "middle", weight="600")] if self.title else []
        for y, name in self.y.labelled():
            lines += [_path([(left - 4, up(y)), (left, up(y))], INK), _text(left - 7, up(y) + 4, name, "end")]
        ticks = self.x.labelled()
        room = (right - left) / max(1, len(ticks))
        slanted = any(len(name) * LETTER > room for _, name in ticks)
        for x, name in ticks:
            lines.append(_path([(at(x), base), (at(x), base + 4)], INK))
            turn = f' transform="rotate(-35 {at(x):.1f} {base + 15:.1f})"' if slanted else ""
            lines.append(_text(at(x), base + 17, name, "end" if slanted else "middle", more=turn))
        lines.append(_path([(left, above), (left, base), (right, base)], INK))
        for mark in self.marks:
            lines += mark.draw(at, up)
        below = base + BOTTOM
        if slanted:
            below += 0.6 * LETTER * max(len(name) for _, name in ticks)
        if self.x.label:
            lines.append(_text((left + right) / 2, below + 10, self.x.label, "middle"))
            below += ROW
        for i, text in enumerate(names):
            x, y = 15.0 + 15 * i, (above + base) / 2
            lines.append(_text(x, y, text, "middle", more=f' transform="rotate(-90 {x:.1f} {y:.1f})"'))
        legend, end = self._legend(left, below, right)
        return [*lines, *legend], end

    def _include(self, xs: Iterable[float], ys: Iterable[float]) -> None:
        self._xs += xs
        self._ys += ys

    def _legend(self, left: float, top: float, right: float) -> tuple[list[str], float]:
        lines: list[str] = []
        x, y = left, top + ROW
        for mark in self.marks:
            if not mark.label or mark.key is None:
                continue
            first, *more = mark.label.split("\n")
            width = 48 + LETTER * max(len(first), *map(len, more), 0)
            if x > left and x + width > right:
                x, y = left, y + ROW
            lines += [mark.key(x, y - 4), _text(x + 30, y, first)]
            for text in more:  # a label of several lines has a row of its own
                x, y = right, y + ROW
                lines.append(_text(left + 30, y, text))
            x += width
        return lines, y + 8 if lines else top


def _path(points: Sequence[tuple[float, float]], colour: str, dashes: str = "") -> str:
    steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{steps}" fill="none" stroke="{colour}" stroke-width="1.2"{dashed}/>'


def _point(shape: Shape, x: float, y: float, colour: str) -> str:
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    if shape == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
    if shape == "triangle":
        return f'<path d="M{x:.1f},{y - 4.5:.1f} l4.5,8 h-9 z" fill="{colour}"/>'
    return ""


def _whisker(x: float, low: float, high: float, colour: str) -> str:
    ends = "".join(f" M{x - 5:.1f},{y:.1f} h10" for y in (low, high))
    return f'<path d="M{x:.1f},{low:.1f} V{high:.1f}{ends}" fill="none" stroke="{colour}" stroke-width="1.4"/>'


def _box(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{BAND}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", weight: str = "", more: str = "") -> str:
    heavy = f' font-weight="{weight}"' if weight else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{heavy}{more}>{html(text)}</text>'
