"""Files of queries, whatever tool wrote them: which form it is, and one record a query.

Three forms are known by how they begin: TREC's columns (and BEIR's, for judgements), JSON Lines with a query each, and
one JSON object {query: {id: score}}, the dictionaries of ranx and ir_measures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from recallbench.errors import InputError
from recallbench.reading import document, entries, lines, parsed

Form = Literal["trec", "jsonl", "json"]
NAMES = ("query_id", "_id", "id", "qid")
"""The fields that may hold the id of a query; without any, its text names it."""
KNOWN = frozenset({*NAMES, "query", "text", "relevant", "grades", "expected", "kind", "ranked", "ms"})


@dataclass(frozen=True, slots=True)
class Record:
    """One query of a file."""

    id: str | None
    query: str | None
    fields: Mapping[str, Any]
    place: str
    """The file and line, for errors."""

    @property
    def name(self) -> str:
        return self.id if self.id is not None else str(self.query)

    def wrong(self, problem: str, expected: str, found: str) -> InputError:
        """Return an error that names this record."""
        return InputError(
            f"{self.place}, query `{self.name[:60]}`: {problem}", expected=expected, found=found, remedy="mend the file"
        )


def form_of(path: Path) -> Form:
    """Return the form of a file, by its first line; raises InputError for an empty file, and for one broken line."""
    every = lines(path)
    for number, line in every:
        text = line.strip().removeprefix("\ufeff")
        if not text:
            continue
        if text[0] not in "{[":
            return "trec"
        try:
            first = parsed(text, path, number)
        except InputError:
            second = next((later.strip() for _, later in every if later.strip()), None)
            if second is None:
                if _is_dictionary(text):
                    return "json"
                raise
            # An object of its own behind it: a broken line of JSON Lines. Else one object over several lines, or no
            # JSON at all, which reading it will tell.
            return "jsonl" if _is_object(second) else "json"
        scalar = any(isinstance(first.get(name), (str, int)) for name in (*NAMES, "query"))
        return "jsonl" if scalar else "json"
    raise InputError(
        f"{path}: nothing in it", expected="a TREC file, JSON Lines, or a JSON object", found="an empty file"
    )


def _is_dictionary(text: str) -> bool:
    """Tell whether the text is one object by query, one of whose entries can't be read."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and not any(isinstance(value.get(name), (str, int)) for name in (*NAMES, "query"))


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def records(path: Path, field: str, passed: Callable[[InputError, str | None], None] | None = None) -> Iterator[Record]:
    """Yield each query of a JSON file; in an object of objects the value of a query is its `field`.

    Raises InputError, naming the line or the query, for one that can't be read. With `passed`, that is called with the
    error and the query, as far as it is known, and the query is left out.
    """
    if form_of(path) == "jsonl":
        for number, line in lines(path, None if passed is None else lambda error: passed(error, None)):
            if not line.strip():
                continue
            try:
                yield _record(parsed(line.removeprefix("\ufeff"), path, number), f"{path}, line {number}")
            except InputError as error:
                if passed is None:
                    raise
                passed(error, None)
        return
    named: set[str] = set()
    for query, value in entries(document(path), path):
        wrong = value if isinstance(value, InputError) else None
        if query in named:
            wrong = Record(query, None, {}, str(path)).wrong("there twice", "each query once", f"{query} again")
        elif wrong is None and not isinstance(value, (dict, list)):
            wrong = InputError(
                f"{path}: not one of the forms that are read",
                expected="{query: {id: score}}, or a JSON object a line with `query` or `query_id`",
                found=f"{query!r}: a {type(value).__name__}",
                remedy="recallbench evaluate --help names the forms",
            )
        named.add(query)
        if wrong is None:
            yield Record(query, None, {field: value}, str(path))
        elif passed is None:
            raise wrong
        else:
            passed(wrong, query)


def _record(fields: Mapping[str, Any], place: str) -> Record:
    id = next((fields[name] for name in NAMES if fields.get(name) is not None), None)
    query = fields.get("query")
    texts = [value for value in (id, query, fields.get("kind"), fields.get("expected")) if isinstance(value, str)]
    if broken := [text for text in texts if not _is_text(text)]:
        raise InputError(f"{place}: no text", expected="whole Unicode characters", found=ascii(broken[0])[:60])
    wrong = [
        value
        for value in (id, query)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (str, int)))
    ]
    if wrong or (id is None and not query):
        raise InputError(
            f"{place}: no query",
            expected="`query`, `query_id`, or both, as text",
            found=repr(wrong[0])[:60] if wrong else ", ".join(fields) or "an empty object",
            remedy="mend the line",
        )
    return Record(None if id is None else str(id), None if query is None else str(query), fields, place)


def id_text(value: Any) -> str | None:
    """Return an id as a string, as TREC's forms have it; None for any other value."""
    if isinstance(value, str) and value and _is_text(value):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _is_text(value: str) -> bool:
    """Whether it can be printed at all: JSON can name halves of characters."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
