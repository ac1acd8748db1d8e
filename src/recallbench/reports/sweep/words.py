"""What follows from a sweep, in sentences."""

from __future__ import annotations

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.results.sweep.document import NAME, SweepDocument, SweepPointPart


def title(document: SweepDocument) -> str:
    """Return the sweep and its corpus in a line."""
    count = len(document.points)
    return f"Sweep {document.name} on {short_names(document.corpus)}: {count} point{'s' if count != 1 else ''}"


def notes(document: SweepDocument) -> list[str]:
    """Return how the points came about, a sentence each."""
    kept = sum(point.kept for point in document.points)
    dependent = f" in {document.clusters} clusters of dependent ones" if document.clusters else ""
    drawn = f", seed {document.seed}" if document.method == "random" else ""
    days = sorted({f"{point.measured} on {point.cpu}" for point in document.points if point.measured})
    return [
        f"Each point was asked {document.questions:,} questions{dependent}, for {document.depth} hits; "
        f"{document.method}{drawn}.",
        *([f"{kept} of {len(document.points)} points were kept from before, with their times."] if kept else []),
        "p50 and p95 are nearest ranks of single warm searches, one caller at a time, vectors there already: "
        f"{'; '.join(days)}.",
    ]


def failures(document: SweepDocument) -> list[str]:
    """Return a line for each point that failed, with its reason."""
    lines = []
    for point in document.failed:
        if point.failure:
            lines.append(f"{named(point)} failed: {point.failure}")
        else:
            id, reason = next(iter(point.failed_questions.items()))
            lines.append(
                f"{named(point)}: {len(point.failed_questions)} questions have no answer and count as the worst; {id}: "
                f"{reason}"
            )
    return lines


def conclusion(document: SweepDocument) -> str:
    """Return what happened, whether one can believe it, and what to do next."""
    if not document.measured:
        return "No point was measured: mend what is named above, and give the same command again."
    best = max(document.measured, key=lambda point: point.estimate.value or 0.0 if point.estimate else 0.0)
    assert best.estimate is not None
    value = "–" if best.estimate.value is None else f"{best.estimate.value:.4f}"
    sentences = [
        f"Highest {best.estimate.measure}: {value}, {named(best)}; the highest of {len(document.measured)} is "
        "flattered by luck, and is no choice yet."
    ]
    if document.failed:
        sentences.append("Not whole: some points failed; the same command tries those alone again.")
    return " ".join(sentences)


def named(point: SweepPointPart) -> str:
    """Return a point's name with its parameters."""
    told = ", ".join(f"{name} = {value}" for name, value in point.parameters.items())
    return f"{point.name} ({told})" if told else point.name


def files() -> str:
    """Return which file has what."""
    return f"`{NAME}` has every figure; answers are kept by their addresses, so a later sweep asks none of them again."
