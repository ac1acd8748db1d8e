"""`raw_retrievals.jsonl` and the TREC files: every ranking, so that anyone can score it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from pydantic_core import to_json

from recallbench.corpora.records import Haystack, Question
from recallbench.escaping.sheet import column, unescaped
from recallbench.reading import lines
from recallbench.retrieval.ranking import Ranking

GRADED = "qrels.graded.trec"
"""A file beside the binary judgements, where a set has grades."""
NAMES = "documents.tsv"
"""A file of labelled sets, whose documents have names of their own."""
CONTROL_RUN = "run.bm25.trec"
"""The ranking of the lexical control."""
CONTROL_TAG = "recallbench-bm25-control"
STATIC_RUN = "run.static.trec"
"""The ranking of the static control, where it was asked for."""
STATIC_TAG = "recallbench-static-control"


def run_tag(store: str) -> str:
    """Return the tag of a store's TREC run."""
    return f"recallbench-{store}"


def rows(
    questions: Sequence[Question],
    candidates: Sequence[int],
    rankings: Sequence[Ranking],
    short: Sequence[Ranking] | None,
    texts: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Yield a JSON line per question: ids, ranks, scores, gold and kind. `texts` by segment id adds corpus text."""
    quote = cache(json.dumps)  # kinds, scopes and clusters recur
    for i, (question, ranking) in enumerate(zip(questions, rankings, strict=True)):
        scope = question.scope
        gold = ", ".join(quote(f"{scope}/{position}") for position in sorted(question.gold))
        parts = [
            f'"question_id": {quote(question.id)}',
            f'"scope": {quote(scope)}',
            f'"kind": {quote(question.kind)}',
            f'"cluster": {quote(question.cluster)}',
            f'"abstention": {quote(question.abstention)}',
            f'"denominators": [{", ".join(map(quote, sorted(question.denominators)))}]',
            f'"candidates": {candidates[i]}',
            f'"gold": [{gold}]',
        ]
        if question.one_find:
            parts.append('"one_find": true')
        if question.tenant:
            parts.append(f'"tenant": {quote(question.tenant)}')
        if question.grades:
            grades = {f"{scope}/{position}": grade for position, grade in sorted(question.grades.items())}
            parts.append(f'"grades": {json.dumps(grades)}')
        if texts is not None:
            parts.append(f'"question": {_quoted(question.text)}')
        parts.append(f'"hits": {_hits(scope, ranking, texts)}')
        if short is not None:
            parts.append(f'"hits_of_k_call": {_hits(scope, short[i], None)}')
        yield "{" + ", ".join(parts) + "}\n"


def _hits(scope: str, ranking: Ranking, texts: Mapping[str, str] | None) -> str:
    prefix = json.dumps(f"{scope}/")[:-1]
    # Writing floats is most of the work for every hit of a run: this is eight times as fast as repr.
    scores = to_json(ranking.scores).decode()[1:-1].split(",") if ranking.scores else []
    ranked = zip(_openings(len(ranking.positions)), ranking.positions, scores, strict=True)
    if texts is None:
        hits = [f'{rank}{prefix}{position}", "score": {score}}}' for rank, position, score in ranked]
    else:
        hits = [
            f'{rank}{prefix}{position}", "score": {score}, "text": {_quoted(texts[f"{scope}/{position}"])}}}'
            for rank, position, score in ranked
        ]
    return "[" + ", ".join(hits) + "]"


@cache
def _openings(length: int) -> list[str]:
    return [f'{{"rank": {rank}, "id": ' for rank in range(1, length + 1)]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def trec_run(questions: Iterable[Question], rankings: Iterable[Ranking], depth: int, tag: str) -> Iterator[str]:
    """Yield the lines of a TREC run. The score is depth - rank, so that no reader can re-order ties."""

    @cache
    def form(length: int) -> str:
        return "".join([f"\0%d {rank} {depth - rank} {tag}\n" for rank in range(1, min(length, depth) + 1)])

    tag = tag.replace("%", "%%")
    for question, ranking in zip(questions, rankings, strict=True):
        lines = form(len(ranking.positions)) % ranking.positions[:depth]
        yield lines.replace("\0", f"{question.id} Q0 {question.scope}/")


def document_names(haystacks: Iterable[Haystack], escape: Callable[[str], str] = column) -> Iterator[str]:
    """Yield a line for each document of a labelled set: its id in rankings and judgements, and its own name."""
    for haystack in haystacks:
        for segment in haystack.segments:
            yield f"{escape(segment.id)}\t{escape(segment.session)}\n"


def read_document_names(folder: Path, ids: Collection[str]) -> dict[str, str]:
    """Return the own names of these documents of a labelled set, by the ids that rankings have."""
    columns = (line.partition("\t") for _, line in lines(folder / NAMES))
    return {id: name for cell, _, own in columns if (id := unescaped(cell)) in ids and (name := unescaped(own))}


def trec_grades(questions: Iterable[Question]) -> Iterator[str]:
    """Yield the TREC judgements of a graded set for nDCG: whole numbers, 100 times the grade."""
    for question in questions:
        for position, grade in sorted((question.grades or dict.fromkeys(question.gold, 1.0)).items()):
            yield f"{question.id} 0 {question.scope}/{position} {round(100 * grade)}\n"


def trec_qrels(questions: Iterable[Question]) -> Iterator[str]:
    """Yield binary TREC judgements: the gold segments of each question."""
    for question in questions:
        for position in sorted(question.gold):
            yield f"{question.id} 0 {question.scope}/{position} 1\n"
