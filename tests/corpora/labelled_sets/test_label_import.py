"""Questions and answers from a table: what is taken, and every fault by its line."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from recallbench.corpora.labelled_sets.label_book import LabelBook, UnlabelledQuery
from recallbench.corpora.labelled_sets.label_import import ImportedQuestions, read_import
from recallbench.errors import InputError, UsageError

DOCUMENTS = {"all": {"a", "b", "c, d"}}
DAY = date(2026, 5, 1)


def imported(folder: Path, name: str, text: str, **more: str) -> ImportedQuestions:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return read_import(file, DOCUMENTS, LabelBook(folder), DAY, **more)


def refusal(folder: Path, name: str, text: str) -> InputError:
    with pytest.raises(InputError) as raised:
        imported(folder, name, text)
    return raised.value


ROWS = [
    {"query_id": "q1", "query": "Where?", "kind": "place", "relevant": ["a", "b"], "labelled_at": "2026-05-01"},
    {"query_id": "q2", "query": 'Who, "exactly"?', "expected": "Ann; or Bob", "labelled_at": "2026-05-01"},
    {"query_id": "q3", "query": "Nothing?", "kind": "abstention", "relevant": [], "labelled_at": "2026-05-01"},
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
    assert list(found.records) == ROWS
    assert (found.judged, found.expecting, list(found.passed_over)) == (2, 1, [])


def test_an_id_with_a_comma_is_found_whole_and_grades_are_kept(tmp_path: Path) -> None:
    (record,) = imported(tmp_path, "t.csv", 'id,question,relevant\nx1,Where?,"c, d"\n').records
    assert (record["query_id"], record["relevant"]) == ("x1", ["c, d"])
    (record,) = imported(tmp_path, "t.jsonl", '{"query": "Where?", "relevant": {"a": 2, "b": 0}}\n').records
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
        "line 7: the id q1 is that of another question",
    ]


def test_many_faults_are_counted(tmp_path: Path) -> None:
    error = refusal(tmp_path, "t.csv", "question,answer\n" + "Where?,\n" * 8)
    assert error.found.splitlines()[-1] == "and 3 more lines"
    assert len(error.found.splitlines()) == 6


def test_a_scope_without_documents_is_a_fault(tmp_path: Path) -> None:
    error = refusal(tmp_path, "t.csv", "question,answer,scope\nWhere?,here,west\n")
    assert error.found == "line 2: no document is in scope west, only in all"


def test_the_same_question_is_not_taken_twice(tmp_path: Path) -> None:
    text = "question,answer\nWhere?,here\n"
    LabelBook(tmp_path).add_all(imported(tmp_path, "t.csv", text).records)
    assert refusal(tmp_path, "t.csv", text).found == "line 2: the same question is there already"


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
    assert book.labelled() == frozenset()
