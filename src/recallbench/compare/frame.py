"""The conditions of a comparison: what two results must share, and what may differ.

A difference is refused where the two figures would answer different questions:

    protocol, clarifications    a measure means what its protocol says
    dataset, denominator        other questions, or another gold
    matching                    one text that matches is enough, or each is to be found
    time, scope                 a question is answered from other segments
    depth                       only beyond the shallower of the two: no measure there has two values

Everything else is what two systems are compared for, and is said: the encoder, the store with its version and
settings, the pipeline, how a store kept to the time of a question, and how deep it was asked. A gate is stricter than a
person who compares: a release whose encoder was changed by mistake is to be refused, so it names what may differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.errors import UsageError
from recallbench.escaping.terminal import visible
from recallbench.protocol.frozen import load
from recallbench.reports.cells import in_no_mean, system
from recallbench.reports.comparison import NOT_STATED, UnlikePart
from recallbench.results.metrics import Metrics
from recallbench.results.pipeline_part import StagePart
from recallbench.retrieval.pipeline.pipeline import pipeline_words
from recallbench.scoring.editions import FIRST

ALLOWABLE = ("embedder", "store", "pipeline")
"""Differences that whoever is strict may allow; any other would compare answers to different questions."""
DEPTH = "depth"
"""The kind of difference that leaves the measures within both depths."""
GOES_WITHOUT_SAYING = (("time", "none"), ("time", "kept"))
T = TypeVar("T")
_SHA256 = re.compile(r"\b[0-9a-f]{64}\b")


def common(first: Metrics, second: Metrics) -> list[str]:
    """Return what two comparable results share, a line each."""
    retrieval, shallower = first.retrieval, min(first.retrieval.depth, second.retrieval.depth)
    deep = f"rankings {shallower} deep"
    if retrieval.depth != second.retrieval.depth:
        deep += " are compared: no measure beyond"
    abstaining = "" if first.abstention is None else f", {in_no_mean(first.abstention.questions)}"
    return [
        f"protocol {first.protocol.version}; {first.corpus.name}, sha256 {first.dataset_sha256}",
        f"{retrieval.asked} questions asked, {retrieval.left_out} without evidence left out{abstaining}; "
        f"scope {retrieval.scope}, {deep}",
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


def unlike(
    first: Metrics,
    second: Metrics,
    names: tuple[str, str],
    allowed: Collection[str] | None = None,
    allowed_where: str = "",
) -> list[UnlikePart]:
    """Return the differences of two results; raises UsageError, with both values, for those that are refused.

    These are the ones that leave nothing to compare; with `allowed`, also each that it does not name. `allowed_where`
    says in which file that stands.
    """
    if allowed is not None:
        _check_allowed(allowed)
    asked = list(_forbidden_differences(first, second))
    said = [*([part for kind, part in asked if kind == DEPTH] if allowed is None else ()), *_ways(first, second)]
    forbidden = [(kind, part) for kind, part in asked if part not in said]
    allowable = list(_system_differences(first, second))
    if forbidden:
        if {kind for kind, _ in forbidden} == {"denominator"} and first.retrieval.limit != second.retrieval.limit:
            raise _limited(first, second, names)
        raise UsageError(
            f"{names[0]} and {names[1]} can't be compared: they differ in {_joined(kind for kind, _ in forbidden)}",
            expected="one protocol, clarifications, dataset, matching, time, "
            f"{'' if allowed is None else 'depth, '}scope and denominator",
            found="; ".join(_in_words(part) for _, part in forbidden),
            remedy="measure both alike",
        )
    may_differ = ALLOWABLE if allowed is None else allowed
    missing = [kind for kind in ALLOWABLE if kind in {kind for kind, _ in allowable} - set(may_differ)]
    if missing:
        to_allow = ", ".join(f'"{kind}"' for kind in sorted({*may_differ, *missing}))
        raise UsageError(
            f"{names[0]} and {names[1]} differ in {_joined(missing)}, which was not allowed",
            expected="results that differ only in what is allowed",
            found="; ".join(
                f"{part.what}: {part.first} against {part.second}" for kind, part in allowable if kind in missing
            ),
            remedy=f"if that is what you compare: allow = [{to_allow}]{allowed_where}",
        )
    return [*(part for _, part in allowable), *said]


def _limited(first: Metrics, second: Metrics, names: tuple[str, str]) -> UsageError:
    """Return the error for results one of which was asked fewer questions by --limit."""
    (few, fewer), (many, more) = sorted(
        zip((first.retrieval, second.retrieval), names, strict=True),
        key=lambda side: (side[0].limit is None, side[0].asked),
    )
    again = "without --limit" if many.limit is None else f"with --limit {many.limit}"
    limit = "" if many.limit is None else f" (--limit {many.limit})"
    return UsageError(
        f"{names[0]} and {names[1]} can't be compared: they were asked other questions",
        expected="the same questions of both",
        found=f"{fewer} asked only {few.asked} questions (--limit {few.limit}), {more} asked {many.asked}{limit}",
        remedy=f"run {fewer} again {again}",
    )


def _ways(first: Metrics, second: Metrics) -> Iterator[UnlikePart]:
    """Yield in which way both kept to the time of a question, where the ways differ."""
    ways = [None if metrics.time is None else metrics.time.way for metrics in (first, second)]
    if ways[0] != ways[1] and _time(first) == _time(second):
        here, there = (visible(way or "none") for way in ways)
        yield UnlikePart(what="way of keeping to the time of a question", first=here, second=there)


def comparable_groups(sides: Iterable[T], reason: Callable[[T, T], str]) -> list[list[T]]:
    """Return the sides in groups, each with those that `reason` holds nothing against beside the group's first."""
    groups: list[list[T]] = []
    for side in sides:
        fitting = next((group for group in groups if not reason(group[0], side)), None)
        if fitting is None:
            groups.append([side])
        else:
            fitting.append(side)
    return groups


def series_facts(metrics: Metrics) -> dict[str, str]:
    """Return all that results share which are one series over time; they differ in version and settings alone."""
    # Series are known by a hash over these, which a fact that goes without saying is not to change.
    asked = {what: value for _, what, value in _asked(metrics) if (what, value) not in GOES_WITHOUT_SAYING}
    return {**asked, "system": system(metrics), **_embedder(metrics), **_pipeline(metrics)}


def why_apart(first: Metrics, other: Metrics) -> str:
    """Return the first reason why two results were not asked the same, in words; empty where they were."""
    for _, part in _forbidden_differences(first, other):
        return _in_words(part)
    return ""


def _in_words(part: UnlikePart) -> str:
    """Return a difference for people, with the beginnings of hashes."""
    words = plain_names(f"{part.what}: {part.first} against {part.second}")
    return _SHA256.sub(lambda digest: digest[0][:12], words)


def _time(metrics: Metrics) -> str:
    if metrics.time is None:
        return "none"
    return "ignored" if metrics.time.way == "ignored" else "kept"


def _forbidden_differences(first: Metrics, second: Metrics) -> Iterator[tuple[str, UnlikePart]]:
    """Yield the differences that no option allows."""
    for (kind, what, value), (_, _, other) in zip(_asked(first), _asked(second), strict=False):
        if value != other:
            yield kind, UnlikePart(what=what, first=visible(value), second=visible(other))


def _asked(metrics: Metrics) -> Iterator[tuple[str, str, str]]:
    """Yield what was asked, and how it counts: the kind of each fact, its name and its value."""
    protocol, retrieval = metrics.protocol, metrics.retrieval
    yield "protocol", "protocol", f"{protocol.version} {protocol.sha256}"
    yield "clarifications", "clarifications", load().counted_under(protocol.clarifications_sha256)
    yield "dataset", "dataset", f"{metrics.corpus.name} {metrics.dataset_sha256}"
    yield "matching", "matching", _matching(metrics)
    yield "time", "time", _time(metrics)
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


def _matching(metrics: Metrics) -> str:
    """Return how matching texts count, which the name of the method does not say."""
    if metrics.matching is None:
        return "by id"
    first = metrics.statistics_edition == FIRST.number
    return "each text that matches is to be found" if first else "the first text that matches has found it"


def _system_differences(first: Metrics, second: Metrics) -> Iterator[tuple[str, UnlikePart]]:
    """Yield the differences in the system under test."""

    def differing(
        kind: str, first_facts: Mapping[str, str], second_facts: Mapping[str, str]
    ) -> Iterator[tuple[str, UnlikePart]]:
        for name in sorted({*first_facts, *second_facts}, key=list({**first_facts, **second_facts}).index):
            if first_facts.get(name) != second_facts.get(name):
                here, there = (side.get(name, NOT_STATED) or "none" for side in (first_facts, second_facts))
                yield kind, UnlikePart(what=visible(name), first=visible(here), second=visible(there))

    for kind, facts in (("embedder", _embedder), ("store", _store), ("pipeline", _pipeline)):
        differences = list(differing(kind, facts(first), facts(second)))
        # Every detail of another encoder or store differs, so its name is enough.
        yield from (differences[:1] if differences and differences[0][1].what == kind else differences)


def _embedder(metrics: Metrics) -> dict[str, str]:
    fields = metrics.embedder.fingerprint if metrics.embedder else {}
    return {"embedder": metrics.embedder_name, **{f"embedder's {name}": value for name, value in fields.items()}}


def _store(metrics: Metrics) -> dict[str, str]:
    settings = {f"setting {name}": value for name, value in metrics.guc_state.items()}
    names = {"store": metrics.store.name, "store's variant": metrics.store.variant}
    return {**names, "store's version": metrics.store.version, **settings}


def _pipeline(metrics: Metrics) -> dict[str, str]:
    if metrics.pipeline is None:
        return {"pipeline": "search alone"}
    told = {f"{stage.name}'s {name}": value for stage in metrics.pipeline.stages for name, value in _told(stage)}
    return {"pipeline": pipeline_words(metrics.pipeline.words, metrics.pipeline.sha256), **told}


def _told(stage: StagePart) -> Iterator[tuple[str, str]]:
    """Yield what a stage said itself of how it worked; the store of a leg with its version."""
    yield from stage.settings.items()
    if stage.store:
        yield "store", f"{stage.store}, {stage.version}"


def _check_allowed(allowed: Collection[str]) -> None:
    unknown = sorted(set(allowed) - set(ALLOWABLE))
    if unknown:
        raise UsageError(
            f"{unknown[0]} can't be allowed to differ",
            expected=" or ".join((*ALLOWABLE, ",".join(ALLOWABLE))),
            found=unknown[0],
            remedy="no other difference can be allowed: measure both alike",
        )


def _joined(words: Iterator[str] | Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(words))
