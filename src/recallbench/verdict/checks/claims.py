"""What a result says of its own standing: deviations, gates, verdict, and a reproduction beside it."""

from recallbench.results.reading import document, parsed
from recallbench.results.reproduction import JSON_NAME, PAGE_NAME, ReproductionRecord, page
from recallbench.verdict.case import Case
from recallbench.verdict.difference import differing
from recallbench.verdict.examination import Examination, listed
from recallbench.verdict.gate import Finding


def deviations(case: Case) -> Finding:
    stated = [f"{one.kind}: {one.detail}" for one in case.metrics.deviations]
    derived = [str(one) for one in case.deviations]
    found = [f"not stated: {one}" for one in derived if one not in stated]
    found += [f"stated, but not so: {one}" for one in stated if one not in derived]
    if not found and stated != derived:
        found.append("stated in another order, or twice")
    return listed(found, f"{len(derived)} stated, as they follow")


def gates(case: Case) -> Finding:
    stated, derived = case.metrics.gates, case.derived.gates
    return listed(list(differing(stated, derived, "gates")), f"{len(derived)} decided again, as stated when written")


def verdict(case: Case) -> Finding:
    stated, derived = case.metrics.verdict, case.derived.verdict
    return listed(list(differing(stated, derived, "verdict")), f"when written: {derived.text}")


def reproduction(case: Case) -> Finding:
    name, path = case.metrics.reproduction, case.folder / JSON_NAME
    if path.exists() != (name is not None) or (case.folder / PAGE_NAME).exists() != (name is not None):
        raise_for = f"{JSON_NAME} and {PAGE_NAME} {'are' if path.exists() else 'are not'} there"
        return Finding("fail", f"metrics.json states the reproduction {name}, which {raise_for} contradicts")
    if name is None:
        return Finding("pass", "none is stated, and none is there")
    record = ReproductionRecord.model_validate(parsed(document(path), path))
    found = [] if (record.name, record.corpus) == (name, case.corpus.name) else [f"{JSON_NAME} is of {record.name}"]
    headline = {one.protocol_name: one.estimate for one in case.derived.headline}
    for one in record.figures:
        canonical = headline.get(one.figure)
        if canonical is None or (one.canonical_measure, one.canonical) != (canonical.measure, canonical.value):
            found.append(f"{one.figure}: the canonical figure beside it is not this result's")
    means = {
        "recall@10": [question.recall for question in record.questions],
        "MRR": [1 / question.first if question.first else 0.0 for question in record.questions],
    }
    for one in record.figures:
        parts = means.get(one.figure, [])
        mean = sum(parts) / len(parts) if parts else None
        found += list(differing(one.reproduced, mean, f"{JSON_NAME} {one.figure}"))
    if document(case.folder / PAGE_NAME).decode("utf-8", "replace") != page(record):
        found.append(f"{PAGE_NAME} does not tell what {JSON_NAME} holds")
    return listed(found, f"{name}: its figures follow from its questions, and it is labelled")


DEVIATIONS = Examination(
    "RB-DEVIATIONS",
    "deviations",
    "those that follow from corpus, store, embedder, scope, depth and limit",
    deviations,
)
GATES = Examination("RB-GATES", "gates stated", "the gates as they stood when the result was written", gates)
VERDICT = Examination("RB-VERDICT", "verdict stated", "the verdict that the gates led to when it was written", verdict)
REPRODUCTION = Examination("RB-REPRODUCTION", "reproduction", "a reproduction is labelled, and adds up", reproduction)
