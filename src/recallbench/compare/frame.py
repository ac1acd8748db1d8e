"""What two results must share to be compared, and what may differ if it is said that it may."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from recallbench.errors import UsageError
from recallbench.escaping.terminal import visible
from recallbench.reports.comparison import NOT_STATED, UnlikePart
from recallbench.results.metrics import Metrics
from recallbench.scoring.editions import FIRST

ALLOWABLE = ("embedder", "store")
"""What may differ when it is said that it may; all else would compare two different questions."""


def common(first: Metrics, second: Metrics) -> list[str]:
    """What two comparable results share, a line each."""
    one = first.retrieval
    return [
        f"protocol {first.protocol.version}; {first.corpus.name}, sha256 {first.dataset_sha256}",
        f"{one.asked} questions asked, {one.left_out} without evidence left out; "
        f"scope {one.scope}, rankings {one.depth} deep",
        *_vectors(first, second),
    ]


def _vectors(first: Metrics, second: Metrics) -> Iterator[str]:
    if first.embedder and second.embedder and first.embedder.fingerprint == second.embedder.fingerprint:
        same = first.embedder.vectors_sha256 == second.embedder.vectors_sha256
        yield f"embedder {first.embedder.name}: " + (
            "the same vectors, byte for byte"
            if same
            else "one encoder, but other vectors in the last digits, as from another processor: near ties may turn"
        )


def unlike(first: Metrics, second: Metrics, names: tuple[str, str], allowed: Collection[str]) -> list[UnlikePart]:
    """In what two results differ, all of it allowed; raises UsageError, naming each with both values, otherwise."""
    _check_allowed(allowed)
    hard = list(_forbidden_differences(first, second))
    soft = list(_system_differences(first, second))
    if hard:
        raise UsageError(
            f"{names[0]} and {names[1]} can't be compared: they differ in {_joined(kind for kind, _ in hard)}",
            expected="one protocol, clarifications, dataset, matching, depth, scope and denominator",
            found="; ".join(f"{part.what}: {part.first} against {part.second}" for _, part in hard),
            remedy="measure both alike; --allow is for embedder and store only",
        )
    missing = [kind for kind in ALLOWABLE if kind in {kind for kind, _ in soft} - set(allowed)]
    if missing:
        raise UsageError(
            f"{names[0]} and {names[1]} differ in {_joined(missing)}, which was not allowed",
            expected="two results that differ in nothing but what --allow names",
            found="; ".join(
                f"{part.what}: {part.first} against {part.second}" for kind, part in soft if kind in missing
            ),
            remedy=f"if that is what you compare: --allow {','.join(sorted({*allowed, *missing}))}",
        )
    return [part for _, part in soft]


def _forbidden_differences(first: Metrics, second: Metrics) -> Iterator[tuple[str, UnlikePart]]:
    """Differences that no option allows."""

    def facts(metrics: Metrics) -> Iterator[tuple[str, str, str]]:
        protocol, retrieval = metrics.protocol, metrics.retrieval
        yield "protocol", "protocol", f"{protocol.version} {protocol.sha256}"
        yield "clarifications", "clarifications", protocol.clarifications_sha256
        yield "dataset", "dataset", f"{metrics.corpus.name} {metrics.dataset_sha256}"
        yield "matching", "matching", _matching(metrics)
        yield "depth", "depth", str(retrieval.depth)
        yield "scope", "scope", retrieval.scope
        yield "denominator", "limit", str(retrieval.limit or "none")
        yield "denominator", "questions asked", str(retrieval.asked)
        yield "denominator", "questions left out", str(retrieval.left_out)
        counts = ", ".join(
            f"{denominator.name} {denominator.scored} of {denominator.count}" for denominator in metrics.denominators
        )
        yield "denominator", "denominators", counts
        yield "denominator", "segments searched", str(retrieval.segments)

    for (kind, what, one), (_, _, other) in zip(facts(first), facts(second), strict=False):
        if one != other:
            yield kind, UnlikePart(what=what, first=visible(one), second=visible(other))


def _matching(metrics: Metrics) -> str:
    """What a text that matches counts for; one name stands for both ways."""
    if metrics.matching is None:
        return "by id"
    first = metrics.statistics_edition == FIRST.number
    return "each text that matches is to be found" if first else "the first text that matches has found it"


def _system_differences(first: Metrics, second: Metrics) -> Iterator[tuple[str, UnlikePart]]:
    """Differences in the system under test."""

    def differing(kind: str, one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[tuple[str, UnlikePart]]:
        for name in sorted({*one, *other}, key=list({**one, **other}).index):
            if one.get(name) != other.get(name):
                here, there = (side.get(name, NOT_STATED) or "none" for side in (one, other))
                yield kind, UnlikePart(what=visible(name), first=visible(here), second=visible(there))

    def embedder(metrics: Metrics) -> dict[str, str]:
        fields = metrics.embedder.fingerprint if metrics.embedder else {}
        return {"embedder": metrics.embedder_name, **{f"embedder's {name}": value for name, value in fields.items()}}

    def store(metrics: Metrics) -> dict[str, str]:
        settings = {f"setting {name}": value for name, value in metrics.guc_state.items()}
        stated_ = {"store": metrics.store.name, "store's variant": metrics.store.variant}
        return {**stated_, "store's version": metrics.store.version, **settings}

    for kind, facts in (("embedder", embedder), ("store", store)):
        differences = list(differing(kind, facts(first), facts(second)))
        # Of another encoder or store every detail differs: its name says it all.
        yield from (differences[:1] if differences and differences[0][1].what == kind else differences)


def _check_allowed(allowed: Collection[str]) -> None:
    unknown = sorted(set(allowed) - set(ALLOWABLE))
    if unknown:
        raise UsageError(
            f"--allow {unknown[0]} is not possible",
            expected=" or ".join((*ALLOWABLE, ",".join(ALLOWABLE))),
            found=unknown[0],
            remedy="results that differ in anything else are measured again, alike",
        )


def _joined(words: Iterator[str] | Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(words))
