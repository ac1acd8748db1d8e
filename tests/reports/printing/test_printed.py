"""One output in each of the formats, with its conclusion."""

from __future__ import annotations

import json

from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.printed import Printed
from recallbench.reports.table import Table

ENDING = Conclusion("B finds more", "p .002", "recallbench cite B")
PRINTED = Printed(
    "Two <results>", ("a # line", "", Table(("measure", "B"), [("mrr@50", "0.5|")])), {"difference": 0.1}, ENDING
)


def test_text_ends_with_the_conclusion() -> None:
    assert PRINTED.render("text") == (
        "a # line\n\nmeasure  B\nmrr@50   0.5|\n\nB finds more; p .002; next: recallbench cite B\n"
    )


def test_json_has_the_conclusion_and_its_parts() -> None:
    assert json.loads(PRINTED.render("json")) == {
        "difference": 0.1,
        "conclusion": {
            "text": "B finds more; p .002; next: recallbench cite B",
            "happened": "B finds more",
            "belief": "p .002",
            "next": "recallbench cite B",
        },
    }


def test_csv_holds_rows_alone() -> None:
    assert PRINTED.render("csv") == "measure,B\nmrr@50,0.5|\n"


def test_a_sheet_of_its_own_goes_before_the_tables() -> None:
    sheet = Table(("x",), [("1",)])
    assert Printed("t", PRINTED.parts, {}, own_sheet=sheet).render("csv") == "x\n1\n"


def test_markdown_escapes_cells_and_lines() -> None:
    assert PRINTED.render("markdown") == (
        "a # line\n\n| measure | B |\n|---|---|\n| mrr@50 | 0.5\\| |\n\n"
        "**B finds more; p .002; next: recallbench cite B**\n"
    )


def test_a_page_escapes_its_title_and_ends_with_the_conclusion() -> None:
    page = PRINTED.render("html")
    assert "<h1>Two &lt;results&gt;</h1>" in page
    assert page.index("<td>0.5|</td>") < page.index("<p><strong>B finds more; p .002;") < page.index("</main>")


def test_a_page_of_its_own_gets_the_conclusion_too() -> None:
    own = Printed("t", (), {}, ENDING, own_page="<main>\nx\n</main>\n").render("html")
    assert own == "<main>\nx\n<p><strong>B finds more; p .002; next: recallbench cite B</strong></p>\n</main>\n"


def test_a_conclusion_leaves_out_what_is_empty() -> None:
    assert str(Conclusion("Nothing changed")) == "Nothing changed"
    assert str(Conclusion("Nothing changed", next="recallbench audit A")) == (
        "Nothing changed; next: recallbench audit A"
    )
