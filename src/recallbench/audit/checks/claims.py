"""The claims of a result about itself: deviations, gates, verdict, and a reproduction beside it."""

from recallbench.audit.difference import differing
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.reproduced import record
from recallbench.audit.subject import AuditSubject
from recallbench.protocol.reproductions import find_reproduction
from recallbench.reading import document, parsed
from recallbench.reports.reproduction import JSON_NAME, PAGE_NAME, ReproductionRecord, page


def deviations(subject: AuditSubject) -> Finding:
    stated = [f"{deviation.kind}: {deviation.detail}" for deviation in subject.metrics.deviations]
    derived = [str(deviation) for deviation in subject.deviations]
    problems = [f"not stated: {deviation}" for deviation in derived if deviation not in stated]
    problems += [f"stated, but not so: {deviation}" for deviation in stated if deviation not in derived]
    if not problems and stated != derived:
        problems.append("stated in another order, or twice")
    return pass_unless(problems, f"{len(derived)} stated, as they follow")


def gates(subject: AuditSubject) -> Finding:
    stated, derived = subject.metrics.gates, subject.derived.gates
    return pass_unless(
        list(differing(stated, derived, "gates")), f"{len(derived)} decided again, as stated when written"
    )


def verdict(subject: AuditSubject) -> Finding:
    stated, derived = subject.metrics.verdict, subject.derived.verdict
    return pass_unless(list(differing(stated, derived, "verdict")), f"when written: {derived.text}")


def reproduction(subject: AuditSubject) -> Finding:
    name, path = subject.metrics.reproduction, subject.folder / JSON_NAME
    if path.exists() != (name is not None) or (subject.folder / PAGE_NAME).exists() != (name is not None):
        raise_for = f"{JSON_NAME} and {PAGE_NAME} {'are' if path.exists() else 'are not'} there"
        return Finding("fail", f"metrics.json states the reproduction {name}, which {raise_for} contradicts")
    if name is None:
        return Finding("pass", "none is stated, and none is there")
    stated = ReproductionRecord.model_validate(parsed(document(path), path), strict=True)
    published = find_reproduction(name, subject.corpus.name)
    version = stated.reproduced_by.version
    derived = record(published, stated.questions, stated.segments, version, subject.derived, subject.corpus.sha256)
    problems = list(differing(stated, derived, JSON_NAME))
    if version != subject.metrics.store.version:
        problems.append(f"it is of version {version}, the result of {subject.metrics.store.version}")
    if subject.has_dataset and stated.segments != subject.dataset.segments:
        problems.append(f"{stated.segments} segments, the dataset has {subject.dataset.segments}")
    known = {question.id for question in subject.questions}
    problems += [
        f"{question.id} is no question that was asked" for question in stated.questions if question.id not in known
    ]
    for question in stated.questions:
        if not 0 <= question.recall <= 1 or (question.first is not None and not 1 <= question.first <= published.depth):
            problems.append(f"{question.id}: recall {question.recall}, first hit at {question.first}")
    if document(subject.folder / PAGE_NAME).decode("utf-8", "replace") != page(stated):
        problems.append(f"{PAGE_NAME} does not tell what {JSON_NAME} holds")
    return pass_unless(problems, f"{name}: its figures follow from its questions, and the rest is as frozen")


DEVIATIONS = Examination(
    "RB-DEVIATIONS",
    "deviations",
    "those that follow from corpus, store, embedder, scope, depth and limit",
    deviations,
)
GATES = Examination("RB-GATES", "gates stated", "the gates as they stood when the result was written", gates)
VERDICT = Examination("RB-VERDICT", "verdict stated", "the verdict that the gates led to when it was written", verdict)
REPRODUCTION = Examination("RB-REPRODUCTION", "reproduction", "a reproduction is labelled, and adds up", reproduction)
