"""`raw_retrievals.jsonl` and the TREC files: every ranking, so that anyone can score it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from recallbench.corpora.records import Question
from recallbench.retrieval.ranking import Ranking


def rows(
    questions: Sequence[Question],
    candidates: Sequence[int],
    rankings: Sequence[Ranking],
    short: Sequence[Ranking] | None,
    texts: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """One JSON line per question: ids, ranks, scores, gold and kind; `texts` by segment id adds corpus text."""
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
    ranked = zip(_openings(len(ranking.positions)), ranking.positions, ranking.scores, strict=True)
    if texts is None:
        hits = [f'{rank}{prefix}{position}", "score": {score!r}}}' for rank, position, score in ranked]
    else:
        hits = [
            f'{rank}{prefix}{position}", "score": {score!r}, "text": {_quoted(texts[f"{scope}/{position}"])}}}'
            for rank, position, score in ranked
        ]
    return "[" + ", ".join(hits) + "]"


@cache
def _openings(length: int) -> list[str]:
    return [f'{{"rank": {rank}, "id": ' for rank in range(1, length + 1)]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def trec_run(questions: Iterable[Question], rankings: Iterable[Ranking], depth: int, tag: str) -> Iterator[str]:
    """TREC run lines; the score is depth - rank, so that no reader can re-order ties."""
    ends = [f" {rank} {depth - rank} {tag}\n" for rank in range(1, depth + 1)]
    for question, ranking in zip(questions, rankings, strict=True):
        start = f"{question.id} Q0 {question.scope}/"
        yield "".join([f"{start}{position}{end}" for position, end in zip(ranking.positions, ends, strict=False)])


def trec_qrels(questions: Iterable[Question]) -> Iterator[str]:
    """Binary TREC judgements: the gold segments of each question."""
    for question in questions:
        for position in sorted(question.gold):
            yield f"{question.id} 0 {question.scope}/{position} 1\n"
