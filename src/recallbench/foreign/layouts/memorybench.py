"""memorybench's `report.json` (supermemoryai): answers, and what a provider returned, with the session it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from recallbench.corpora.stream import Stream
from recallbench.foreign.layouts.layout import Claim, Imported, ImportedQuestion, JsonFields, Layout, shown
from recallbench.foreign.layouts.mempalace import mean_claim
from recallbench.foreign.layouts.row_files import files_with, list_rows, the_one

_BENCHMARKS = ("locomo", "longmemeval")
_SESSION = re.compile(r"(.+)-(?:(session_[0-9]+)|session-([0-9]+))")
_LOCOMO_QUESTION = re.compile(r"(.+)-q[0-9]+")
_FIGURES = {"hitAtK": "hit@{k}", "recallAtK": "recall@{k}", "mrr": "mrr", "ndcg": "ndcg@{k}"}
"""Its figures of retrieval, and their names here; a model said which texts are relevant."""


def recognises(folder: Path) -> bool:
    """Return whether there is such a report."""
    return bool(_files(folder))


def _files(folder: Path) -> list[Path]:
    return files_with(folder, "*.json", ("provider", "benchmark", "runId", "answeringModel", "summary"))


def read(folder: Path) -> Imported:
    """Return the sessions that the results name; rows state no gold, and the figures are a model's word."""
    path = the_one(folder, _files(folder), "report")
    head = JsonFields(path, 1, Stream(path, "").plain_fields("evaluations"), "head")
    corpus, facts = head.required("benchmark"), {name: head.required(name) for name in ("provider", "runId", "judge")}
    if corpus not in _BENCHMARKS:
        raise head.refusal("benchmark", " or ".join(_BENCHMARKS), shown(corpus))
    questions: list[ImportedQuestion] = []
    metrics: list[JsonFields] = []
    memories = 0
    for row in list_rows(path, "evaluations"):
        question, results = _question(row, corpus)
        questions.append(question)
        memories += results
        if "retrievalMetrics" in row.fields:
            metrics.append(_metrics(row))
    return Imported(
        NAME,
        folder,
        tuple(questions),
        tuple(_claims(metrics, path)),
        facts,
        tuple(_unstated(len(questions), memories, metrics)),
        rows=path.name,
        corpus=corpus,
        gold_stated=False,
    )


def _question(row: JsonFields, corpus: str) -> tuple[ImportedQuestion, int]:
    """Return the question with the sessions of its results, and how many results there were."""
    id, results = row.required("questionId"), row.fields.get("searchResults")
    if not isinstance(results, list):
        raise row.refusal("searchResults", "a list of results", shown(results))
    scope = id
    if corpus == "locomo":
        match = _LOCOMO_QUESTION.fullmatch(id)
        if match is None:
            raise row.refusal("questionId", "an id such as conv-26-q0", shown(id))
        scope = match[1]
    question = ImportedQuestion(
        id=id,
        gold=(),
        ranked=tuple(dict.fromkeys(_session(result, row) for result in results)),
        scope=scope,
        kinds={"questionType": row.required("questionType")},
        text=row.required("question"),
        abstention=id.endswith("_abs"),
    )
    return question, len(results)


def _session(result: Any, row: JsonFields) -> str:
    """Return the session that a result comes from, as `<scope>/<session>`."""
    metadata = result.get("metadata") if isinstance(result, dict) else None
    id = metadata.get("sessionId") if isinstance(metadata, dict) else None
    match = _SESSION.fullmatch(id) if isinstance(id, str) else None
    if match is None:
        raise row.refusal(
            "searchResults", "in each result the session that it comes from (metadata.sessionId)", shown(result)
        )
    return f"{match[1]}/{match[2] or match[3]}"


def _metrics(row: JsonFields) -> JsonFields:
    fields = row.fields["retrievalMetrics"]
    metrics = JsonFields(row.path, row.line, fields if isinstance(fields, dict) else {}, row.unit)
    for name in (*_FIGURES, "k"):
        if metrics.number(name) is None:
            raise row.refusal(f"retrievalMetrics.{name}", "a number", "nothing")
    return metrics


def _claims(metrics: Sequence[JsonFields], path: Path) -> Iterator[Claim]:
    if metrics:
        k = max(row.whole("k") or 0 for row in metrics)
        for field, name in _FIGURES.items():
            figures = [row.number(field) or 0.0 for row in metrics]
            yield mean_claim(name.format(k=k), figures, f"{path.name} retrievalMetrics.{field}, the mean of all rows")


def _unstated(questions: int, memories: int, metrics: Sequence[JsonFields]) -> Iterator[str]:
    yield "rows state no gold: it is the dataset's"
    yield (
        f"{memories} results came back, {memories / questions:.1f} a question: a session stands where its first result "
        "stands, so that k counts sessions"
    )
    if metrics:
        yield (
            "its hit, recall, mrr and ndcg follow a model's word on each text, not gold; its recall is 1 wherever one "
            "text was called relevant"
        )


NAME = "memorybench"
LAYOUT = Layout(NAME, "memorybench's report.json", recognises, read)
