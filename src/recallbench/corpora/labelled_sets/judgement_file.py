"""A file of judgements: query, document and grade, by line."""

from __future__ import annotations

import math
from pathlib import Path

from recallbench.corpora.field_reader import FieldReader, describe
from recallbench.reading import lines

LARGEST_GRADE = 10**9
"""No scale is longer, and sums of larger ones would overflow."""


def read_judgements(path: Path, corpus: str, name: str) -> dict[str, dict[str, float]]:
    """Return grades by query and document; `name` is how errors call the file. A header line is passed over."""
    judgements: dict[str, dict[str, float]] = {}
    for number, line in lines(path):
        reader = FieldReader(corpus, name, f"line {number}")
        fields = line.split("\t") if "\t" in line else line.split()
        if not line.strip() or (number == 1 and fields[-1].strip().lower() == "score"):
            continue
        if len(fields) == 4:
            fields = [fields[0], *fields[2:]]  # TREC's form, with an iteration nobody uses
        if len(fields) != 3:
            raise reader.refusal("columns", "query-id, corpus-id and score", f"{len(fields)}")
        query, document, grade = (field.strip() for field in fields)
        try:
            value = float(grade)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value > LARGEST_GRADE:
            raise reader.refusal("score", f"a number of at most {LARGEST_GRADE:,}", describe(grade))
        if document in judgements.setdefault(query, {}):
            raise reader.refusal("corpus-id", f"each document once for {query}", f"{document} again")
        judgements[query][document] = max(value, 0.0)
    return judgements


def line_of(path: Path, query: str, document: str | None = None) -> int:
    """Return the line of a judgement file for a query and a document."""
    for number, line in lines(path):
        fields = [field.strip() for field in (line.split("\t") if "\t" in line else line.split())]
        if fields[:1] == [query] and (document is None or document in fields[1:]):
            return number
    return 0
