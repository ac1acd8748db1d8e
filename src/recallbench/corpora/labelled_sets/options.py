"""The options of a labelled set: the judgements that count, and the pins of a hub set's files."""

from __future__ import annotations

from recallbench.corpora.options import CorpusOption

OPTIONS = (
    CorpusOption(
        "split", "Which split of a set of your own is asked; its judgements are qrels/<split>.tsv [default: test]."
    ),
    CorpusOption("qrels-revision", "The commit of OWNER/NAME-qrels that a set of the hub has its judgements from."),
    CorpusOption(
        "pin",
        "NAME=HEX, the sha256 that a file of a set of the hub has, published or unpacked; repeat it for several.",
        repeated=True,
    ),
)
