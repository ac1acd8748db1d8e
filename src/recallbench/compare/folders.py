"""The comparison of two result folders, with the texts that are known of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from recallbench.compare.comparison import compare
from recallbench.compare.frame import common, unlike
from recallbench.compare.rules import Rule
from recallbench.compare.side import MEASURES, Side
from recallbench.corpora.labelled_sets.set_name import is_set_name, parse_set_name
from recallbench.corpora.records import Corpus
from recallbench.corpora.registry import abilities, open_corpus
from recallbench.errors import InputError, RecallBenchError, UsageError
from recallbench.escaping.terminal import visible
from recallbench.protocol.frozen import load
from recallbench.reports.cells import system
from recallbench.reports.comparison import Comparison, SidePart
from recallbench.reports.own_encoder import encoder_words
from recallbench.results import manifest
from recallbench.results.known_texts import KnownTexts, row_texts
from recallbench.results.matching_part import SharePart
from recallbench.results.metrics import Metrics
from recallbench.results.result import Result
from recallbench.scoring.measures.measure import Measure

_TextReader = Callable[[Sequence[int]], KnownTexts]


def compare_results(
    first: Result,
    second: Result,
    measures: Sequence[Measure] = (),
    conditions: Sequence[Rule] = (),
    *,
    allowed: Collection[str] | None = (),
    show: int = 20,
    texts: _TextReader | None = None,
) -> Comparison:
    """Return the second minus the first; raises UsageError where they can't be compared.

    `allowed` names what may differ: None lets everything that leaves something to compare. Without `measures`, those of
    `MEASURES` that both rankings reach. `texts` reads texts that the rows do not have.
    """
    first_side, second_side = result_side(first, texts), result_side(second)
    differing = unlike(first.metrics, second.metrics, (first_side.part.name, second_side.part.name), allowed)
    depth = min(first.metrics.retrieval.depth, second.metrics.retrieval.depth)
    chosen = _reached(measures, conditions, depth)
    basis = common(first.metrics, second.metrics)
    return compare(first_side, second_side, chosen, conditions, basis=basis, unlike=differing, show=show)


def result_side(result: Result, texts: _TextReader | None = None) -> Side:
    """Return a side of a comparison; raises InputError where the rankings do not give the result's figures."""
    metrics, rankings, wrong = result.metrics, result.rankings, manifest.differences(result.folder)
    return Side(
        part=SidePart(
            name=str(result.folder),
            store=visible(system(metrics)),
            version=visible(metrics.store.version),
            embedder=visible(encoder_words(metrics)),
            verdict=visible(metrics.verdict.text),
            canonical=metrics.verdict.canonical,
            content_sha256=result.content_sha256,
            altered=bool(wrong),
            shares=shares_of(metrics),
        ),
        rankings=rankings,
        notes=tuple(_notes(result.folder, metrics, wrong)),
        texts=texts or (lambda chosen: row_texts(result.folder, chosen)),
        abilities=tuple(abilities(metrics.corpus.name, rankings.kinds, rankings.abstention)[1]),
    )


def shares_of(metrics: Metrics) -> list[SharePart]:
    """Return what each step of hybrid matching decided; nothing where gold was not matched in steps."""
    return list((metrics.matching.shares if metrics.matching else None) or ())


def texts_at_hand(result: Result, environ: Mapping[str, str]) -> _TextReader:
    """Return a reader of texts in the rows, else in the corpus file where it is usually found, else of none.

    A set of one's own is looked for by its name in the folder that one is in. Only the file that was measured counts.
    """

    def read(chosen: Sequence[int]) -> KnownTexts:
        known = row_texts(result.folder, chosen)
        if known.questions:
            return known
        try:
            return corpus_texts(result, _own_folder(result.metrics.corpus.name), environ)(chosen)
        except (RecallBenchError, OSError):
            # Nobody named a file, so that none is missed: the comparison is the same without texts.
            return known

    return read


def _own_folder(name: str) -> Path | None:
    """Return the folder here that is called like a set of one's own; None where there is none."""
    folder = Path(parse_set_name(name).folder) if is_set_name(name) else None
    return folder if folder is not None and folder.is_dir() else None


def corpus_texts(result: Result, file: Path | None, environ: Mapping[str, str]) -> _TextReader:
    """Return a reader of texts in the measured corpus file; raises InputError for another file.

    Without a file, in the one that is found by variable or in the data folder; raises Blocked where none is.
    """
    metrics, questions_of = result.metrics, result.rankings.questions
    corpus = open_corpus(metrics.corpus.name, rules=load(), file=file, environ=environ, allow_dataset_deviation=True)
    if corpus.sha256 != metrics.dataset_sha256:
        raise InputError(
            f"{corpus.path} is not the file that was measured",
            expected=f"sha256 {metrics.dataset_sha256}",
            found=f"sha256 {corpus.sha256}",
            remedy="name the file that was measured with --corpus-file, or leave it out",
        )

    unmatched = _unmatched(corpus)

    def read(chosen: Sequence[int]) -> KnownTexts:
        missing = {questions_of[i] for i in chosen}
        questions: dict[str, str] = {}
        segments: dict[str, str] = {}
        for haystack in unmatched.haystacks():
            if texts := {question.id: question.text for question in haystack.questions if question.id in missing}:
                questions |= texts
                segments |= {segment.id: segment.text for segment in haystack.segments}
                missing -= texts.keys()
            if not missing:  # a large file is not read to its end
                break
        return KnownTexts(questions, segments)

    return read


def _unmatched(corpus: Corpus) -> Corpus:
    """Return the corpus without its gold from texts, which takes long to work out and is not wanted for texts."""
    if corpus.matching is None:
        return corpus
    from recallbench.corpora.matching.text_gold import TextMatched

    return corpus.unmatched if isinstance(corpus, TextMatched) else corpus


def _reached(measures: Sequence[Measure], conditions: Sequence[Rule], depth: int) -> list[Measure]:
    chosen = list(measures) or [measure for measure in MEASURES if measure.k <= depth]
    deeper = [measure for measure in (*chosen, *(c.measure for c in conditions)) if measure.k > depth]
    if deeper:
        raise UsageError(
            f"{deeper[0]} can't be taken from these rankings",
            expected=f"a depth of {depth} or less",
            found=str(deeper[0]),
            remedy="choose --measures within the depth of both results",
        )
    return chosen


def _notes(folder: Path, metrics: Metrics, wrong: Sequence[str]) -> Iterator[str]:
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
