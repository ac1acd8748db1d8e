"""`raw_retrievals.jsonl` and the TREC files: every ranking, so that anyone can score it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    quote = json.dumps
    for i, (question, ranking) in enumerate(zip(questions, rankings, strict=True)):
        scope = question.scope
        gold = ", ".join(quote(f"{scope}/{position}") for position in sorted(question.gold))
        parts = [
            f'"question_id": {quote(question.id)}',
            f'"scope": {quote(scope)}',
            f'"kind": {quote(question.kind)}',
            f'"cluster": {quote(question.cluster)}',
            f'"abstention": {quote(question.abstention)}',
            f'"denominators": {quote(sorted(question.denominators))}',
            f'"candidates": {candidates[i]}',
            f'"gold": [{gold}]',
        ]
        if question.grades:
            grades = {f"{scope}/{position}": grade for position, grade in sorted(question.grades.items())}
            parts.append(f'"grades": {quote(grades)}')
        if texts is not None:
            parts.append(f'"question": {quote(question.text, ensure_ascii=False)}')
        parts.append(f'"hits": {_hits(scope, ranking, texts)}')
        if short is not None:
            parts.append(f'"hits_of_k_call": {_hits(scope, short[i], None)}')
        yield "{" + ", ".join(parts) + "}\n"


def _hits(scope: str, ranking: Ranking, texts: Mapping[str, str] | None) -> str:
    prefix = json.dumps(f"{scope}/")[:-1]
    scored = zip(ranking.positions, ranking.scores, strict=True)
    hits = [f'{prefix}{position}", "score": {score!r}' for position, score in scored]
    if texts is not None:
        told = [json.dumps(texts[f"{scope}/{position}"], ensure_ascii=False) for position in ranking.positions]
        hits = [f'{hit}, "text": {text}' for hit, text in zip(hits, told, strict=True)]
    return "[" + ", ".join([f'{{"rank": {rank}, "id": {hit}}}' for rank, hit in enumerate(hits, start=1)]) + "]"


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
