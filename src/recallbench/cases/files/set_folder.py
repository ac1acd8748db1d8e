"""Cases from the folder of a labelled set: its `gold.jsonl`, or BEIR's queries and judgements."""

from __future__ import annotations

from pathlib import Path

from recallbench.cases.case import Case
from recallbench.cases.files.gold_file import Gold, read_gold
from recallbench.corpora.labelled_sets.labelled_files import files_of, read_labels
from recallbench.corpora.labelled_sets.labelled_records import EVERYWHERE, KIND, SHORT, LabelledQuery, PassedOver


def read_set(folder: Path) -> Gold:
    """Return every query of the set that its split judges; raises InputError for a folder that is no set."""
    if (folder / SHORT).is_file():
        return read_gold(folder / SHORT)
    queries = list(read_labels(files_of(folder), folder.name, PassedOver()))
    return Gold(
        tuple(_case(query) for query in queries if not query.irrelevant),
        passed_over=tuple(query.id for query in queries if query.irrelevant),
    )


def _case(query: LabelledQuery) -> Case:
    labels = {"scope": query.scope} if query.scope != EVERYWHERE else {}
    kind = None if query.kind == KIND else query.kind
    return Case(query.text, query.grades, expected=query.expected or None, kind=kind, id=query.id, labels=labels)
