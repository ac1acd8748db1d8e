"""The groups of options in the help of a command that has many."""

from __future__ import annotations

from collections.abc import Iterable

MANY = 15
"""A command with so many options shows them in groups."""
OWN = "Options of this command"
ONE_STORE = "Options of one store alone"
GROUPS = {
    OWN: (),
    "What is measured": (
        *("corpus", "corpora", "corpus_file", "corpus_shape", "name", "download", "limit", "depth", "scope", "time"),
        *("split", "qrels_revision", "pin", "stale_after", "queries", "query", "controls", "allow_deviation"),
    ),
    "The system under test": (
        *("store", "set", "pipeline", "dsn", "embedder", "encoders", "max_tokens", "dtype", "backend", "version"),
    ),
    "How hits are judged": (
        *("gold", "qrels", "texts", "ties", "match", "match_threshold", "match_chunk", "match_embedder"),
        *("match_cosine", "allow_random_matches", "k", "ks", "by", "precision", "ndcg", "percentiles", "compare"),
    ),
    "Where the work is done": ("engine", "ray_address"),
    "What is written, and where": ("out", "folder", "label", "with_text", "save", "plot", "cache_dir"),
    "What makes it fail": ("keep_going", "require_verified", "require_quiet", "strict", "fail_if", "gate"),
    ONE_STORE: (),
    "How it is printed": ("format", "format_json", "show", "verbose", "quiet", "config", "_click_default_help"),
}
"""The parameters of each group; what stands in none is the command's own."""


def group_options(names: Iterable[str], store_flags: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of parameters by group, in the order of the help; a few options are one group."""
    listed, of_stores = list(names), set(store_flags)
    if len(listed) < MANY:
        return {"Options": listed}
    place = {name: group for group, members in GROUPS.items() for name in members}
    place |= dict.fromkeys(of_stores, ONE_STORE)
    grouped: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name in listed:
        grouped[place.get(name, OWN)].append(name)
    return {group: members for group, members in grouped.items() if members}
