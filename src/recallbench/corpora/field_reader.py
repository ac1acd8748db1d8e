"""The fields of an item in a corpus file, read and checked, and the refusals that name item and field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from recallbench.errors import InputError

_NAMES = {
    str: "text",
    int: "a whole number",
    list: "a list",
    dict: "an object",
    bool: "true or false",
    float: "a number",
}

ALSO = {
    "query": ("question", "text", "q"),
    "relevant": ("gold", "ids", "relevant_ids", "answers", "documents"),
    "text": ("content", "body", "document"),
    "_id": ("id", "doc_id"),
}
"""What others call a field."""


def describe(value: object) -> str:
    """A value in a few words, without quoting a corpus at length."""
    if value is None:
        return "null"
    if isinstance(value, (list, dict, str)) and not value:
        return f"{_NAMES[type(value)]}, empty"
    shown = repr(value)
    return f"{_NAMES.get(type(value), type(value).__name__)}, {shown if len(shown) <= 60 else shown[:57] + '...'}"


def misspelling_hint(fields: Iterable[str], field: str) -> str:
    """Return the end of a sentence on a missing field: the unknown field that may mean it, if there is any."""
    others = [other for other in fields if other != field]
    near = [other for other in others if other in ALSO.get(field, ())] or get_close_matches(field, others, 1, 0.8)
    return f"; the unknown field {near[0]!r} may mean {field!r}" if near else ""


def registered_file_hint(corpus: str) -> str:
    """Return how a corpus's registered file is got; empty for any other set or file."""
    from recallbench.protocol.frozen import load

    if corpus.startswith("canary-"):
        return "it is bundled, name no file"
    return f"`recallbench fetch {corpus}`" if corpus in load().corpora else ""


@dataclass(frozen=True, slots=True)
class FieldReader:
    """An item of a file; every field asked for is there and of the right type, or the item is refused."""

    corpus: str
    file: str
    item: str

    def inside(self, part: str) -> FieldReader:
        """A narrower spot: `part` of this item."""
        return replace(self, item=f"{self.item}, {part}")

    def refusal(self, field: str, expected: str, found: str, remedy: str = "") -> InputError:
        """Return the error of a field of this item."""
        known = registered_file_hint(self.corpus)
        remedy = remedy or ("mend the file" + (f", or use the registered one: {known}" if known else ""))
        return InputError(f"{self.file}: {self.item}: field {field}", expected=expected, found=found, remedy=remedy)

    def text(self, record: Any, field: str) -> str:
        """A field that holds text, not blank."""
        value = self._field(record, field, str)
        if not value.strip():
            raise self.refusal(field, "text", describe(value) if not value else "only blanks")
        return self.storable(field, value)

    def storable(self, field: str, text: str) -> str:
        """The text itself; a NUL in it is refused, since Postgres and others can't hold one."""
        if "\0" in text:
            raise self.refusal(field, "text without NUL characters", f"one at character {text.index(chr(0))}")
        return text

    def string(self, record: Any, field: str) -> str:
        """A field that holds text, perhaps empty."""
        return str(self._field(record, field, str))

    def identifier(self, record: Any, field: str) -> str:
        """A field that holds an id: one word, since TREC files part their columns by blanks."""
        value = self.text(record, field)
        if value.split() != [value]:
            raise self.refusal(field, "an id without blanks", describe(value))
        return value

    def number(self, record: Any, field: str) -> int:
        """A field that holds a whole number."""
        value = self._field(record, field, int)
        if isinstance(value, bool):
            raise self.refusal(field, "a whole number", describe(value))
        return int(value)

    def answer(self, record: dict[str, Any]) -> str:
        """The field `answer` in words: a number is some questions' answer; empty where there is none."""
        value = record.get("answer")
        return str(value).strip() if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""

    def entries(self, record: Any, field: str) -> list[Any]:
        """A field that holds a list, perhaps empty."""
        value: list[Any] = self._field(record, field, list)
        return value

    def words(self, record: Any, field: str) -> list[str]:
        """A field that holds a list of texts."""
        values = self.entries(record, field)
        for value in values:
            if not isinstance(value, str):
                raise self.refusal(field, "a list of texts", f"in it {describe(value)}")
        return values

    def table(self, record: Any, field: str) -> dict[str, Any]:
        """A field that holds an object."""
        value: dict[str, Any] = self._field(record, field, dict)
        return value

    def _field(self, record: Any, field: str, kind: type) -> Any:
        if not isinstance(record, dict):
            raise self.refusal(field, f"an object with the field {field}", describe(record))
        if field not in record:
            raise self.refusal(field, _NAMES[kind], f"nothing: the field is missing{misspelling_hint(record, field)}")
        if not isinstance(record[field], kind):
            raise self.refusal(field, _NAMES[kind], describe(record[field]))
        return record[field]
