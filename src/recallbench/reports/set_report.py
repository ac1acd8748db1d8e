"""The sections of `report.md` for labelled sets; one that does not apply is empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recallbench.escaping.markdown import Markup, code, inline, opening
from recallbench.reports.canary.drawn import canary_sentences
from recallbench.reports.cells import figure, share
from recallbench.reports.slices import slice_table
from recallbench.reports.table import Table
from recallbench.results.metrics import OVERALL, HubPart, Metrics
from recallbench.results.sets.labels_part import LabelsPart

NAMED = 5
"""How many counts that are not as published are named."""
SUBSET_MEASURE = "ndcg@10"
"""What the tables of LMEB and MTEB state of a subset."""


class _Subset(NamedTuple):
    kind: str
    n: int
    value: float


def sections(metrics: Metrics) -> Sequence[list[str]]:
    """Return the sections of figures: tenants, the worst questions, the age of labels, matching by text."""
    return (_tenants(metrics), _worst(metrics), _labels(metrics), _matching(metrics))


def sources(metrics: Metrics) -> Sequence[list[str]]:
    """Return the sections of the files that the set was made of, and of the draw of its questions."""
    return (_hub(metrics), _canary(metrics))


def _tenants(metrics: Metrics) -> list[str]:
    if metrics.tenants is None:
        return []
    return ["## By tenant", "", *slice_table(metrics, "tenant", metrics.tenants)]


def _worst(metrics: Metrics) -> list[str]:
    if metrics.worst is None:
        return []
    title = ["## Questions that drag the mean down", ""]
    if not metrics.worst:
        return [*title, "None: every question has all that it could have in its first ten, the first of it on top."]
    rows = [
        (
            code(question.question_id),
            question.kind,
            question.tenant or "–",
            "none came back" if question.first_rank is None else str(question.first_rank),
            f"{question.found} of {question.gold}",
        )
        for question in metrics.worst
    ]
    return [
        *title,
        *Table(("question", "kind", "tenant", "first gold at rank", "gold in the first 10"), rows).markdown(),
    ]


def _labels(metrics: Metrics) -> list[str]:
    labels = metrics.labels
    if labels is None:
        return []

    between = f", from {labels.oldest} to {labels.newest}" if labels.dated else ""
    dated = _counted(labels.dated, "query has dated labels", "queries have dated labels")
    undated = _counted(labels.undated, "has no date", "have no date")
    lines: list[str] = [inline(f"{dated}{between}; {undated}."), *passed_over(labels)]
    return ["## Labels", "", *lines, *(f"{line[0].upper()}{line[1:]}." for line in unresolved(labels))]


def passed_over(labels: LabelsPart) -> list[str]:
    """Return how many queries no figure counts, in a sentence for each reason; none where all were asked."""
    counts = (
        (labels.unjudged, "not judged"),
        (labels.irrelevant, "judged with grade 0 alone"),
        (labels.unanswerable, "judged by documents alone that are not there"),
    )
    return [
        _counted(count, f"query is {what}, and was passed over.", f"queries are {what}, and were passed over.")
        for count, what in counts
        if count
    ]


def _counted(count: int, of_one: str, of_more: str) -> str:
    return f"{count} {of_one if count == 1 else of_more}"


def unresolved(labels: LabelsPart) -> list[str]:
    """Return what a published set names that is not there, in a line each; none for a set where all is there."""
    counts = (
        (labels.unknown_gold, "judgements that name nothing which their query may be answered from"),
        (labels.unknown_candidates, "candidates that name no document"),
        (labels.unlisted, "queries without candidates, which may be answered from the whole corpus"),
    )
    return [f"{what}: {count}" for count, what in counts if count]


def _hub(metrics: Metrics) -> list[str]:
    hub = metrics.hub
    if hub is None:
        return []
    judged = f", judged by {hub.qrels_repo} at {hub.qrels_revision}" if hub.qrels_repo else ""
    rows = [
        (code(file.name), code(file.sha256), "pinned" if file.pinned else "recorded at first use, not pinned")
        for file in hub.files
    ]
    return [
        "## Files of the hub",
        "",
        opening(f"{hub.repo} at {hub.revision}{f', task {hub.task}' if hub.task else ''}{judged}."),
        "",
        *Table(("file", "sha256", "the hash was"), rows).markdown(),
        *(("", inline(line)) if (line := counts_as_published(hub)) else ()),
        *_subsets(metrics),
    ]


def _subsets(metrics: Metrics) -> list[str]:
    line = mean_over_subsets(metrics)
    rows = [(part.kind, str(part.n), figure(part.value)) for part in _by_subset(metrics)]
    return ["", inline(line), "", *Table(("subset", "n", SUBSET_MEASURE), rows).markdown()] if line else []


def mean_over_subsets(metrics: Metrics) -> str:
    """Return what tables of tasks call their score, each subset counting once; empty where there are no subsets."""
    parts = _by_subset(metrics)
    if len(parts) < 2:
        return ""
    mean, subsets = sum(part.value for part in parts) / len(parts), len(metrics.corpus.kinds)
    of = f"{len(parts)} of its {subsets}" if len(parts) < subsets else f"its {subsets}"
    return f"The mean of {SUBSET_MEASURE} over {of} subsets, each counting once: {figure(mean)}."


def _by_subset(metrics: Metrics) -> list[_Subset]:
    """Return the subsets of a task of the hub that have a question with gold: a subset is a kind there."""
    if metrics.hub is None or not metrics.hub.task:
        return []
    return [
        _Subset(kind, estimate.n, estimate.value)
        for kind, estimates in metrics.estimates.items()
        for estimate in estimates
        if kind != OVERALL and estimate.measure == SUBSET_MEASURE and estimate.value is not None
    ]


def counts_as_published(hub: HubPart) -> str:
    """Return whether the files of a task have the counts that were published of it; empty where nothing was."""
    wrong = [f"{count.name} {count.found} instead of {count.expected}" for count in hub.published if not count.holds]
    if not hub.published:
        return ""
    if not wrong:
        return f"The {len(hub.published)} counts of its subsets are as published."
    named = "; ".join(wrong[:NAMED]) + (f"; and {len(wrong) - NAMED} more" if len(wrong) > NAMED else "")
    return f"{len(wrong)} of the {len(hub.published)} counts of its subsets are not as published: {named}."


def _canary(metrics: Metrics) -> list[str]:
    if metrics.canary is None:
        return []
    return ["## Canary", *(line for sentence in canary_sentences(metrics.canary) for line in ("", inline(sentence)))]


def _matching(metrics: Metrics) -> list[str]:
    matching = metrics.matching
    if matching is None:
        return []
    lines = [
        "## Matching by text",
        "",
        "A segment is gold where its text matches what the question expects, by"
        f" **{inline(matching.method)}**. Figures of",
        "another method, or of gold known by id, count something else and can't be compared with these.",
        "",
        f"{matching.exact + matching.fuzzy} gold segments: {matching.exact} exact, {matching.fuzzy} fuzzy."
        f" Of {matching.questions} questions {matching.exact_questions} have an exact match,"
        f" {matching.fuzzy_questions} fuzzy ones alone, {matching.without} none.",
    ]
    if matching.by_id is not None and matching.by_text is not None:
        decided = [
            (name, str(part.questions), figure(part.recall_any_10), figure(part.mrr))
            for name, part in (("id", matching.by_id), ("text", matching.by_text))
        ]
        lines += ["", *Table(("gold known by", "questions", Markup("`recall_any@10`"), "MRR"), decided).markdown()]
    if matching.shares is not None:
        steps = [(step.step, str(step.gold), str(step.found_10), share(step.share)) for step in matching.shares]
        lines += [
            "",
            *Table(("gold by", "segments", "found first in the first 10", "share of questions"), steps).markdown(),
        ]
    if matching.without:
        named = ", ".join(map(code, matching.unmatched))
        unnamed = matching.without - len(matching.unmatched)
        more = f" and {unnamed} more" if unnamed > 0 else ""
        lines += ["", f"Nothing matches {named}{more}: 0 in the denominators below, and in no mean above."]
    rows = [
        (
            "exact" if point.threshold is None else f"{point.threshold:g}",
            str(point.questions),
            str(point.gold),
            figure(point.recall_frac_10),
            figure(point.recall_frac_10_of_all),
            share(point.random),
        )
        for point in matching.sensitivity
    ]
    recall = Markup("`recall_frac@10`")
    score = "relative BM25 from" if matching.method.startswith("bm25") else "token F1 from"
    head = (score, "questions", "gold", recall, "over all, unmatched as 0", "random texts match")
    pairs = "there was nothing to draw" if not matching.random_pairs else f"{matching.random_pairs} pairs were drawn"
    return [
        *lines,
        "",
        *Table(head, rows).markdown(),
        "",
        f"*Random texts match* is the share of segments drawn over the whole set that match all the same; {pairs}.",
        "What says the expected text exactly, and what comes nearest to it, is not drawn.",
    ]
