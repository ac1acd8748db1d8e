"""The dataset is the stated one, and metrics.json describes the corpus as the file has it."""

from recallbench.audit.difference import differing
from recallbench.audit.examination import NO_DATASET, CannotTell, Examination, pass_unless
from recallbench.audit.gate import Finding, passed_if
from recallbench.audit.subject import AuditSubject


def dataset(subject: AuditSubject) -> Finding:
    survey = subject.dataset.survey
    return passed_if(survey.sha256 == subject.metrics.dataset_sha256, f"{survey.file}, sha256 {survey.sha256}")


def corpus(subject: AuditSubject) -> Finding:
    if not subject.has_dataset:
        raise CannotTell(NO_DATASET)
    stated, derived = subject.metrics.corpus, subject.derived.corpus
    problems = list(differing(stated, derived))
    problems += [
        f"{check.name}: registered {check.expected}, found {check.found}" for check in stated.checks if not check.holds
    ]
    counts = f"{derived.scopes} haystacks, {derived.segments} segments, {derived.questions} questions"
    return pass_unless(problems, counts)


DATASET = Examination("RB-DATASET", "dataset", "the dataset of the stated sha256 is at hand", dataset)
CORPUS = Examination("RB-CORPUS", "corpus", "counts, kinds and registered facts as the dataset has them", corpus)
