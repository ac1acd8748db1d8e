"""A panel's axes, marks and legend, by the numbers of its SVG."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest

from recallbench.reports.panel import Axis, Panel, decimal_ticks, price_axis, round_ticks
from recallbench.reports.plot import Plot
from recallbench.scoring.estimate import Estimate
from recallbench.scoring.measures.registry import parse

SVG = "{http://www.w3.org/2000/svg}"


def drawn(panel: Panel) -> ET.Element:
    return ET.fromstring(Plot("A title", 400, 200, [panel], "In words.").picture().encode())


def texts(panel: Panel) -> list[str]:
    return [text.text or "" for text in drawn(panel).iter(f"{SVG}text")]


def test_ticks_are_round_values_with_the_decimals_that_they_need() -> None:
    def labels(low: float, high: float) -> list[str]:
        return [label for _, label in round_ticks(low, high)]

    assert [round(value, 9) for value, _ in round_ticks(0.0, 1.02)] == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert labels(0.0, 1.02) == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert labels(0.913, 0.987) == ["0.92", "0.94", "0.96", "0.98"]
    assert labels(-3.0, 30.0) == ["0", "10", "20", "30"]
    assert labels(-0.011, 0.011) == ["-0.010", "-0.005", "0.000", "0.005", "0.010"]


def test_points_lie_on_the_scale_of_their_axes() -> None:
    panel = Panel(x=Axis(low=0.0, high=10.0), y=Axis(low=0.0, high=1.0))
    panel.line([0, 5, 10], [0.0, 0.5, 1.0], label="recall")
    points = [(float(p.get("cx", 0)), float(p.get("cy", 0))) for p in drawn(panel).iter(f"{SVG}circle")][:3]
    # 50 pixels at the left, 14 at the right, 12 above; the axes are 200 high.
    assert points == [(50.0, 212.0), (218.0, 112.0), (386.0, 12.0)]


def test_a_logarithmic_axis_has_equal_steps_for_equal_ratios() -> None:
    panel = Panel(x=Axis(ticks=[(1, "1"), (10, "10"), (100, "100")], logarithmic=True))
    panel.line([1, 10, 100], [1.0, 2.0, 3.0])
    first, second, third = (float(point.get("cx", 0)) for point in drawn(panel).iter(f"{SVG}circle"))
    assert math.isclose(second - first, third - second, abs_tol=0.2)


def test_an_interval_is_drawn_where_there_is_one() -> None:
    panel = Panel(x=Axis(low=0.0, high=3.0), y=Axis(low=0.0, high=1.0))
    measure = parse("recall_any@10")
    bounded = Estimate(measure, 0.5, 10, 0.25, 0.75, "Wilson", None, None, None, None)
    unbounded = Estimate(measure, 0.5, 1, None, None, "none", None, None, None, None)
    panel.intervals([1, 2], [bounded, unbounded])
    paths = [path.get("d") or "" for path in drawn(panel).iter(f"{SVG}path")]
    assert [re.match(r"M[\d.]+,([\d.]+) V([\d.]+)", path).groups() for path in paths] == [  # type: ignore[union-attr]
        ("162.0", "62.0"),
        ("245.0", "257.0"),  # the sample of the legend
    ]


def test_what_is_no_number_has_no_point() -> None:
    panel = Panel()
    panel.line([1, 2, 3], [0.1, math.nan, 0.3])
    assert len(list(drawn(panel).iter(f"{SVG}circle"))) == 2


def test_an_empty_panel_and_a_single_value_can_be_drawn() -> None:
    assert texts(Panel()) == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"] * 2
    single = Panel()
    single.line([7], [0.25])
    (point,) = drawn(single).iter(f"{SVG}circle")
    assert (point.get("cx"), point.get("cy")) == ("218.0", "112.0")  # in the middle


def test_the_legend_has_labelled_marks_alone_and_labels_of_several_lines() -> None:
    panel = Panel("Shown", Axis("k"), Axis("recall"))
    panel.line([1, 2], [0.1, 0.2], label="measured")
    panel.line([1, 2], [0.2, 0.3])
    panel.across(0.15, "chance\nat random")
    words = texts(panel)
    assert {"Shown", "k", "recall", "measured", "chance", "at random"} <= set(words)
    assert "" not in words


def test_markup_in_a_label_stays_text() -> None:
    panel = Panel("<b>&")
    panel.line([1], [1.0], label="$x$ <i>")
    assert {"<b>&", "$x$ <i>"} <= set(texts(panel))


def test_an_axis_of_orders_of_magnitude_has_round_ticks() -> None:
    assert [name for _, name in decimal_ticks(0.15, 30)] == ["0.2", "0.5", "1", "2", "5", "10", "20"]
    assert [name for _, name in decimal_ticks(1e-3, 1e5)] == [
        *("0.001", "0.01", "0.1", "1", "10", "100", "1000"),
        *("1e+04", "1e+05"),
    ]


def test_a_name_stands_inside_the_panel() -> None:
    panel = Panel(x=Axis(low=0.0, high=3.0), y=Axis(low=0.0, high=1.0))
    panel.names([1.0, 2.9], [0.5, 0.5], ["first", "the last one"])
    anchors = {text.text: text.get("text-anchor") for text in drawn(panel).iter(f"{SVG}text")}
    assert (anchors["first"], anchors["the last one"]) == ("start", "end")


def test_prices_stand_by_orders_of_magnitude_from_ten_times_on_and_one_alone_stands_in_the_middle() -> None:
    for prices, logarithmic in (([1.0, 9.9], False), ([1.0, 10.0], True), ([0.0, 10.0], False), ([3.0, 3.0], False)):
        assert price_axis("ms", prices).logarithmic is logarithmic
    alone = price_axis("USD", [2e-7])
    assert (alone.low, alone.high) == (pytest.approx(1.9e-7), pytest.approx(2.1e-7))
    at = alone.scale([2e-7], 0.0, 100.0)
    assert at(2e-7) == pytest.approx(50.0)
    assert "2e-07" in [label for _, label in alone.labelled()]
