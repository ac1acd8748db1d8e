"""What a text may say of where its figures are from, and what of it is held to be so."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallbench.audit.audit import Audit
from recallbench.audit.decision import Verdict
from recallbench.citing.citation_check import CheckedFigure, check
from recallbench.citing.declaration import declaration, measuring
from recallbench.errors import InputError

CELLS = """corpus,encoder,n,recall_any@10,recall_any@10 low,recall_any@10 high,mrr@50
talk,minilm,725,0.8427586,0.7589,0.9006,0.4663
talk,minilm@128,725,0.7876,0.7252,0.8383,0.4564
talk,chance,725,0.6222,,,0.2353
talk-turns,minilm,705,0.5504,0.4603,0.6375,0.3332
"""


def checked(place: Path, text: str) -> list[CheckedFigure]:
    def examine(folder: Path) -> Audit:
        raise AssertionError(f"{folder} was audited")

    (place / "cells.csv").write_text(CELLS)
    (place / "page.md").write_text(text)
    return list(check(place / "page.md", examine))


def states(place: Path, text: str) -> list[tuple[int, str, bool, tuple[str, ...]]]:
    return [(one.figure.line, one.state, one.fails, one.problems) for one in checked(place, text)]


@pytest.mark.parametrize(
    ("text", "origin", "files"),
    [
        ("<!-- recallbench: figures from commands -->", "commands", ()),
        ("<!--recallbench: figures from\nothers-->\n", "others", ()),
        ("<!-- recallbench: figures from samples -->", "samples", ()),
        ("<!-- recallbench: figures from a.csv, b/c.json -->", "files", ("a.csv", "b/c.json")),
    ],
)
def test_a_comment_declares_an_origin(text: str, origin: str, files: tuple[str, ...]) -> None:
    found = declaration(text, 7)
    assert found is not None
    assert (found.line, found.origin, found.files, found.commands) == (7, origin, files, "")


def test_another_comment_declares_nothing() -> None:
    assert declaration("<!-- figures from commands -->", 1) is None
    assert declaration("<p>recallbench: figures from commands</p>", 1) is None


@pytest.mark.parametrize("said", ["figures from somewhere", "figures", "figures from a.csv commands", "", "ignore"])
def test_a_comment_to_this_program_that_can_not_be_read_is_refused(tmp_path: Path, said: str) -> None:
    with pytest.raises(InputError, match=r"page.md, line 3: this comment to recallbench can't be read") as refused:
        checked(tmp_path, f"# T\n\n<!-- recallbench: {said} -->\n")
    assert "commands|others|samples|FILE.csv" in str(refused.value)


@pytest.mark.parametrize(
    ("line", "measuring_line"),
    [
        ("recallbench run locomo --store bm25", "recallbench run locomo --store bm25"),
        (
            "$ OMP_NUM_THREADS=1 .venv/bin/recallbench  matrix --encoders a",
            "$ OMP_NUM_THREADS=1 .venv/bin/recallbench  matrix --encoders a",
        ),
        ("python benchmarks/locomo/runner.py", "python benchmarks/locomo/runner.py"),
        ("scripts/run", "scripts/run"),
        ("recallbench run canary   # not locomo", "recallbench run canary"),
        ("recallbench run \\\n  locomo", "recallbench run  locomo"),
        ("recallbench audit results/r", ""),
        ("recallbench fetch locomo", ""),
        ("# recallbench run locomo", ""),
        ("pip install recallbench", ""),
        ("recallbench fetch locomo\nrecallbench run realmem", "recallbench run realmem"),
        (
            "recallbench fetch locomo\nfor corpus in realmem; do\n  recallbench run $corpus\ndone",
            "cd x\nfor corpus in realmem; do\n  recallbench run $corpus\ndone",
        ),
    ],
)
def test_a_command_that_measures_makes_figures(line: str, measuring_line: str) -> None:
    assert measuring(f"cd x\n{line}\n") == measuring_line


def test_figures_of_commands_are_not_checkable_and_do_not_fail(tmp_path: Path) -> None:
    reason = "commands there make it, as line 3 says: they were not run"
    text = "# T\n\n<!-- recallbench: figures from commands -->\n{}\n## U\n\nrecall@10 is 0.93.\n\nMRR 0.5 (results/x)\n"
    ran = text.format("\n```sh\nrecallbench run locomo\n```\n")
    assert states(tmp_path, ran) == [
        (11, "not checkable", False, (reason,)),
        (13, "not checkable", False, (reason,)),
    ]
    lacking = "line 3 says that commands make it, and none stands there"
    assert states(tmp_path, text.format("")) == [
        (7, "no folder named", True, (lacking,)),
        (9, "no folder named", True, (lacking,)),
    ]


def test_a_declaration_ends_with_its_section(tmp_path: Path) -> None:
    text = "# T\n\n```sh\nrecallbench run locomo\n```\n\n## A\n\nrecall@10 is 0.91.\n\n"
    text += "<!-- recallbench: figures from {} -->\n\nrecall@10 is 0.92.\n\n"
    text += "### B\n\nrecall@10 is 0.93.\n\n## C\n\nrecall@10 is 0.94.\n"
    assert [(line, state, fails) for line, state, fails, _ in states(tmp_path, text.format("commands"))] == [
        (9, "no folder named", True),
        (13, "not checkable", False),
        (17, "not checkable", False),
        (21, "no folder named", True),
    ]
    assert [(line, state, fails) for line, state, fails, _ in states(tmp_path, text.format("others"))] == [
        (9, "no folder named", True),
        (13, "not checkable", False),
        (17, "not checkable", False),
        (21, "no folder named", True),
    ]
    # What is said in prose is no sample of output.
    assert [(line, state, fails) for line, state, fails, _ in states(tmp_path, text.format("samples"))] == [
        (9, "no folder named", True),
        (13, "no folder named", True),
        (17, "no folder named", True),
        (21, "no folder named", True),
    ]


def test_only_tables_and_code_are_samples(tmp_path: Path) -> None:
    text = "<!-- recallbench: figures from samples -->\n\n| system | recall@10 |\n|---|---|\n| x | 0.93 |\n\n"
    text += "```\nrecall@10 0.92\n```\n\nWe reach recall@10 0.91.\n\n- recall@10 is 0.90\n"
    unnamed = ("no result folder is named for it",)
    assert states(tmp_path, text) == [
        (11, "no folder named", True, unnamed),
        (13, "no folder named", True, unnamed),
    ]


def test_commands_have_to_measure_the_corpus_that_is_named(tmp_path: Path) -> None:
    def fault(command: str, said: str, heading: str = "U") -> str:
        text = (
            f"# T\n\n<!-- recallbench: figures from commands -->\n\n```sh\n{command}\n```\n\n## {heading}\n\n{said}\n"
        )
        (one,) = states(tmp_path, text)
        lacking = one[3][0].startswith("line 3 says")
        assert (one[1], one[2]) == ("no folder named" if lacking else "not checkable", lacking)
        return one[3][0].partition(", and ")[2]

    on_locomo = "On LoCoMo recall@10 is 0.93."
    assert fault("recallbench run locomo", on_locomo) == ""
    assert fault("recallbench run all", on_locomo) == ""
    assert fault("recallbench run canary", on_locomo) == "none there measures locomo"
    assert fault("recallbench fetch locomo\nrecallbench run realmem", on_locomo) == "none there measures locomo"
    assert fault("recallbench run realmem  # locomo", on_locomo) == "none there measures locomo"
    assert fault("recallbench run locomo", "recall@10 is 0.93.", "LongMemEval-S") == "none there measures longmemeval"
    assert fault("recallbench run locomo", "recall@10 is 0.93.", "What we found") == ""
    assert fault("recallbench run realtalk-turns", "On REALTALK recall@10 is 0.93.") == "none there measures realtalk"
    assert fault("recallbench run beam-100k", "On BEAM recall@10 is 0.93.") == ""
    assert fault("recallbench run canary", "On canary-locomo recall@10 is 0.93.") == ""
    both = "On LoCoMo and RealMem together recall@10 is 0.93."
    assert fault("recallbench matrix --corpora locomo,realmem", both) == ""
    assert fault("recallbench run locomo", both) == "none there measures realmem"
    # The nearest words count.
    assert fault("recallbench run locomo", on_locomo, "RealMem") == ""


def test_what_has_a_folder_is_compared_with_it_whatever_is_declared(bm25_result: Path) -> None:
    page = bm25_result.parent.parent / "page.md"
    for origin in ("samples", "others", "commands", "none.csv"):
        page.write_text(
            f"<!-- recallbench: figures from {origin} -->\n\nOn canary-locomo, "
            "a deviation: recall@10 0.8454 (results/r)\n"
        )
        (one,) = check(
            page, lambda folder: Audit(folder, (), Verdict("VERIFIED", (), (), canonical=False), ("store: bm25",))
        )
        assert (one.state, one.problems) == ("wrong", ("r has 0.8354",))


PAGE = """<!-- recallbench: figures from cells.csv -->

## {heading}

| encoder | recall_any@10 | 95% interval of recall_any@10 | mrr@50 | CPU s |
|---|---|---|---|---|
| {row} | {value} | {interval} | {mrr} | 0.55 |
"""
TRUE = {
    "heading": "talk: 725 questions",
    "row": "minilm",
    "value": "0.8428",
    "interval": "0.7589 to 0.9006",
    "mrr": "0.4663",
}


def test_figures_of_a_data_file_are_compared_with_its_rows(tmp_path: Path) -> None:
    def both(**change: str) -> list[tuple[str, tuple[str, ...]]]:
        return [(state, problems) for _, state, _, problems in states(tmp_path, PAGE.format(**TRUE | change))]

    as_it_has = [("no folder named", ("as cells.csv has it, which no audit covers",))] * 2
    assert both() == as_it_has
    assert both(row="`minilm@128`", value="0.7876", interval="0.7252 to 0.8383", mrr="0.4564") == as_it_has
    assert both(row="*chance*", value="0.6222", interval="–", mrr="0.2353") == as_it_has
    turns = {"heading": "talk-turns", "value": "0.5504", "interval": "0.4603 to 0.6375", "mrr": "0.3332"}
    assert both(**turns) == as_it_has
    assert both(value="0.8438", interval="0.7589 to 0.9106", mrr="0.4564") == [
        (
            "wrong",
            (
                "cells.csv has 0.8428 for talk minilm",
                "the interval 0.7589 to 0.9106: cells.csv has 0.7589 to 0.9006",
            ),
        ),
        ("wrong", ("cells.csv has 0.4663 for talk minilm",)),
    ]
    assert both(row="mpnet") == [("not checkable", ("the text names no encoder of cells.csv for it",))] * 2
    assert both(heading="All of it") == [("not checkable", ("the text names no corpus of cells.csv for it",))] * 2
    several = "the text names 2 rows of cells.csv for it"
    assert both(row="minilm and chance") == [("not checkable", (several,))] * 2


def test_prose_is_compared_with_a_data_file_too(tmp_path: Path) -> None:
    said = "<!-- recallbench: figures from cells.csv -->\n\nOn talk, minilm reaches recall@10 {} (n = {}).\n"
    (same,) = checked(tmp_path, said.format("0.843", 725))
    assert (same.state, same.source, same.fails) == ("no folder named", "cells.csv", False)
    (kept,) = checked(tmp_path, said.format("of at least 0.84", 725))
    assert (kept.state, kept.fails) == ("no folder named", False)
    assert states(tmp_path, said.format("of at least 0.85", 725)) == [
        (3, "wrong", True, ("cells.csv has 0.8428 for talk minilm, which is not >= 0.85",))
    ]
    assert states(tmp_path, said.format("0.853", 705)) == [
        (3, "wrong", True, ("cells.csv has 0.8428 for talk minilm", "n = 705: cells.csv has 725"))
    ]


def test_a_data_file_has_to_be_there_and_to_be_data(tmp_path: Path) -> None:
    text = "<!-- recallbench: figures from {} -->\n\nrecall@10 is 0.93.\n"
    problem = "there is no file none.csv, which line 1 names"
    assert states(tmp_path, text.format("none.csv")) == [(3, "wrong", True, (problem,))]
    for name, content in (
        ("empty.csv", ""),
        ("numbers.csv", "recall_any@10\n0.93\n"),
        ("object.json", '{"a": 1}'),
        ("broken.json", "["),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=f"{name} can't be read as data"):
            checked(tmp_path, text.format(name))


def test_a_table_as_json_is_a_data_file(tmp_path: Path) -> None:
    (tmp_path / "table.json").write_text(
        '[{"name": "a", "recall_any@10": "0.9301"}, {"name": "b", "recall_any@10": 0.5}]'
    )
    text = "<!-- recallbench: figures from table.json -->\n\n| name | recall_any@10 |\n|---|---|\n| a | 0.9301 |\n"
    assert [one.state for one in checked(tmp_path, text + "| b | 0.5100 |\n")] == ["no folder named", "wrong"]


def test_the_folder_of_a_row_is_audited_where_it_is_there(bm25_result: Path) -> None:
    place = bm25_result.parent.parent
    text = (
        "<!-- recallbench: figures from table.csv -->\n\nEach deviates: canary-locomo is no registered corpus.\n\n"
        "| name | recall_any@10 |\n|---|---|\n| a | {} |\n"
    )

    def state(value: str, said: str, folder: str) -> tuple[str, tuple[str, ...], str]:
        (place / "table.csv").write_text(f"name,recall_any@10,folder\na,{value},{folder}\n")
        (place / "page.md").write_text(text.format(said))
        (one,) = check(
            place / "page.md",
            lambda folder: Audit(folder, (), Verdict("VERIFIED", (), (), canonical=False), ("store: bm25",)),
        )
        return one.state, one.problems, one.source

    assert state("0.8354", "0.8354", "results/r") == ("right", (), "results/r")
    assert state("0.9354", "0.9354", "results/r") == ("wrong", ("r has 0.8354",), "results/r")
    assert state("0.9354", "0.8354", "results/r") == ("wrong", ("table.csv has 0.9354 for a",), "table.csv")
    unaudited = ("as table.csv has it, which no audit covers",)
    assert state("0.9354", "0.9354", "results/none") == ("no folder named", unaudited, "table.csv")
