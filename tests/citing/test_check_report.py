from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from recallbench.citing.check_report import CheckedTexts, conclusion, document, printed
from recallbench.citing.citation_check import CheckedFigure, State
from recallbench.citing.declaration import Declaration
from recallbench.citing.figure_grammar import figures_in

A, B = Path("a.md"), Path("docs/b.md")


def figure(state: State, problem: str = "", line: int = 3, *, fails: bool = False, source: str = "") -> CheckedFigure:
    (cited,) = figures_in("recall@10 is 0.93")
    cited.line = line
    return CheckedFigure(cited, state, (problem,) if problem else (), source, fails)


def declared(line: int) -> CheckedFigure:
    one = replace(figure("not checkable", "commands there make it", line), by_word=True)
    one.figure.declared = Declaration(1, "commands", (), "recallbench run locomo")
    return one


def said(*figures: CheckedFigure, strict: bool = False) -> str:
    return str(conclusion(CheckedTexts({A: figures}, strict)))


def test_the_last_line_tells_the_states_and_what_to_do() -> None:
    right = figure("right", source="results/r")
    assert said(right, right) == "a.md: 2 figures: 2 right; each as its folder has it, which was audited just now"
    in_file = replace(figure("no folder named", "as c.csv has it, which no audit covers", source="c.csv"), by_word=True)
    assert said(right, in_file) == (
        "a.md: 2 figures: 1 right, 1 no folder named; nothing contradicts the text; 1 as data files have it, which no "
        "audit covers; next: commit the result folders and name them, and check with --strict"
    )
    assert said(in_file, declared(5)).startswith(
        "a.md: 2 figures: 1 not checkable, 1 no folder named; nothing contradicts the text; 1 as data files have it, "
        "which no audit covers; 1 by the text's own word that commands or others made it; next: "
    )
    assert CheckedTexts({A: [in_file]}, strict=True).failing == [(A, in_file)]
    assert said() == "a.md: no figure of a measure; so nothing was checked"
    wrong = figure("wrong", "r has 0.83", 9, fails=True)
    unnamed = figure("no folder named", "none is named", 7, fails=True)
    assert said(right, unnamed, wrong) == (
        "a.md: 3 figures: 1 right, 1 wrong, 1 no folder named; 2 may not stand as they do; next: mend a.md:9 first: "
        "r has 0.83"
    )
    assert said(right, unnamed) == (
        "a.md: 2 figures: 1 right, 1 no folder named; 1 may not stand as it does; next: name the result folder at "
        "a.md:7, or say where its figures are from: <!-- recallbench: figures from commands|others|samples|FILE.csv -->"
    )
    undisclosed = figure("right but undisclosed", "the text does not name the corpus: locomo", fails=True)
    assert said(undisclosed, unnamed).endswith(
        "next: say what is missing at a.md:3 first: the text does not name the corpus: locomo"
    )
    unaudited = figure("not checkable", "the corpus is not here", fails=True, source="results/r/report.md")
    fetched = replace(unaudited, remedy="recallbench fetch locomo")
    assert said(fetched).endswith("1 may not stand as it does; next: recallbench fetch locomo")
    other = replace(unaudited, remedy="recallbench fetch realtalk")
    assert said(fetched, fetched, other).endswith("; next: recallbench fetch locomo; recallbench fetch realtalk")


def test_what_was_not_compared_fails_when_strict() -> None:
    right, unread = figure("right", source="results/r"), figure("not checkable", "several figures are given")
    assert said(right, unread, declared(5)) == (
        "a.md: 3 figures: 1 right, 2 not checkable; nothing contradicts the text; 1 by the text's own word that "
        "commands or others made it; the others that are not right were not compared with anything; next: commit the "
        "result folders and name them, and check with --strict"
    )
    assert said(right, unread, strict=True) == (
        "a.md: 2 figures: 1 right, 1 not checkable; 1 may not stand as it does; next: a.md:3: several figures are given"
    )
    assert [one.state for _, one in CheckedTexts({A: [right, unread, declared(5)]}, True).failing] == [
        "not checkable",
        "not checkable",
    ]


def test_lines_lead_with_the_place_and_all_rows_have_every_figure() -> None:
    texts = CheckedTexts(
        {
            A: [figure("right", source="results/r"), declared(4), declared(4), declared(12)],
            B: [figure("wrong", "r has 0.83", 9, fails=True), figure("wrong", "r has 0.83", 9, fails=True)],
        }
    )
    output = printed(texts)
    assert output.parts == [
        "a.md:4-12: not checkable: 3 figures: commands there make it",
        "docs/b.md:9: wrong: recall@10 0.93, recall@10 0.93: r has 0.83",
    ]
    rows = output.render("csv").splitlines()
    assert rows[0] == "file,line,state,claim,faults,compared with"
    assert rows[1:3] == [
        "a.md,3,right,recall@10 0.93,,results/r",
        "a.md,4,not checkable,recall@10 0.93,commands there make it,",
    ]
    assert len(rows) == 7
    assert output.render("markdown").count("\n| a.md |") == 4
    assert output.render("html").count("<tr>") == 7


def test_what_concerns_a_folder_stands_once_below() -> None:
    lacking = ("r is not CANONICAL", "the text does not name the corpus: locomo")
    (value,), (mean,) = figures_in("recall@10 is 0.93"), figures_in("MRR is 0.5000")
    value.line, mean.line = 3, 4
    adding = "recallbench cite r --as-deviation"
    texts = CheckedTexts(
        {
            A: [
                CheckedFigure(value, "wrong", ("r has 0.83", *lacking), "r", True, lacking, adding),
                CheckedFigure(mean, "right but undisclosed", lacking, "r", True, lacking, adding),
            ],
            B: [CheckedFigure(value, "right but undisclosed", lacking[:1], "r", True, lacking[:1])],
        }
    )
    assert printed(texts).parts == [
        "a.md:3: wrong: recall@10 0.93: r has 0.83",
        "a.md:4: right but undisclosed: MRR 0.5000",
        "docs/b.md:3: right but undisclosed: recall@10 0.93",
        "a.md: r, in lines 3, 4:",
        "  r is not CANONICAL",
        "  the text does not name the corpus: locomo",
        "  what to add: recallbench cite r --as-deviation prints the words",
        "docs/b.md: r, in line 3:",
        "  r is not CANONICAL",
    ]


def test_the_document_has_every_figure_with_its_fate() -> None:
    texts = CheckedTexts({A: [figure("wrong", "r has 0.83", fails=True, source="results/r")]})
    assert document(texts) == {
        "file": "a.md",
        "files": ["a.md"],
        "figures": [
            {
                "file": "a.md",
                "line": 3,
                "claim": "recall@10 0.93",
                "names": ["recall@10"],
                "bound": None,
                "value": "0.93",
                "role": "value",
                "folders": [],
                "status": "wrong",
                "problems": ["r has 0.83"],
                "compared_with": "results/r",
                "fails": True,
            }
        ],
        "counts": {
            "right": 0,
            "right but undisclosed": 0,
            "wrong": 1,
            "not checkable": 0,
            "no folder named": 0,
        },
        "strict": False,
        "holds": False,
    }
    assert document(CheckedTexts({A: [], B: []}))["file"] is None
