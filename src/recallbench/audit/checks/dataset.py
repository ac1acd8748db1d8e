"""The dataset: that it is the stated one, and that the corpus is described as the file has it."""

from recallbench.audit.case import Case
from recallbench.audit.difference import differing
from recallbench.audit.examination import CannotTell, Examination, listed
from recallbench.audit.gate import Finding, passed_if


def dataset(case: Case) -> Finding:
    survey = case.dataset.survey
    return passed_if(survey.sha256 == case.metrics.dataset_sha256, f"{survey.file}, sha256 {survey.sha256}")


def corpus(case: Case) -> Finding:
    if not case.has_dataset:
        raise CannotTell("the dataset is not at hand: see RB-DATASET")
    stated, derived = case.metrics.corpus, case.derived.corpus
    found = list(differing(stated, derived))
    found += [f"{one.name}: registered {one.expected}, found {one.found}" for one in stated.checks if not one.holds]
    counts = f"{derived.scopes} haystacks, {derived.segments} segments, {derived.questions} questions"
    return listed(found, counts)


DATASET = Examination("RB-DATASET", "dataset", "the dataset of the stated sha256 is at hand", dataset)
CORPUS = Examination("RB-CORPUS", "corpus", "counts, kinds and registered facts as the dataset has them", corpus)
