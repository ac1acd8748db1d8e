"""The options that decide whether a hit is relevant, where a corpus may be judged by texts."""

from __future__ import annotations

from typing import get_args

from recallbench.corpora.matching.method import Method
from recallbench.corpora.options import CorpusOption

OPTIONS = (
    CorpusOption(
        "match",
        "What makes a hit relevant: its id, or a text like the expected one. hybrid tries id, exact, tokens and "
        "cosine in this order; bm25 takes the best passage of a long text.",
        values=get_args(Method),
        default="id",
    ),
    CorpusOption(
        "match-threshold",
        "How alike two texts must be to match, as token F1: 0.5 is strict, 0.1 exploratory [default: 0.3]. With bm25 "
        "it is the share of the expected text's own score [default: 0.5].",
        type=float,
    ),
    CorpusOption(
        "match-chunk",
        "Compare chunks of so many tokens; the best one counts. Short answers need small chunks: n words in c tokens "
        "reach F1 2n/(n+c) at most, 5 in 60 .154, 5 in 25 .333 [default: whole texts; bm25: passages of 60].",
        type=int,
    ),
)
COSINE_OPTIONS = (
    CorpusOption(
        "match-embedder",
        "The encoder that --match hybrid goes by where nothing else matches; for rankings in files only.",
    ),
    CorpusOption("match-cosine", "The cosine that counts as a match; each encoder has a scale of its own.", type=float),
)
LOG_OPTIONS = (
    CorpusOption(
        "match",
        "What makes a hit relevant: its id, or a text like the expected one.",
        values=("id", "exact", "tokens"),
        default="id",
    ),
    CorpusOption(
        "match-threshold",
        "How alike two texts must be to match, as token F1: 0.5 is strict, 0.1 exploratory [default: 0.3].",
        type=float,
    ),
    CorpusOption(
        "match-chunk",
        "Compare chunks of so many tokens; the best one counts. Short answers need small ones [default: whole texts].",
        type=int,
    ),
)
