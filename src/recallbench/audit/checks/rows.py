"""The rows of raw_retrievals.jsonl against the dataset: questions, labels, gold and texts."""

from collections import Counter
from collections.abc import Iterator

from recallbench.audit.declared import recorded_options
from recallbench.audit.examination import NO_DATASET, CannotTell, Examination, pass_unless
from recallbench.audit.gate import Finding, passed_if
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.records import Question
from recallbench.results.dataset import digest
from recallbench.results.rows import Row


def readable(subject: AuditSubject) -> Finding:
    rows = subject.rows
    stated = subject.metrics.retrieval.asked
    return passed_if(len(rows) == stated, f"{len(rows)} rows, {stated} questions asked as metrics.json states")


def questions(subject: AuditSubject) -> Finding:
    rows = subject.readable_rows
    expected = [question.id for question in _known_questions(subject)]
    counts = Counter(row.question_id for row in rows)
    problems = [f"{id} is missing" for id in expected if id not in counts]
    problems += [f"{id} is there {count} times" for id, count in counts.items() if count > 1]
    known = set(expected)
    problems += [f"{id} is no question of the dataset that was to be asked" for id in counts if id not in known]
    if not problems and [row.question_id for row in rows] != expected:
        first = next(i for i, row in enumerate(rows) if row.question_id != expected[i])
        problems.append(f"row {first + 1} is {rows[first].question_id}, the dataset has {expected[first]} there")
    return pass_unless(problems, f"{len(expected)} questions, each once, in the order of the dataset")


def gold(subject: AuditSubject) -> Finding:
    problems = []
    for row, question, _ in _pairs(subject):
        derived = [f"{question.scope}/{position}" for position in sorted(question.gold)]
        if row.gold != derived:
            problems.append(f"{row.question_id}: {_ids(subject, row.gold)} stated, {_ids(subject, derived)} derived")
        grades = {f"{question.scope}/{position}": grade for position, grade in question.grades.items()}
        if row.grades != grades:
            problems.append(f"{row.question_id}: other grades than the dataset's")
    return pass_unless(problems, "stated gold is what the dataset gives, question by question")


def labels(subject: AuditSubject) -> Finding:
    problems = []
    for row, question, size in _pairs(subject):
        pairs = (
            ("scope", row.scope, question.scope),
            ("kind", row.kind, question.kind),
            ("cluster", row.cluster, question.cluster),
            ("tenant", row.tenant, question.tenant),
            ("abstention", row.abstention, question.abstention),
            ("one_find", row.one_find, question.one_find),
            ("denominators", row.denominators, sorted(question.denominators)),
            ("candidates", row.candidates, size),
        )
        problems += [
            f"{row.question_id}: {name} {stated}, derived {derived}"
            for name, stated, derived in pairs
            if stated != derived
        ]
    return pass_unless(problems, "scope, kind, cluster, denominators and haystack size as the dataset has them")


def texts(subject: AuditSubject) -> Finding:
    rows = subject.readable_rows
    has_text, with_text = any(_has_text(row) for row in rows), recorded_options(subject).get("with_text")
    if has_text != bool(with_text) and rows:
        return Finding(
            "fail", f"the rows carry {'text' if has_text else 'no text'}, with_text is {with_text} in the options"
        )
    if not has_text:
        return Finding("pass", "the rows carry no text")
    digests = subject.dataset.digests
    problems = []
    for row, question, _ in _pairs(subject):
        if row.question != question.text:
            problems.append(f"{row.question_id}: another question text than the dataset's")
        wrong = [hit.id for hit in row.hits if digests.get(hit.id) != digest(hit.text or "")]
        wrong += [hit.id for hit in row.hits_of_k_call or () if hit.text is not None]
        problems += [f"{row.question_id}: {id} with another text than the dataset's" for id in wrong]
    return pass_unless(problems, "every text is the dataset's")


def _has_text(row: Row) -> bool:
    return row.question is not None or any(hit.text is not None for hit in (*row.hits, *(row.hits_of_k_call or ())))


def _known_questions(subject: AuditSubject) -> tuple[Question, ...]:
    if not subject.has_dataset:
        raise CannotTell(NO_DATASET)
    return subject.questions


def _pairs(subject: AuditSubject) -> Iterator[tuple[Row, Question, int]]:
    """Yield each row with the dataset's question and haystack size. RB-QUESTIONS reports rows of unknown questions."""
    known = {q.id: (q, size) for q, size in zip(_known_questions(subject), subject.candidates, strict=True)}
    for row in subject.readable_rows:
        if row.question_id in known:
            yield row, *known[row.question_id]


def _ids(subject: AuditSubject, ids: list[str]) -> str:
    return ", ".join(map(subject.name_of, ids)) or "none"


READABLE = Examination("RB-ROWS", "rows", "one whole row per line, as many as questions were asked", readable)
QUESTIONS = Examination("RB-QUESTIONS", "questions", "no question missing, doubled, unknown or out of order", questions)
LABELS = Examination("RB-LABELS", "labels", "scope, kind, cluster, denominators, haystack size as derived", labels)
GOLD = Examination("RB-GOLD", "gold", "stated gold equals the gold derived from the dataset", gold)
TEXTS = Examination("RB-TEXTS", "texts", "text in the rows, where there is any, is the dataset's", texts)
