"""Result folders to compare: what they must share, what may differ, and their rankings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from recallbench.compare.frame import embedder_name
from recallbench.compare.side import Side, Words
from recallbench.corpora.registry import abilities, open_corpus
from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError
from recallbench.escaping.terminal import visible
from recallbench.protocol.frozen import load
from recallbench.reading import lines, parsed, state
from recallbench.reports.cells import system
from recallbench.reports.comparison import SidePart
from recallbench.results import manifest
from recallbench.results.folder import BLOCKED
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.results.rankings import read
from recallbench.results.rows import NAME as ROWS
from recallbench.results.rows import Row
from recallbench.results.stated import stated
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import PRIMARY, parse


def folder_side(folder: Path) -> tuple[Side, Metrics]:
    """A result to compare; raises InputError for what is none, and where its rankings do not give its figures."""
    if not folder.is_dir():
        raise _no_result(folder, "no such folder" if not folder.exists() else "a file")
    if (folder / BLOCKED).exists():
        raise _no_result(folder, f"{BLOCKED}: the run could not be made, so there is nothing to compare")
    metrics = stated(folder).metrics
    before = state(folder / ROWS) if (folder / ROWS).is_file() else None
    measures = _stated_measures(folder, metrics)
    try:
        rankings = read(folder, metrics, measures)
    except (MemoryError, OverflowError) as error:
        raise _no_result(folder, f"figures that no result has: {error}") from None
    fields = ["hits"] if len(metrics.retrieval.calls) == 1 else ["hits_of_k_call", "hits"]
    kinds, abstention, gold, calls = _ids(folder, fields)
    if before != state(folder / ROWS):
        raise _moved(folder)
    part = SidePart(
        name=str(folder),
        store=visible(system(metrics)),
        version=visible(metrics.store.version),
        embedder=visible(embedder_name(metrics)),
        verdict=visible(metrics.verdict.text),
        canonical=metrics.verdict.canonical,
        content_sha256=manifest.content_sha256(_hashes(folder)),
    )
    side = Side(
        part=part,
        rankings=rankings,
        kinds=kinds,
        gold=gold,
        calls=calls,
        notes=tuple(_notes(folder, metrics)),
        words=lambda chosen: _kept_words(folder, chosen),
        abilities=tuple(abilities(metrics.corpus.name, kinds, abstention)[1]),
    )
    return side, metrics


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

    return replace(side, words=words)


def _notes(folder: Path, metrics: Metrics) -> Iterator[str]:
    wrong = manifest.differences(folder)
    if wrong:
        yield f"{folder}: {wrong[0]}; `recallbench audit` tells more"
    retrieval = metrics.retrieval
    if retrieval.failed:
        yield f"{folder}: the store failed on {len(retrieval.failed)} questions, counted as the worst answers"
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


_Ids = tuple[tuple[str, ...], ...]


def _ids(folder: Path, fields: Sequence[str]) -> tuple[tuple[str, ...], list[bool], _Ids, tuple[_Ids, ...]]:
    """Kinds, whether nothing is to be found, gold, and the ids of each call; the rows were in order a moment ago."""
    kinds: list[str] = []
    abstention: list[bool] = []
    gold: list[tuple[str, ...]] = []
    calls: list[list[tuple[str, ...]]] = [[] for _ in fields]
    try:
        for number, line in lines(folder / ROWS):
            row = json.loads(line)
            kinds.append(row["kind"])
            abstention.append(bool(row.get("abstention")))
            gold.append(tuple(row["gold"]))
            for call, field in zip(calls, fields, strict=True):
                call.append(tuple([hit["id"] for hit in row[field]]))
                if [hit["rank"] for hit in row[field]] != list(range(1, len(row[field]) + 1)):
                    raise _misplaced(folder, number)
    except (ValueError, KeyError, TypeError) as error:
        raise _moved(folder) from error
    return tuple(kinds), abstention, tuple(gold), tuple(map(tuple, calls))


def _stated_measures(folder: Path, metrics: Metrics) -> list[Measure]:
    """All that the rankings must give again; raises InputError where too little is stated to hold them to."""
    found = [parse(one.measure) for one in metrics.estimates.get(OVERALL, [])]
    calls, depth = metrics.retrieval.calls, metrics.retrieval.depth
    if calls and (calls != sorted(calls) or calls[0] < 1 or calls[-1] != depth):
        raise _no_result(folder, f"calls of {', '.join(map(str, calls))} hits for rankings {depth} deep")
    missing = [one for one in PRIMARY if one.k <= metrics.retrieval.depth and one not in found]
    if missing or not calls:
        raise _no_result(folder, f"no figure for {missing[0]}" if missing else "no call to the store")
    return found


def _kept_words(folder: Path, chosen: Sequence[int]) -> Words:
    """What these rows carry of words; nothing unless they were written with text."""
    questions: dict[str, str] = {}
    segments: dict[str, str] = {}
    for number, line in lines(folder / ROWS):
        if number - 1 in chosen:
            row = Row.model_validate(parsed(line, folder / ROWS, number))
            if row.question is not None:
                questions[row.question_id] = row.question
            segments |= {hit.id: hit.text for hit in row.hits if hit.text is not None}
    return Words(questions, segments)


def _misplaced(folder: Path, number: int) -> InputError:
    return InputError(
        f"{folder.name}/{ROWS}, line {number}: not a ranking",
        expected="ranks 1, 2, 3 and so on",
        found="others",
        remedy="get the file again from where it was made, or make the result again",
    )


def _moved(folder: Path) -> InputError:
    return InputError(
        f"{folder.name}/{ROWS} changed while it was being read",
        expected="a file that nobody writes to",
        found="another content than a moment before",
        remedy="wait until nobody writes there, and run again",
    )


def _hashes(folder: Path) -> dict[str, str]:
    """Of its regular files; what else lies there is told by the manifest's differences, and is never opened."""
    return {
        path.name: sha256_of(path) for path in sorted(folder.iterdir()) if path.is_file() and path.name != manifest.NAME
    }


def _no_result(folder: Path, found: str) -> InputError:
    return InputError(
        f"{folder} is not a result folder to compare",
        expected="a folder that `recallbench run` wrote, or with --qrels a TREC run",
        found=found,
        remedy="name two folders under benchmarks/<corpus>/results/",
    )
