"""The options of scored rankings, wherever the rankings are from."""

from __future__ import annotations

from typing import Any

from recallbench.cli import options
from recallbench.cli.command import PATH, Declaration, choice, option
from recallbench.corpora.matching import options as matching_options

TEXTS = "The file with the texts behind ids, which --match compares: JSON Lines with _id (or id) and text."
GOLD = "The file that says what is relevant: TREC or BEIR qrels, JSON Lines (query, relevant), or {query: {id: grade}}."
TABLE = (
    option("k", options.K_HELP, type=int, default=10),
    option("by", "Also show the means by `kind`, or by another field of the queries, as tenant or scope."),
    option("ks", "Show precision and recall at these depths, as 1,3,5,10,20, and the best F1."),
    option("plot", "Draw what --ks shows into this SVG file.", type=PATH),
    options.PRECISION,
    choice(
        "ndcg",
        "Whether nDCG is averaged over all queries with something to find, or over those with grades alone.",
        ["all", "graded"],
        default="all",
    ),
    choice(
        "percentiles",
        f"How percentiles of latencies are defined. {options.RULES}",
        options.PERCENTILE_RULES,
        default="nearest-rank",
    ),
)
"""How rankings are scored, and what of it is shown."""
MATCHING = (
    *options.of_corpus(*matching_options.OPTIONS, *matching_options.COSINE_OPTIONS),
    options.RANDOM_MATCHES,
)


def of_files(**more: Any) -> tuple[Declaration, ...]:
    """Return the options of rankings in files, each declared with `more`."""
    return (
        option("gold", GOLD, type=PATH, **more),
        option("texts", TEXTS, type=PATH, **more),
        choice("ties", options.TIES_HELP, ["file", "trec"], default="file", **more),
    )
