"""The options of a labelled set: the judgements that count, and the pins of a hub set's files."""

from __future__ import annotations

from recallbench.corpora.options import CorpusOption

OPTIONS = (
    CorpusOption("split", "For a labelled set: the split, whose judgements are qrels/<split>.tsv [default: test]."),
    CorpusOption("qrels-revision", "For a hub set: the commit of OWNER/NAME-qrels to read judgements at."),
    CorpusOption(
        "pin", "For a hub set: NAME=HEX, the sha256 of a file, published or unpacked; repeat it.", repeated=True
    ),
)
