"""Whether PROTOCOL.md says what the protocol data says, value by value: `python -m recallbench.protocol.agreement`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from recallbench.errors import InputError, RecallBenchError
from recallbench.protocol.frozen import Data, read_data
from recallbench.protocol.prose import parse, plain

DOCUMENT = Path("PROTOCOL.md")
NONE = "none"
"""How the document writes an empty list in a table."""


def leaves(data: Data) -> dict[str, str]:
    """Every value of the data by its path, as the document has to write it; decimals keep their zeros (`0.010`)."""
    found = dict(_walk("", data.frozen))
    for entry in data.clarifications:
        found |= _walk(f"clarifications.{entry['number']}", {**entry, "corpora": ", ".join(entry["corpora"])})
    return found


def differences(data: Data, markdown: str) -> list[str]:
    """One line for each value that data and document do not both state alike; empty where they agree."""
    prose = parse(markdown)
    expected = leaves(data)
    found = list(prose.stray)
    for path in expected.keys() - prose.values.keys():
        found.append(f"{path}: the data has {expected[path]!r}, the document nothing")
    for path in prose.values.keys() - expected.keys():
        found.append(f"{path}: the document has {prose.values[path]!r}, the data nothing")
    for path in expected.keys() & prose.values.keys():
        if expected[path] != prose.values[path]:
            found.append(f"{path}: the data has {expected[path]!r}, the document {prose.values[path]!r}")
    return sorted(found)


def written(value: object) -> str:
    """A single value as the document writes it."""
    if isinstance(value, list):
        between = "; " if any(isinstance(one, str) for one in value) else ", "
        return between.join(written(one) for one in value) or NONE
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str | int | Decimal):
        return plain(str(value))
    raise TypeError(f"the protocol data holds no {type(value).__name__}")


def _walk(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        value = {str(number): one for number, one in enumerate(value, 1)}
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(f"{path}.{key}" if path else key, inner)
    else:
        yield path, written(value)


def main(arguments: Sequence[str]) -> int:
    """Compare the document named, or PROTOCOL.md here; 1 and the differences where they disagree."""
    path = Path(arguments[0]) if arguments else DOCUMENT
    try:
        data = read_data(number=Decimal)
        found = differences(data, _text(path))
    except RecallBenchError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    for line in found:
        print(f"{path}: {line}")
    if not found:
        print(f"{path} agrees with the protocol data: {len(leaves(data))} values")
    return 1 if found else 0


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: can't be read",
            expected="PROTOCOL.md of the project, in UTF-8",
            found=str(error),
            remedy="run it where PROTOCOL.md is, or name the file",
        ) from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
