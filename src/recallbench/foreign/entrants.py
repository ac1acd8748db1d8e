"""Rankings that others made, judged by the gold of a result or of a corpus: entrants of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from recallbench.compare.entrant import Entrant
from recallbench.compare.trec import place_run
from recallbench.corpora.registry import open_corpus
from recallbench.protocol.frozen import load
from recallbench.results.rankings import Rankings, unanswered
from recallbench.results.trec import Ties, in_order_of, read_run


def run_hits(path: Path, ties: Ties) -> dict[str, list[str]]:
    """Return the ids of a TREC run by question, best first; `ties` is the order of equal scores."""
    return {question: [id for id, _ in in_order_of(ties, ranked)] for question, ranked in read_run(path).items()}


def corpus_gold(corpus: str, depth: int, corpus_files: Sequence[Path], environ: Mapping[str, str]) -> Rankings:
    """Return the questions of a corpus without an answer, to judge rankings by; raises where it is not here."""
    file = next(iter(corpus_files), None)
    opened = open_corpus(corpus, rules=load(), environ=environ, file=file, allow_dataset_deviation=True)
    return unanswered(opened, depth)


def placed_entrant(name: str, run: Mapping[str, Sequence[str]], base: Rankings) -> Entrant:
    """Return the rankings of others as an entrant, judged by the gold of `base`, with a note that says so."""
    rankings = place_run(name, run, base)
    missing = sum(
        not hits for hits, counts in zip(rankings.hit_ids[-1], base.answerable.tolist(), strict=True) if counts
    )
    longest = max(map(len, rankings.hit_ids[-1]))
    notes = [f"{missing} questions not answered, which count as empty rankings"] if missing else []
    notes.append(
        f"rankings up to {longest} deep, judged by the gold of {base.origin}; nothing vouches for their origin"
    )
    return Entrant(name, rankings, note="; ".join(notes))
