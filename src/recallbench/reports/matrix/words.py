"""What a matrix says in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.reports.cells import share
from recallbench.reports.comparison import LEVEL, p_text
from recallbench.reports.matrix.document import BM25, MatrixCorpusPart, MatrixDocument, MatrixPairPart


def title(matrix: MatrixDocument) -> str:
    """Return store, encoders and corpora in a line."""
    encoders, corpora = len(matrix.encoders), len(matrix.corpora)
    return (
        f"{encoders} {'encoder' if encoders == 1 else 'encoders'} on "
        f"{corpora} {'corpus' if corpora == 1 else 'corpora'}, store {matrix.store}"
    )


def asked(corpus: MatrixCorpusPart) -> str:
    """Return what systems were asked of a corpus."""
    clusters = f" in {_clusters(corpus.clusters)}" if corpus.clusters is not None else ""
    return f"{plain_names(corpus.name)}: {corpus.n:,} questions{clusters}, {corpus.segments:,} segments"


def _clusters(count: int) -> str:
    return f"{count} {'cluster' if count == 1 else 'clusters'}"


def failures(matrix: MatrixDocument) -> list[str]:
    """Return a line for each cell that failed."""
    return [f"{cell.encoder} on {plain_names(cell.corpus)} failed: {cell.failure}" for cell in matrix.failed]


def notes(matrix: MatrixDocument) -> list[str]:
    """Return sentences on how to read the tables."""
    leading = matrix.measures[0]
    lines = [
        "Systems of a corpus that share a letter can't be told apart by the measure before it: paired tests over the "
        f"same questions, corrected by Holm for every pair of that corpus, {BM25} included.",
        *_out_of_reach(matrix),
    ]
    efforts = [cell.effort for cell in matrix.cells if cell.effort is not None]
    timed = [effort for effort in efforts if effort.seconds is not None]
    if timed:
        machines = sorted({f"{effort.cores} processors {effort.cpu}" for effort in timed})
        shares = [effort.others for effort in timed if effort.others is not None]
        busy = f"; other processes had up to {share(max(shares))} of them meanwhile" if shares else ""
        most = max(effort.probed for effort in timed)
        lines.append(
            f"CPU s: seconds of processors for 1,000 segments, tokenising included, by a probe that embeds {most} "
            f"segments of the corpus anew, whatever the cache holds ({'; '.join(machines)}{busy})."
        )
    lines += [
        f"per CPU s: {leading} divided by these seconds. per KiB: {leading} divided by the kibibytes of a vector. Both "
        "favour what is cheap: the measure itself says what is found.",
        "cut: segments that are longer than the encoder reads. lost: the share of all tokens behind its limit.",
        "Differences are the second system minus the first. Holm corrects within a family: the rows of one table, one "
        f"corpus and one measure. Another family has another corrected p for the same pair. * marks {LEVEL} or below.",
        "smallest p: the least that these questions could have reached. win/tie/loss: questions of which the second "
        "makes more, as much, less. detectable: the true difference that would be found four times in five, before the "
        "correction. one left out: the smallest and the largest difference when any one cluster is left out.",
    ]
    if matrix.apart:
        apart = ", ".join(map(plain_names, matrix.apart))
        lines.append(f"All together leaves out {apart}: another corpus here asks the same questions.")
    kept = sum(cell.kept for cell in matrix.cells)
    if kept:
        lines.append(f"{kept} of {len(matrix.cells)} cells had been measured before, and were read.")
    return lines


def led_pairs(matrix: MatrixDocument, corpus: str) -> list[MatrixPairPart]:
    """Return every pair of a corpus by the leading measure."""
    return [pair for pair in matrix.of_family("all") if (pair.corpus, pair.measure) == (corpus, matrix.measures[0])]


def is_out_of_reach(pairs: Sequence[MatrixPairPart]) -> bool:
    """Whether these pairs could tell nothing apart after the correction, whatever was found."""
    return min((pair.smallest_p for pair in pairs), default=0.0) * len(pairs) > LEVEL


def _out_of_reach(matrix: MatrixDocument) -> list[str]:
    """Return a line for each corpus whose letters could tell nothing apart, whatever was found."""
    lines = []
    for corpus in matrix.corpora:
        pairs = led_pairs(matrix, corpus.name)
        if is_out_of_reach(pairs):
            least = min(pair.smallest_p for pair in pairs)
            few = "the questions that differ" if corpus.clusters is None else _clusters(corpus.clusters)
            times = f", which Holm multiplies by {len(pairs)} for so many pairs" if len(pairs) > 1 else ""
            lines.append(
                f"{plain_names(corpus.name)}: letters could tell nothing apart, whatever was found: with {few} no p "
                f"lies below {p_text(least)}{times}. The tables of differences make fewer tests."
            )
    return lines
