"""The TREC files agree with the rows, and the lexical control ranks whole haystacks."""

import math
from collections.abc import Iterable, Mapping, Sequence

from recallbench.audit.difference import ROUNDING
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.errors import InputError
from recallbench.reading import document, lines
from recallbench.results.dataset import selected_haystacks
from recallbench.results.retrievals import (
    CONTROL_RUN,
    CONTROL_TAG,
    GRADED,
    NAMES,
    run_tag,
    trec_grades,
    trec_qrels,
    trec_run,
)
from recallbench.results.rows import position_of
from recallbench.retrieval.loop import retrieve
from recallbench.retrieval.record import Retrieval
from recallbench.retrieval.timing import Timings
from recallbench.scoring.editions import FIRST
from recallbench.stores.bm25 import BM25Store


def run(subject: AuditSubject) -> Finding:
    retrieval = subject.retrieval
    lines = trec_run(
        retrieval.questions, retrieval.rankings, retrieval.calls.depth, run_tag(subject.metrics.store.name)
    )
    return same_file(subject, "run.trec", lines)


def qrels(subject: AuditSubject) -> Finding:
    graded = any(question.grades for question in subject.questions)
    if graded != (subject.folder / GRADED).exists():
        return Finding(
            "fail", f"{GRADED} is {'missing' if graded else 'there'}, the set {'has' if graded else 'has no'} grades"
        )
    if graded and (finding := same_file(subject, GRADED, trec_grades(subject.questions))).status != "pass":
        return finding
    return same_file(subject, "qrels.trec", trec_qrels(subject.questions))


def names(subject: AuditSubject) -> Finding:
    labelled = is_set_name(subject.metrics.corpus.name)
    if labelled != (subject.folder / NAMES).exists():
        return Finding("fail", f"{NAMES} is {'missing' if labelled else 'there, and no labelled set was measured'}")
    if not labelled:
        return Finding("pass", "a registered corpus needs none")
    if subject.metrics.statistics_edition == FIRST.number and _holds(subject, NAMES, subject.dataset.names(str)):
        return Finding("pass", "the names of the set, as they are")
    return same_file(subject, NAMES, subject.dataset.names())


def unlike_whole_haystacks(
    subject: AuditSubject, run: Mapping[str, Sequence[tuple[str, float]]], control: str
) -> list[str]:
    """Return what keeps a control's run from ranking the whole haystack of each question that was asked."""
    retrieval, problems = subject.retrieval, []
    for question, size in zip(retrieval.questions, retrieval.candidates, strict=True):
        hits = run.get(question.id, [])
        strays = [id for id, _ in hits if position_of(id, question.scope, size) is None]
        problems += [f"{question.id}: {id} is none of the segments of {question.scope}" for id in strays[:1]]
        if len(hits) != min(retrieval.calls.depth, size):
            problems.append(
                f"{question.id}: {len(hits)} hits, where {control} ranks {min(retrieval.calls.depth, size)}"
            )
    unknown = sorted(run.keys() - {question.id for question in retrieval.questions})
    return problems + [f"{id} is no question that was asked" for id in unknown]


def control(subject: AuditSubject) -> Finding:
    retrieval = subject.retrieval
    problems = unlike_whole_haystacks(subject, subject.control, "BM25")
    if subject.is_control:
        pairs = zip(retrieval.rankings, retrieval.control, strict=True)
        problems += [
            f"{ranking.question_id}: the store is BM25, and ranks otherwise"
            for ranking, control_ranking in pairs
            if ranking.positions != control_ranking.positions
        ]
    if problems:
        return pass_unless(problems, "")
    lines = trec_run(retrieval.questions, retrieval.control, retrieval.calls.depth, CONTROL_TAG)
    return same_file(subject, CONTROL_RUN, lines)


def control_again(subject: AuditSubject) -> Finding:
    """Rank the control again: BM25 is plain arithmetic, so the dataset gives the same run, byte for byte."""
    corpus, retrieval = subject.dataset.corpus, subject.retrieval

    def rank() -> Retrieval:
        return retrieve(
            lambda: selected_haystacks(corpus.haystacks(), subject.metrics),
            BM25Store(),
            None,
            None,
            expected=len(retrieval.questions),
            calls=retrieval.calls,
            timings=Timings(),
            progress=subject.progress,
        )

    again = subject.shared.once(("control", subject.dataset_key, retrieval.calls), rank)
    problems = [
        f"{ranking.question_id}: another ranking than BM25 gives"
        for ranking, other in zip(retrieval.control, again.rankings, strict=True)
        if ranking.positions != other.positions
    ]
    if subject.is_control:
        problems += [
            f"{ranking.question_id}: other scores than BM25 gives"
            for ranking, other in zip(retrieval.rankings, again.rankings, strict=True)
            if len(ranking.scores) != len(other.scores) or not all(map(_alike, ranking.scores, other.scores))
        ]
    return pass_unless(problems, f"ranked again, all {len(again.rankings)} rankings equal")


def _alike(score: float, other: float) -> bool:
    """Return whether two scores are equal but for the rounding of another processor."""
    return math.isclose(score, other, rel_tol=ROUNDING, abs_tol=ROUNDING)


def _holds(subject: AuditSubject, name: str, expected: Iterable[str]) -> bool:
    """Return whether a file holds exactly this text, line ends included."""
    return document(subject.folder / name) == "".join(expected).encode("utf-8", "surrogatepass")


def same_file(subject: AuditSubject, name: str, expected: Iterable[str]) -> Finding:
    """Return whether a file of the result holds exactly these lines; a piece of them ends where a line does."""
    following = (line for piece in expected if piece for line in piece.removesuffix("\n").split("\n"))
    count = 0
    for number, line in lines(subject.folder / name):
        count = number
        should = next(following, None)
        if line != should:
            wanted = "the end of the file" if should is None else should
            raise InputError(f"{name}, line {number}", expected=wanted, found=line[:200])
    if left := sum(1 for _ in following):
        return Finding("fail", f"{name} ends after line {count}, {count + left} follow from the rows")
    return Finding("pass", f"{count} lines, as the rows and the gold give them")


RUN = Examination("RB-RUN", "TREC run", "run.trec holds the rankings of raw_retrievals.jsonl", run)
QRELS = Examination("RB-QRELS", "TREC qrels", "qrels.trec holds the derived gold", qrels)
NAMED = Examination("RB-DOCUMENTS", "documents", "documents.tsv names the documents of a labelled set", names)
CONTROL = Examination("RB-CONTROL", "control run", "run.bm25.trec ranks whole haystacks, inside their scope", control)
CONTROL_AGAIN = Examination(
    "RB-CONTROL-AGAIN", "control ranked again", "run.bm25.trec is what BM25 gives on the dataset", control_again
)
