"""PROTOCOL.md and the data agree, and no value of either can change without being noticed."""

import copy
import re
from decimal import Decimal
from pathlib import Path

import pytest

from check_protocol import differences, leaves, main, written
from recallbench.protocol.frozen import Data, read_data

ROOT = Path(__file__).parents[2]
MARKDOWN = (ROOT / "PROTOCOL.md").read_text("utf-8")
DATA = read_data(number=Decimal)


def places(value, way=()):
    """The path to each value of a tree."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*way, key))
    elif isinstance(value, list | tuple) and value and not isinstance(value, str):
        for index, inner in enumerate(value):
            yield from places(inner, (*way, index))
    else:
        yield way


def changed(value):
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list):
        return ["x"]
    return value.replace(year=1999) if hasattr(value, "year") else value + 1


def test_document_and_data_agree() -> None:
    assert differences(DATA, MARKDOWN) == []


def test_no_two_values_share_a_path() -> None:
    lists = {way[:-1] for way in places(list(DATA)) if isinstance(way[-1], int)}
    singles = {way for way in places(list(DATA)) if not isinstance(way[-1], int)}
    assert len(leaves(DATA)) == len(lists | singles)


def test_every_value_of_the_data_is_compared() -> None:
    unnoticed = []
    ways = list(places(list(DATA)))
    assert len(ways) > 350
    for way in ways:
        data = copy.deepcopy(list(DATA))
        inner = data
        for step in way[:-1]:
            inner = inner[step]
        inner[way[-1]] = changed(inner[way[-1]])
        if not differences(Data(*data), MARKDOWN):
            unnoticed.append(way)
    assert unnoticed == []


def test_every_value_that_the_data_loses_or_gains_is_noticed() -> None:
    unnoticed = []
    for way in places(list(DATA)):
        if way[-1] in ("number", "corpora"):  # no entry is read without them
            continue
        data = copy.deepcopy(list(DATA))
        inner = data
        for step in way[:-1]:
            inner = inner[step]
        del inner[way[-1]]
        if not differences(Data(*data), MARKDOWN):
            unnoticed.append(way)
    assert unnoticed == []
    data = copy.deepcopy(DATA)
    data.frozen["parameters"]["pooling"] = "mean"
    assert differences(data, MARKDOWN) == ["parameters.pooling: the data has 'mean', the document nothing"]


def test_every_figure_of_the_document_is_compared() -> None:
    targets = [match.span() for match in re.finditer(r"\]\([^)]*\)", MARKDOWN)]
    figures = [
        match
        for match in re.finditer(r"\d", MARKDOWN)
        if not any(start <= match.start() < end for start, end in targets)
    ]
    assert len(figures) > 1000
    unnoticed = []
    for figure in figures:
        at = figure.start()
        other = str((int(figure[0]) + 1) % 10)
        if not differences(DATA, MARKDOWN[:at] + other + MARKDOWN[at + 1 :]):
            unnoticed.append(MARKDOWN[max(0, at - 40) : at + 40])
    assert unnoticed == []


def test_every_value_cell_of_the_document_is_compared() -> None:
    lines = MARKDOWN.splitlines()
    unnoticed = []
    tried = 0
    header: list[str] = []
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            header = []
            continue
        cells = line.split("|")
        if not header:
            header = [cell.strip() for cell in cells]
            continue
        if set(line) <= set("|-"):
            continue
        for column, cell in enumerate(cells):
            if header[column] == "value" or header[column].startswith("`"):
                tried += 1
                altered = "|".join([*cells[:column], cell.rstrip() + "x ", *cells[column + 1 :]])
                if not differences(DATA, "\n".join([*lines[:number], altered, *lines[number + 1 :]])):
                    unnoticed.append(altered)
    assert tried > 450
    assert unnoticed == []


def test_every_row_and_paragraph_of_the_document_is_needed() -> None:
    lines = MARKDOWN.splitlines()
    clarified = lines.index("### 1. The definition and the baselines disagree")
    unnoticed = [
        line
        for number, line in enumerate(lines)
        if (line.startswith("|") or (line and number >= clarified))
        and not differences(DATA, "\n".join(lines[:number] + lines[number + 1 :]))
    ]
    assert unnoticed == []


@pytest.mark.parametrize(
    ("was", "becomes", "complaint"),
    [
        ("# The protocol", "# The protocol 2", "a figure or code outside the checked tables: # The protocol 2"),
        (
            "What the protocol reports:",
            "What the protocol reports, with k = 10:",
            "a figure or code outside the checked tables: What the protocol reports, with k = 10:",
        ),
        (
            "What the protocol reports:",
            "What the protocol reports, in two metrics:",
            "a figure or code outside the checked tables: What the protocol reports, in two metrics:",
        ),
        (
            "| `default_k` | 10 | depth of recall |",
            "| `default_k` | 10 | depth of recall, not 50 |",
            "a figure or code outside the checked tables: depth of recall, not 50",
        ),
        (
            "| `default_k` | 10 | depth of recall |",
            "| `default_k` | 10 | depth of recall |\n| `default_k` | 10 | again |",
            "metrics.default_k is stated twice",
        ),
        (
            "| `default_k` | 10 | depth of recall |",
            "| `default_k` | 20 | depth of recall |",
            "metrics.default_k: the data has '10', the document '20'",
        ),
        (
            "| `locomo` | 0.010 | 0.015 |",
            "| `locomo` | 0.01 | 0.015 |",
            "bands.locomo.recall@10: the data has '0.010', the document '0.01'",
        ),
        (
            "| `default_k` | 10 | depth of recall |",
            "| `default_k` | 10 |",
            "2 cells under 3 headings: | `default_k` | 10 |",
        ),
        ("## 9. Amending", "## 9. Changing", "sections.9: the data has 'Amending', the document 'Changing'"),
        (
            "*2026-11-18, on longmemeval.*",
            "*2026-11-18, on every corpus.*",
            "clarifications.6.corpora: the data has 'longmemeval', the document ''",
        ),
    ],
)
def test_a_difference_is_one_line(was: str, becomes: str, complaint: str) -> None:
    assert MARKDOWN.count(was) == 1
    assert complaint in differences(DATA, MARKDOWN.replace(was, becomes))


def test_the_command_says_what_it_compared(capsys, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    assert main([]) == 0
    assert re.fullmatch(r"PROTOCOL.md agrees with the protocol data: \d{3} values\n", capsys.readouterr().out)


def test_the_command_fails_with_the_differences(tmp_path, capsys) -> None:
    path = tmp_path / "PROTOCOL.md"
    path.write_text(MARKDOWN.replace("| `batch_size` | 8 |", "| `batch_size` | 32 |"), "utf-8")
    assert main([str(path)]) == 1
    assert capsys.readouterr().out == f"{path}: parameters.batch_size: the data has '8', the document '32'\n"


def test_a_document_that_cannot_be_read_is_an_error_with_its_name(tmp_path, capsys) -> None:
    assert main([str(tmp_path / "none.md")]) == 2
    assert "none.md: can't be read" in capsys.readouterr().err
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    assert main([str(tmp_path / "latin.md")]) == 2
    assert "latin.md: can't be read" in capsys.readouterr().err


def test_values_are_written_as_people_read_them() -> None:
    assert written(Decimal("0.010")) == "0.010"
    assert written([19, 32]) == "19, 32"
    assert written(["a", "b"]) == "a; b"
    assert written([]) == "none"
    with pytest.raises(TypeError):
        written(None)


@pytest.mark.parametrize("name", ["PROTOCOL.md", "HISTORY.md"])
def test_the_cited_paths_lead_to_the_documents(name: str) -> None:
    link = ROOT / "benchmarks" / name
    assert link.is_symlink()
    assert link.resolve() == ROOT / name


def test_links_lead_somewhere() -> None:
    for name in ("PROTOCOL.md", "HISTORY.md"):
        for target in re.findall(r"\]\(([^)]*)\)", (ROOT / name).read_text("utf-8")):
            assert (ROOT / target.partition("#")[0]).exists(), f"{name} links to {target}"


def test_every_clarification_of_one_corpus_has_an_addendum_with_its_figures() -> None:
    for entry in DATA.clarifications:
        if len(entry["corpora"]) == 1:
            (corpus,) = entry["corpora"]
            texts = [path.read_text("utf-8") for path in (ROOT / "benchmarks" / corpus / "ADDENDA").glob("*.md")]
            (text,) = [text for text in texts if f"Clarification {entry['number']}." in text]
            missing = {
                figure
                for path, value in leaves(Data({}, [entry])).items()
                if ".facts." in path
                for figure in re.findall(r"\d+", value)
            } - set(re.findall(r"\d+", text))
            assert missing == set(), f"addendum to clarification {entry['number']}"


def test_the_substitution_has_the_addendum_it_names() -> None:
    substitution = DATA.frozen["substitution"]
    text = (ROOT / substitution["addendum"]).read_text("utf-8")
    for value in (substitution["paper_embedder"], substitution["stands_in"], substitution["breaks_from_transformers"]):
        assert value in text
    for name in ("query_revision", "dims"):
        assert str(DATA.frozen["embedders"]["bge-m3"][name]) in text
    assert DATA.clarifications[16]["facts"]["weights"][0]["sha256"] in text
    assert str(DATA.clarifications[13]["facts"]["bge_m3_default"]) in text
