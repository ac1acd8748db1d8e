"""Plots that are saved and drawn by a notebook, and objects that show themselves."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from base64 import b64decode
from pathlib import Path

import pytest

import recallbench
from recallbench.errors import InputError, UsageError
from recallbench.reports.table import Table

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def report() -> recallbench.Report:
    return recallbench.evaluate({"work?": ["acme"], "plan?": ["q3"]}, lambda query, k: ["acme"], k=5, candidates=10)


def test_a_report_draws_recall_and_precision_against_k(report: recallbench.Report, tmp_path: Path) -> None:
    plot = report.plot()
    plot.save(tmp_path / "report.svg")
    written = (tmp_path / "report.svg").read_text()
    assert written == report.plot().picture()
    assert plot._repr_svg_() == written.replace("</style>", "svg { background: var(--ground) }</style>")
    root = ET.fromstring(written.encode())
    labels = [text.text for text in root.iter(f"{SVG}text")]
    assert {"recall_frac@k", "precision@k", "oracle", "chance", "1", "2", "3", "5"} <= set(labels)
    # Of the two cases one finds its id first, at every k.
    assert "recall_frac@1 0.5000 (0.0945 to 0.9055)" in plot.description
    assert "precision@5 0.1000" in repr(plot)


def test_a_plot_says_where_it_can_go(report: recallbench.Report, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a plot is saved as SVG"):
        report.plot().save("report.png")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="can't be written"):
        report.plot().save(tmp_path / "file" / "report.svg")
    nothing = recallbench.evaluate([recallbench.Case("never", kind="abstention")], lambda query, k: [])
    with pytest.raises(UsageError, match="there is nothing to draw"):
        nothing.plot()


def test_comparisons_and_tables_show_themselves(report: recallbench.Report) -> None:
    change = report.compare(report)
    assert str(change).splitlines()[0].startswith("measure ")
    assert "recall_frac@5: no case changed" in repr(change)
    assert "<p>recall_frac@5: no case changed" in change._repr_html_()
    assert '<th scope="row">recall_frac@5</th><td>0.5000</td>' in change._repr_html_()
    tradeoff = report.tradeoff((1, 5))
    assert "k = 1 has the highest f1@k" in repr(tradeoff)
    image = tradeoff._repr_html_().partition('src="data:image/svg+xml;base64,')[2].partition('"')[0]
    assert b64decode(image).decode() == tradeoff.plot()._repr_svg_()
    assert (str(Table(["a"], [["<"]])), Table(["a"], [["<"]])._repr_html_().count("&lt;")) == ("a\n<", 1)
