"""Result folders to compare: what they must share, what may differ, and their rankings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from recallbench.corpora.registry import open_corpus
from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError, UsageError
from recallbench.protocol.frozen import load
from recallbench.results import manifest
from recallbench.results.comparison import SidePart, UnlikePart
from recallbench.results.folder import BLOCKED
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.results.rankings import read
from recallbench.results.report import system
from recallbench.results.rows import Row, read_rows
from recallbench.results.stated import stated
from recallbench.scoring.measures.registry import parse
from recallbench.verdict.comparison_side import Side, Words

ALLOWABLE = ("embedder", "store")
"""What may differ when it is said that it may; all else would compare two different questions."""


def folder_side(folder: Path) -> tuple[Side, Metrics]:
    """A result to compare; raises InputError for what is none, and where its rankings do not give its figures."""
    if not folder.is_dir():
        raise _no_result(folder, "no such folder" if not folder.exists() else "a file")
    if (folder / BLOCKED).exists():
        raise _no_result(folder, f"{BLOCKED}: the run could not be made, so there is nothing to compare")
    metrics = stated(folder).metrics
    rankings = read(folder, metrics, [parse(one.measure) for one in metrics.estimates.get(OVERALL, [])])
    rows = read_rows(folder)
    calls = [tuple(tuple(hit.id for hit in row.hits) for row in rows)]
    if len(metrics.retrieval.calls) > 1:
        calls.insert(0, tuple(tuple(hit.id for hit in row.hits_of_k_call or ()) for row in rows))
    part = SidePart(
        name=str(folder),
        store=system(metrics),
        version=metrics.store.version,
        embedder=_embedder(metrics),
        verdict=metrics.verdict.text,
        canonical=metrics.verdict.canonical,
        content_sha256=manifest.content_sha256(_hashes(folder)),
    )
    side = Side(
        part=part,
        rankings=rankings,
        kinds=tuple(row.kind for row in rows),
        gold=tuple(tuple(row.gold) for row in rows),
        calls=tuple(calls),
        notes=tuple(_notes(folder, metrics)),
        words=lambda chosen: _kept_words([rows[i] for i in chosen]),
    )
    return side, metrics


def common(first: Metrics, second: Metrics) -> list[str]:
    """What two comparable results share, a line each."""
    one = first.retrieval
    return [
        f"protocol {first.protocol.version}; {first.corpus.name}, sha256 {first.dataset_sha256}",
        f"{one.asked} questions asked, {one.left_out} without evidence left out; "
        f"scope {one.scope}, rankings {one.depth} deep",
    ]


def unlike(first: Metrics, second: Metrics, names: tuple[str, str], allowed: Collection[str]) -> list[UnlikePart]:
    """In what two results differ, all of it allowed; raises UsageError, naming each with both values, otherwise."""
    _known(allowed)
    hard = list(_hard(first, second))
    soft = list(_soft(first, second))
    if hard:
        raise UsageError(
            f"{names[0]} and {names[1]} can't be compared: they differ in {_and(kind for kind, _ in hard)}",
            expected="one protocol, clarifications, dataset, depth, scope and denominator",
            found="; ".join(f"{part.what}: {part.first} against {part.second}" for _, part in hard),
            remedy="measure both alike; --allow is for embedder and store only",
        )
    missing = [kind for kind in ALLOWABLE if kind in {kind for kind, _ in soft} - set(allowed)]
    if missing:
        raise UsageError(
            f"{names[0]} and {names[1]} differ in {_and(missing)}, which was not allowed",
            expected="two results that differ in nothing but what --allow names",
            found="; ".join(
                f"{part.what}: {part.first} against {part.second}" for kind, part in soft if kind in missing
            ),
            remedy=f"if that is what you compare: --allow {','.join(sorted({*allowed, *missing}))}",
        )
    return [part for _, part in soft]


def with_corpus(side: Side, metrics: Metrics, file: Path, environ: Mapping[str, str]) -> Side:
    """The same side, with the words of the corpus file; raises InputError for another file than the result's."""
    corpus = open_corpus(metrics.corpus.name, rules=load(), file=file, environ=environ, allow_dataset_deviation=True)
    if corpus.sha256 != metrics.dataset_sha256:
        raise InputError(
            f"{file} is not the file that was measured",
            expected=f"sha256 {metrics.dataset_sha256}",
            found=f"sha256 {corpus.sha256}",
            remedy="name the file that was measured with --corpus-file, or leave it out",
        )

    def words(chosen: Sequence[int]) -> Words:
        wanted = {side.rankings.questions[i] for i in chosen}
        questions: dict[str, str] = {}
        segments: dict[str, str] = {}
        for haystack in corpus.haystacks():
            if found := {one.id: one.text for one in haystack.questions if one.id in wanted}:
                questions |= found
                segments |= {segment.id: segment.text for segment in haystack.segments}
        return Words(questions, segments)

    return Side(side.part, side.rankings, side.kinds, side.gold, side.calls, side.notes, words)


def _hard(first: Metrics, second: Metrics) -> Iterator[tuple[str, UnlikePart]]:
    """Differences that no option allows."""

    def told(metrics: Metrics) -> Iterator[tuple[str, str, str]]:
        protocol, retrieval = metrics.protocol, metrics.retrieval
        yield "protocol", "protocol", f"{protocol.version} {protocol.sha256}"
        yield "clarifications", "clarifications", protocol.clarifications_sha256
        yield "dataset", "dataset", f"{metrics.corpus.name} {metrics.dataset_sha256}"
        yield "depth", "depth", str(retrieval.depth)
        yield "scope", "scope", retrieval.scope
        yield "denominator", "limit", str(retrieval.limit or "none")
        yield "denominator", "questions asked", str(retrieval.asked)
        yield "denominator", "questions left out", str(retrieval.left_out)
        counts = ", ".join(f"{one.name} {one.scored} of {one.count}" for one in metrics.denominators)
        yield "denominator", "denominators", counts
        yield "denominator", "segments searched", str(retrieval.segments)

    for (kind, what, one), (_, _, other) in zip(told(first), told(second), strict=False):
        if one != other:
            yield kind, UnlikePart(what=what, first=one, second=other)


def _soft(first: Metrics, second: Metrics) -> Iterator[tuple[str, UnlikePart]]:
    """Differences in the system under test."""

    def differing(kind: str, one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[tuple[str, UnlikePart]]:
        for name in sorted({*one, *other}, key=list({**one, **other}).index):
            if one.get(name) != other.get(name):
                here, there = (side.get(name, "not stated") or "none" for side in (one, other))
                yield kind, UnlikePart(what=name, first=here, second=there)

    def embedder(metrics: Metrics) -> dict[str, str]:
        fields = metrics.embedder.fingerprint if metrics.embedder else {}
        return {"embedder": _embedder(metrics), **{f"embedder's {name}": value for name, value in fields.items()}}

    def store(metrics: Metrics) -> dict[str, str]:
        settings = {f"setting {name}": value for name, value in metrics.guc_state.items()}
        stated_ = {"store": metrics.store.name, "store's variant": metrics.store.variant}
        return {**stated_, "store's version": metrics.store.version, **settings}

    for kind, facts in (("embedder", embedder), ("store", store)):
        found = list(differing(kind, facts(first), facts(second)))
        # Of another encoder or store every detail differs: its name says it all.
        yield from (found[:1] if found and found[0][1].what == kind else found)


def _notes(folder: Path, metrics: Metrics) -> Iterator[str]:
    wrong = manifest.differences(folder)
    if wrong:
        yield f"{folder}: {wrong[0]}; `recallbench audit` tells more"
    retrieval = metrics.retrieval
    if retrieval.missing_hits:
        yield (
            f"{folder}: {retrieval.short_questions} questions were answered with fewer hits than asked for, "
            f"{retrieval.missing_hits} hits in all"
        )
    if len(retrieval.calls) > 1:
        yield (
            f"{folder}: measures at {retrieval.calls[0]} or less are scored from a call with k = {retrieval.calls[0]}; "
            f"rankings are shown from the one with k = {retrieval.depth}"
        )


def _kept_words(rows: Sequence[Row]) -> Words:
    return Words(
        {row.question_id: row.question for row in rows if row.question is not None},
        {hit.id: hit.text for row in rows for hit in row.hits if hit.text is not None},
    )


def _hashes(folder: Path) -> dict[str, str]:
    return {path.name: sha256_of(path) for path in sorted(folder.iterdir()) if path.name != manifest.NAME}


def _embedder(metrics: Metrics) -> str:
    return metrics.embedder.name if metrics.embedder else "no embedder"


def _known(allowed: Collection[str]) -> None:
    unknown = sorted(set(allowed) - set(ALLOWABLE))
    if unknown:
        raise UsageError(
            f"--allow {unknown[0]} is not possible",
            expected=" or ".join((*ALLOWABLE, ",".join(ALLOWABLE))),
            found=unknown[0],
            remedy="results that differ in anything else are measured again, alike",
        )


def _and(words: Iterator[str] | Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(words))


def _no_result(folder: Path, found: str) -> InputError:
    return InputError(
        f"{folder} is not a result folder to compare",
        expected="a folder that `recallbench run` wrote, or with --qrels a TREC run",
        found=found,
        remedy="name two folders under benchmarks/<corpus>/results/",
    )
