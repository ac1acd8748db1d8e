"""A file of anybody is read, or refused with its line and a reason."""

import os
from pathlib import Path

import pytest

from recallbench import reading
from recallbench.errors import InputError
from recallbench.reading import document, lines, objects, parsed, regular


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def refusal(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        list(objects(path))
    return caught.value


def test_objects_come_with_their_line_numbers(path: Path) -> None:
    path.write_bytes(b'{"a": 1}\r\n{"b": [2.5, null]}')
    assert list(objects(path)) == [(1, {"a": 1}), (2, {"b": [2.5, None]})]


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        (
            b'{"a": 1}\n{"a": 1} {"a": 2}\n',
            2,
            "something behind the object, from character 10 on: two rows on one line?",
        ),
        (b'{"a": 1}\n{"a": [1, 2', 2, "Expecting ',' delimiter at its end: the file may be cut off"),
        (b'{"a": 1}\n\n', 2, "a blank line"),
        (b'{"a": NaN}\n', 1, "NaN, which is no JSON number"),
        (b'{"a": -Infinity}\n', 1, "-Infinity, which is no JSON number"),
        (b'{"a": 1, "b": 2, "a": 3}\n', 1, "the field a twice"),
        (b"[1]\n", 1, "list"),
        (b'{"a": "\xe9"}\n', 1, "byte 0xe9 at 7"),
        (b"\x00\x01\n", 1, "Expecting value at column 1"),
        (b"[" * 200_000, 1, "brackets nested without end"),
    ],
    ids=["two rows", "cut off", "blank", "NaN", "infinity", "twice", "list", "latin-1", "binary", "nested"],
)
def test_a_malformed_row_is_refused_with_its_line(path: Path, content: bytes, line: int, complaint: str) -> None:
    path.write_bytes(content)
    error = refusal(path)
    assert f"rows.jsonl, line {line}: can't be read" in error.problem
    assert error.found == complaint
    again = "get the file again from where it was made, or make it again"
    assert error.remedy == (again if "byte" in complaint else "mend that line, or make the file again")


def test_a_line_of_two_gigabytes_is_refused_before_it_is_read(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2 << 30)  # sparse: it takes no room
    assert refusal(path).expected == "lines of at most 33,554,432 bytes"


def test_a_document_of_two_gigabytes_is_refused(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(InputError, match="at most 134,217,728 bytes"):
        document(path)


def test_a_file_that_grows_while_it_is_read_is_refused(path: Path) -> None:
    path.write_text('{"a": 1}\n' * 3)
    reader = lines(path)
    next(reader)
    with path.open("a") as file:
        file.write('{"a": 2}\n')
    with pytest.raises(InputError, match="it changed while it was being read"):
        list(reader)


def test_a_file_that_is_replaced_while_it_is_read_is_refused(path: Path) -> None:
    path.write_text('{"a": 1}\n' * 3)
    reader = lines(path)
    next(reader)
    other = path.with_name("other")
    other.write_text('{"a": 9}\n' * 3)
    other.replace(path)
    with pytest.raises(InputError, match="it changed while it was being read"):
        list(reader)


def test_only_regular_files_inside_the_folder_are_opened(path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret"
    outside.write_text("{}")
    path.symlink_to(outside)
    assert refusal(path).found == "a link that leaves it, to secret"
    path.unlink()
    inside = path.with_name("inside")
    inside.write_text("{}")
    path.symlink_to(inside)
    assert regular(path) == path
    path.unlink()
    os.mkfifo(path)
    assert refusal(path).found == "something else"
    path.unlink()
    path.mkdir()
    assert refusal(path).found == "a folder"
    path.rmdir()
    path.symlink_to(path)
    assert "can't be read" in refusal(path).problem
    path.unlink()
    assert (refusal(path).problem, refusal(path).remedy) == (f"there is no file {path}", "check the path")


def test_a_file_that_nobody_may_read_is_told_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path, *, strict: bool) -> Path:
        raise PermissionError(13, "Permission denied")

    named = path.with_name("my rows")
    monkeypatch.setattr(Path, "resolve", refuse)  # root may read everything
    error = refusal(named)
    assert error.problem == f"no permission to read {named}"
    assert error.remedy == f"allow it, as by chmod u+r '{named}'"


def test_what_is_wrong_with_a_document_has_its_line_and_column(path: Path) -> None:
    path.write_text('{"a": 1,\n "b" 2}\n')
    with pytest.raises(InputError) as refused:
        parsed(document(path), path)
    assert refused.value.found == "Expecting ':' delimiter at line 2, column 6"
    assert refused.value.remedy == "mend it there, or make it again"


def test_the_longest_line_allowed_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LONGEST_LINE", 9)
    path.write_bytes(b'{"a": 1}\n')
    assert list(objects(path)) == [(1, {"a": 1})]
    path.write_bytes(b'{"a": 12}\n')
    assert "lines of at most 9 bytes" in refusal(path).expected
