"""Questions and answers from a table: what is taken, and every fault by its line."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from recallbench.corpora.labelled_sets.label_book import LabelBook, UnlabelledQuery
from recallbench.corpora.labelled_sets.label_import import ImportedQuestions, read_import
from recallbench.errors import InputError, UsageError

DOCUMENTS = {"all": {"a", "b", "c, d"}}
DAY = date(2026, 5, 1)


def imported(folder: Path, name: str, text: str, **more: Any) -> ImportedQuestions:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return read_import(file, DOCUMENTS, LabelBook(folder), DAY, **more)


def refusal(folder: Path, name: str, text: str) -> InputError:
    with pytest.raises(InputError) as raised:
        imported(folder, name, text)
    return raised.value


ROWS = [
    {"query": "Where?", "kind": "place", "relevant": ["a", "b"], "labelled_at": "2026-05-01"},
    {"query": 'Who, "exactly"?', "expected": "Ann; or Bob", "labelled_at": "2026-05-01"},
    {"query": "Nothing?", "kind": "abstention", "relevant": [], "labelled_at": "2026-05-01"},
]


TABLES = {
    "t.csv": """Question,Answer,Relevant,Kind
Where?,,a;b,place
"Who, ""exactly""?",Ann; or Bob,,
Nothing?,,,abstention
""",
    "t.tsv": """question\tanswer\trelevant ids\tcategory
Where?\t\ta|b\tplace
"Who, ""exactly""?"\tAnn; or Bob
Nothing?\t\t\tabstention
""",
    "eu.csv": """\ufeffquery;expected;ids;type
Where?;;a, b;place

"Who, ""exactly""?";"Ann; or Bob";;
Nothing?;;;abstention
""",
    "t.jsonl": """{"question": "Where?", "relevant": ["a", "b"], "kind": "place"}
{"question": "Who, \\"exactly\\"?", "answer": "Ann; or Bob"}
{"question": "Nothing?", "kind": "abstention"}
""",
}


@pytest.mark.parametrize(("name", "text"), TABLES.items())
def test_each_form_of_a_table_gives_the_same_lines(tmp_path: Path, name: str, text: str) -> None:
    found = imported(tmp_path, name, text)
    assert (list(found.records), list(found.records.values())) == (["q1", "q2", "q3"], ROWS)
    assert (found.judged, found.expecting, list(found.passed_over)) == (2, 1, [])


def test_an_id_with_a_comma_is_found_whole_and_grades_are_kept(tmp_path: Path) -> None:
    (record,) = imported(tmp_path, "t.csv", 'id,question,relevant\nx1,Where?,"c, d"\n').records.values()
    assert (record["query_id"], record["relevant"]) == ("x1", ["c, d"])
    (record,) = imported(tmp_path, "t.jsonl", '{"query": "Where?", "relevant": {"a": 2, "b": 0}}\n').records.values()
    assert record["relevant"] == {"a": 2.0, "b": 0.0}


def test_columns_that_nobody_knows_are_named(tmp_path: Path) -> None:
    found = imported(tmp_path, "t.csv", "question,answer,Author,score\nWhere?,here,Ann,1\n")
    assert list(found.passed_over) == ["author", "score"]


def test_every_fault_is_named_by_its_line_and_nothing_is_taken(tmp_path: Path) -> None:
    text = 'question,answer,relevant,id,scope\n"Where\nnow?",,a,q1,\n,here,,,\nWho?,,z,,\nWhen?,,,,\nHow?,so,,q1,\n'
    error = refusal(tmp_path, "t.csv", text)
    assert error.problem == f"{tmp_path / 't.csv'}: 4 of 5 rows can't be taken, and none was"
    assert error.found.splitlines() == [
        "line 4: no question",
        "line 5: corpus.jsonl has no document z",
        "line 6: neither an answer nor the ids of relevant documents",
        "line 7: q1 is in line 2 already, and differs: question, answer, relevant",
    ]


def test_many_faults_are_counted(tmp_path: Path) -> None:
    error = refusal(tmp_path, "t.csv", "question,answer\n" + "Where?,\n" * 8)
    assert error.found.splitlines()[-1] == "and 3 more lines"
    assert len(error.found.splitlines()) == 6


def test_a_scope_without_documents_is_a_fault(tmp_path: Path) -> None:
    error = refusal(tmp_path, "t.csv", "question,answer,scope\nWhere?,here,west\n")
    assert error.found == "line 2: no document is in scope west, only in all"


def test_a_table_that_grew_adds_what_is_new(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.append(UnlabelledQuery("q3", "By hand?"), {"a": 1.0}, DAY)
    first = "question,answer,relevant\nWhere?,,a;b\nWho?,Ann,\n"
    book.add_all(imported(tmp_path, "t.csv", first).records.values())
    before = book.path.read_bytes()
    again = imported(tmp_path, "t.csv", first)
    assert (again.records, again.replaced, again.skipped, again.judged, again.expecting) == ({}, {}, 2, 1, 1)
    # Another order of ids and other blanks are the same; a row that stands there twice is one.
    grown = "question,answer,relevant\nNew?,,b\n Where? ,,b|a\nWho?,Ann,\nNew?,,b\nBy hand?,,a\n"
    found = imported(tmp_path, "t.csv", grown)
    assert [(id, row["query"]) for id, row in found.records.items()] == [("q4", "New?")]
    assert found.skipped == 4
    book.add_all(found.records.values(), found.replaced)
    assert book.path.read_bytes().startswith(before)
    assert list(book.records()) == ["q3", "q2", "q3-2", "q4"]


CHANGED = 'id,question,answer,relevant\nq1,Where?,,b\n,"Who, ""exactly""?",Ben,\nq3,Nothing at all?,here,\n'


def test_a_changed_row_is_refused_by_name_and_takes_its_place_with_replace(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add_all(imported(tmp_path, "t.csv", TABLES["t.csv"]).records.values())
    book.append(UnlabelledQuery("own", "By hand?"), {"a": 1.0}, DAY)
    error = refusal(tmp_path, "t.csv", CHANGED)
    assert error.found.splitlines() == [
        "line 2: q1 is there already, and differs: kind, relevant",
        "line 3: q2 is there already, and differs: answer",
        "line 4: q3 is there already, and differs: question, kind, answer",
    ]
    assert error.remedy == "mend these lines, then import again; --replace takes rows that differ from what is there"
    by_hand = book.path.read_bytes().splitlines()[3]
    found = imported(tmp_path, "t.csv", CHANGED, replace=True)
    assert (found.records, list(found.replaced), found.skipped) == ({}, ["q1", "q2", "q3"], 0)
    book.add_all(found.records.values(), found.replaced)
    assert book.path.read_bytes().splitlines()[3] == by_hand
    assert list(book.records().values())[:3] == [
        {"query_id": "q1", "query": "Where?", "relevant": ["b"], "labelled_at": "2026-05-01"},
        {"query": 'Who, "exactly"?', "expected": "Ben", "labelled_at": "2026-05-01"},
        {"query_id": "q3", "query": "Nothing at all?", "expected": "here", "labelled_at": "2026-05-01"},
    ]
    assert imported(tmp_path, "t.csv", CHANGED).skipped == 3


def test_two_rows_of_one_question_and_an_id_of_two_are_refused_also_with_replace(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add_all(imported(tmp_path, "t.csv", TABLES["t.csv"]).records.values())
    file = tmp_path / "t.csv"
    file.write_text("id,question,relevant\nq1,Where?,b\n,Where?,a\nq2,Where?,a\nq9,Nothing?,a\n")
    with pytest.raises(InputError) as raised:
        read_import(file, DOCUMENTS, book, DAY, replace=True)
    assert raised.value.found.splitlines() == [
        "line 3: q1 is in line 2 already, and differs: relevant",
        "line 4: the id q2 is that of another question, and the question is there already as q1",
    ]
    assert raised.value.remedy == "mend these lines, then import again"
    # Another id is another content, and the new one counts.
    found = imported(tmp_path, "t.csv", "id,question,kind\nq9,Nothing?,abstention\n", replace=True)
    assert [(old, new["query_id"]) for old, new in found.replaced.items()] == [("q3", "q9")]


def test_a_line_that_calls_its_id_otherwise_is_known_by_it(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.path.write_text('{"_id": "x", "query": "Where?", "relevant": ["a"]}\n')
    assert imported(tmp_path, "t.csv", "id,question,relevant\nx,Where?,a\n").skipped == 1
    found = imported(tmp_path, "t.csv", "id,question,relevant\nx,Where?,b\n", replace=True)
    book.add_all(found.records.values(), found.replaced)
    assert [(id, line["relevant"]) for id, line in book.records().items()] == [("x", ["b"])]
    assert len(book.path.read_text().splitlines()) == 1


def test_a_book_that_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    book.add_all(imported(tmp_path, "t.csv", TABLES["t.csv"]).records.values())
    before = book.path.read_bytes()
    with pytest.raises(InputError, match="was changed meanwhile"):
        book.add_all([{"query": "new"}], {"q1": {"query": "else"}, "gone": {"query": "else"}})
    assert book.path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("t.csv", "", "no questions"),
        ("t.csv", "question,answer\n", "no questions"),
        ("t.csv", "frage,antwort\nWo?,hier\n", "no column is called question or query"),
        ("t.csv", "question,question\na,b\n", "two columns are called 'question'"),
        ("t.csv", "question,answer\nWhere?,here,now\n", "line 2: more cells than columns"),
        ("t.csv", 'question,answer\n"Where?,here\n', "can't be read"),
        ("t.jsonl", '{"question": "a"\n', "line 1"),
    ],
)
def test_what_is_no_table_of_questions_is_refused(tmp_path: Path, name: str, text: str, problem: str) -> None:
    assert problem in refusal(tmp_path, name, text).problem


def test_another_ending_and_another_encoding_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no table"):
        imported(tmp_path, "t.xlsx", "")
    (tmp_path / "t.csv").write_bytes("question,answer\nWo?,schön\n".encode("latin-1"))
    with pytest.raises(InputError, match="line 2: can't be read"):
        read_import(tmp_path / "t.csv", DOCUMENTS, LabelBook(tmp_path), DAY)


def test_the_last_label_can_be_taken_back_and_no_other(tmp_path: Path) -> None:
    book = LabelBook(tmp_path)
    first, second = UnlabelledQuery("one", "1?"), UnlabelledQuery("two", "2?")
    book.append(first, {"a": 1.0}, DAY)
    kept = book.path.read_bytes()
    book.append(second, {"a": 0.0}, DAY)
    with pytest.raises(InputError, match="was changed meanwhile"):
        book.take_back(first)
    book.take_back(second)
    assert book.path.read_bytes() == kept
    book.take_back(first)
    assert book.records() == {}
