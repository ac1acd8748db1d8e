"""The static control, where a result has one: its run, its figures, and its ranking made again."""

from __future__ import annotations

from recallbench.audit.checks.exports import same_file, unlike_whole_haystacks
from recallbench.audit.difference import differing
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.fingerprint import pinned_hashes, source_facts, treatment_facts
from recallbench.embedding.registry import encoder_status
from recallbench.results.dataset import selected_haystacks
from recallbench.results.retrievals import STATIC_RUN, STATIC_TAG, trec_run
from recallbench.retrieval.loop import retrieve
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.static_control import ENCODER, open_static_control
from recallbench.retrieval.timing import Timings

CLOSE = 1e-6
"""How far two scores may lie apart that processors add up in different orders."""


def run(subject: AuditSubject) -> Finding:
    retrieval = subject.retrieval
    problems = unlike_whole_haystacks(subject, subject.static or {}, "the static control")
    spec, stated = ENCODERS[ENCODER], subject.metrics.static_fingerprint or {}
    files = {name: pin for name, pin in pinned_hashes(spec).items() if not name.startswith("sha256 query/")}
    expected = {**source_facts(spec), **treatment_facts(spec), **files, "backend": "numpy/cpu"}
    problems += differing(stated, expected, "static_fingerprint")
    if problems:
        return pass_unless(problems, "")
    return same_file(
        subject,
        STATIC_RUN,
        trec_run(retrieval.questions, retrieval.static or (), retrieval.calls.depth, STATIC_TAG),
    )


def figures(subject: AuditSubject) -> Finding:
    stated, derived = subject.metrics.control_static, subject.derived.control_static
    return pass_unless(list(differing(stated, derived, "control_static")), "as its kept run gives them")


def again(subject: AuditSubject) -> Finding:
    """Embed and rank again: each place has to hold an item with the score that the place has now."""
    corpus, retrieval = subject.dataset.corpus, subject.retrieval
    control = open_static_control(subject.cache_dir, subject.environ, subject.progress)
    try:
        made = retrieve(
            lambda: selected_haystacks(corpus.haystacks(), subject.metrics),
            control,
            None,
            None,
            expected=len(retrieval.questions),
            calls=retrieval.calls,
            timings=Timings(),
            progress=subject.progress,
        )
    finally:
        control.close()
    problems = [
        f"{kept.question_id}: another ranking than {ENCODER} gives"
        for kept, now in zip(retrieval.static or (), made.rankings, strict=True)
        if not _alike(kept, now)
    ]
    return pass_unless(problems, f"ranked again, all {len(made.rankings)} rankings alike")


def weights_here(subject: AuditSubject) -> bool:
    """Return whether the ranking can be made again on this machine."""
    return encoder_status(ENCODER, subject.environ, subject.cache_dir)[0]


def _alike(kept: Ranking, now: Ranking) -> bool:
    scores = dict(zip(now.positions, now.scores, strict=True))
    return len(kept.positions) == len(now.positions) and all(
        position in scores and abs(scores[position] - score) <= CLOSE
        for position, score in zip(kept.positions, now.scores, strict=True)
    )


STATIC = Examination("RB-STATIC", "static run", f"{STATIC_RUN} ranks whole haystacks, inside their scope", run)
FIGURES = Examination("RB-STATIC-FIGURES", "static figures", "its figures as its kept run gives them", figures)
AGAIN = Examination("RB-STATIC-AGAIN", "static ranked again", f"{STATIC_RUN} is what {ENCODER} gives", again)
