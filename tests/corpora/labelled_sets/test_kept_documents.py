"""Documents that are kept aside come back as they were, by scope and by id."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from recallbench.corpora.labelled_sets import kept_documents
from recallbench.corpora.labelled_sets.kept_documents import KeptDocuments
from recallbench.corpora.labelled_sets.labelled_records import Document
from recallbench.key_numbers import KeyNumbers

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVENING = datetime(2026, 3, 1, 18, 30, tzinfo=timezone(timedelta(hours=2)))
DOCUMENTS = [
    Document("a", "north", "ein Fjord, tief", NOON, 0.5),
    Document("a", "south", "", None, 1.0),
    Document("b", "north", 'two\nlines and "quotes"', None, 0.25),
    Document("c", "north", "x" * 40, EVENING, 0.5),
    Document("é", "south", "\U0001f600", None, 0.5),
]


@pytest.mark.parametrize("at_once", [1, 60, 1 << 20])
def test_documents_come_back_in_their_order_by_scope(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_documents, "AT_ONCE", at_once)
    kept = KeptDocuments()
    for document in DOCUMENTS:
        kept.add(document)
    assert list(kept.scopes) == ["north", "south"]
    assert list(kept.of("north")) == [DOCUMENTS[0], DOCUMENTS[2], DOCUMENTS[3]]
    assert list(kept.of("south")) == [DOCUMENTS[1], DOCUMENTS[4]]
    assert kept.empty == 1
    places = [kept.place(*named) for named in (("north", "c"), ("south", "é"), ("south", "c"), ("west", "a"))]
    assert places == [2, 1, None, None]


def test_a_document_whose_key_is_anothers_by_chance_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_documents, "document_key", lambda scope, id: b"the same")
    kept = KeptDocuments()
    for document in DOCUMENTS[:3]:
        kept.add(document)
    assert [kept.place("north", "b"), kept.place("north", "a"), kept.place("south", "a")] == [1, None, None]


def test_a_document_of_several_scopes_is_written_once() -> None:
    """However many lists name it: a large set takes no more room than its files."""
    kept = KeptDocuments()
    for scope in ("north", "south", "west"):
        for document in DOCUMENTS[2:4]:
            kept.add(replace(document, scope=scope))
    assert kept.bytes == 3 * kept.written
    assert [one.id for one in kept.of("west")] == ["b", "c"]
    kept.add(replace(DOCUMENTS[2], scope="east", importance=0.75))
    assert [one.importance for scope in ("east", "west") for one in kept.of(scope)] == [0.75, 0.25, 0.5]


def test_keys_are_of_scope_and_id() -> None:
    numbers = KeyNumbers()
    keys = [kept_documents.document_key(*named) for named in (("a", "b"), ("ab", ""), ("", "ab"), ("b", "a"))]
    numbers.update(keys, range(4))
    assert len(numbers) == 4
