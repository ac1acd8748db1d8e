"""A result in sentences: what was found, beside the controls, and what the result may be called."""

from __future__ import annotations

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.corpora.registry import CORPORA
from recallbench.escaping.terminal import visible
from recallbench.reports.cells import share, system
from recallbench.reports.own_encoder import encoder_words
from recallbench.reports.time.visible import time_sentences
from recallbench.results.metrics import OVERALL, EstimatePart, Metrics

LEADING = "recall_any@{}"


def title(metrics: Metrics) -> str:
    """Return the corpus, the store and the encoder in a line; of a labelled set the name without its hash."""
    encoder = f" with {encoder_words(metrics)}" if metrics.embedder else ""
    return visible(f"{short_names(metrics.corpus.name)}: {system(metrics)}{encoder}")


def opening_sentence(metrics: Metrics) -> str:
    """Return how often something relevant was among the first hits, with interval, BM25 and chance."""
    estimate = leading(metrics)
    if estimate is None or estimate.value is None:
        return f"No question of {visible(short_names(metrics.corpus.name))} has anything to find."
    k = estimate.measure.partition("@")[2]
    bounds = ""
    if estimate.low is not None and estimate.high is not None:
        bounds = f" (95% interval {share(estimate.low)} to {share(estimate.high)})"
    bm25 = metrics.bm25(estimate.measure)
    is_bm25 = system(metrics) == "bm25"
    beside = [f"BM25 finds one for {share(bm25)}"] if bm25 is not None and not is_bm25 else []
    beside += [f"chance would for {share(estimate.chance)}"] if estimate.chance is not None else []
    return (
        f"{visible(system(metrics))} finds something relevant among its first {k} hits for {share(estimate.value)} of "
        f"{estimate.n:,} questions{bounds}" + (f"; {', '.join(beside)}." if beside else ".")
    )


def about_corpus(metrics: Metrics) -> list[str]:
    """Return what figures on a corpus outside the protocol are worth, and where its files are from; else nothing."""
    entry = CORPORA.get(metrics.corpus.name)
    if entry is None or entry.release is None:
        return []
    corpus = metrics.corpus
    release = f"{corpus.source} at commit {corpus.revision}"
    if metrics.dataset_sha256 == corpus.registered_sha256:
        files = f"Its {len(entry.release.files)} files are those of {release}"
    else:
        files = f"Its files are not those of {release}, so that what is known of these may not hold here"
    return [
        f"{corpus.name} is no corpus of the protocol. {entry.worth}",
        *time_sentences(metrics.time),
        visible(f"{files}; licence: {entry.licence}."),
    ]


def verdict_sentence(metrics: Metrics) -> str:
    """Return what the result was called when it was written, what that says, and who decides it again."""
    verdict = metrics.verdict
    label = "CANONICAL" if verdict.canonical else "not CANONICAL"
    if verdict.label == "VERIFIED":
        meaning = "every gate of the protocol holds"
    elif verdict.text != verdict.label:  # the text names what is pending
        meaning = "every gate of the protocol holds but that its files are in git, which no run can know of itself"
    else:
        meaning = "a gate of the protocol fails, or can't be decided"
    return visible(f"When written {verdict.text}, {label}: {meaning}. recallbench audit decides it again.")


def leading(metrics: Metrics) -> EstimatePart | None:
    """Return the estimate of recall_any at 10, or at the largest depth below it."""
    by_measure = {estimate.measure: estimate for estimate in metrics.estimates[OVERALL]}
    return next((by_measure[name] for name in map(LEADING.format, (10, 5, 1)) if name in by_measure), None)
