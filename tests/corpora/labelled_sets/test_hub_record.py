"""The record of a hub set's files, which lies in a folder that others may write to."""

import hashlib
from pathlib import Path

import pytest

from recallbench.corpora.labelled_sets.hub_record import NAME, read_record, write_record
from recallbench.corpora.labelled_sets.labelled import identify, labelled_entry
from recallbench.corpora.records import Corpus, HubFiles
from recallbench.errors import InputError
from recallbench.protocol.frozen import load


@pytest.mark.parametrize(
    "content",
    [b"\xff", b"[" * 100_000, b"[]", b'{"files": "\\ud800"}', b'{"files": {}, "pinned": []}', b"9" * 5000],
    ids=["not UTF-8", "nested without end", "a list", "half a character", "too little", "5000 digits"],
)
def test_a_record_that_can_not_be_read_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(InputError, match="can't be read"):
        read_record(tmp_path)


def test_judgements_of_a_published_set_that_name_nothing_are_counted(tmp_path: Path) -> None:
    """In a set of one's own they are refused: there they can be mended."""
    texts = {
        "corpus.jsonl": '{"_id": "a", "text": "The ferry leaves."}\n',
        "queries.jsonl": '{"_id": "q1", "text": "When?"}\n{"_id": "q2", "text": "Who?"}\n',
        "qrels/test.tsv": "q1\ta\t1\nq1\tgone\t1\nq2\tgone\t1\n",
    }
    (tmp_path / "qrels").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="field relevant"):
        labelled(tmp_path).survey()
    hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    write_record(tmp_path, HubFiles("team/trips", "a" * 40, "", "", hashes, frozenset()))
    survey = labelled(tmp_path).survey()
    assert (survey.asked, survey.unknown_gold, survey.unanswerable) == (1, 2, 1)


def labelled(folder: Path) -> Corpus:
    entry = labelled_entry(str(identify(folder)))
    return entry.read(folder, entry.facts(load()), load())
