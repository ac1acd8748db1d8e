"""Goes the way of a published figure again, and sets its figure beside the canonical ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from recallbench.corpora.pooled import pooled
from recallbench.corpora.records import Corpus, Haystack, Question, Segment
from recallbench.experiment.reproductions import Reproduction
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.results.reproduction import LABEL, ComparedPart, QuestionPart, ReproductionRecord, SystemPart
from recallbench.retrieval.loop import Retrieval
from recallbench.retrieval.selection import selected
from recallbench.scoring.bare_sessions import judge_by_session
from recallbench.scoring.judgement import Floats, Judged
from recallbench.scoring.measures.registry import parse


@dataclass(slots=True)
class Rereading:
    """A corpus, cut and pooled as it was for a published figure."""

    wanted: Reproduction
    corpus: Corpus
    limit: int | None
    sessions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Session names by position, of each scope that was read."""

    def haystacks(self) -> Iterator[Haystack]:
        """Each haystack in the published shape, with the questions that have gold."""
        shaped = (self._shaped(haystack) for haystack in self.corpus.haystacks())
        for haystack in selected(pooled(shaped) if self.wanted.pooled else shaped, self.limit):
            self.sessions[haystack.scope] = tuple(segment.session for segment in haystack.segments)
            yield haystack

    def judged(self, retrieval: Retrieval) -> Judged:
        """What came back, held against gold by the session's name alone."""
        return judge_by_session(
            [
                [self.sessions[question.scope][position] for position in ranking.positions]
                for question, ranking in zip(retrieval.questions, retrieval.rankings, strict=True)
            ],
            [self._gold(question) for question in retrieval.questions],
            self.wanted.depth,
        )

    def _gold(self, question: Question) -> frozenset[str]:
        names = self.sessions[question.scope]
        return self.wanted.gold.get(question.id, frozenset(names[position] for position in question.gold))

    def _shaped(self, haystack: Haystack) -> Haystack:
        return replace(haystack, segments=tuple(self._cut(segment) for segment in haystack.segments))

    def _cut(self, segment: Segment) -> Segment:
        text = segment.text if self.wanted.dated else segment.text.partition("\n")[2]
        # Where labelled turns start is told of the canonical text only.
        return replace(segment, text=text[: self.wanted.characters], gold_turns=())


def record(
    wanted: Reproduction, judged: Judged, retrieval: Retrieval, metrics: Metrics, registered_sha256: str
) -> ReproductionRecord:
    """The published, the reproduced and the canonical figures, with all that must be said of them."""
    differing = obstacles(wanted, metrics, registered_sha256)
    recall, first = (parse(one.measure).values(judged) for one in wanted.published)
    canonical = {one.measure: one.value for one in metrics.estimates[OVERALL]}
    headline = {one.protocol_name: one.estimate for one in metrics.headline}
    return ReproductionRecord(
        name=wanted.name,
        corpus=wanted.corpus,
        label=LABEL,
        citable=False,
        published_by=SystemPart(store=wanted.store, version=wanted.version, embedder=wanted.embedder),
        reproduced_by=SystemPart(
            store=metrics.store.name,
            version=retrieval.version,
            embedder=metrics.embedder.name if metrics.embedder else "no embedder",
        ),
        comparable=not differing,
        obstacles=differing,
        figures=[
            ComparedPart(
                figure=one.figure,
                measure=one.measure,
                published=one.frozen,
                published_artefact=one.artefact,
                published_low=one.low,
                published_high=one.high,
                **_reproduced(values),
                canonical_measure=headline[one.figure].measure if one.figure in headline else "",
                canonical=headline[one.figure].value if one.figure in headline else None,
                same_measure_canonical=canonical.get(one.measure),
            )
            for one, values in zip(wanted.published, (recall, first), strict=True)
        ],
        definition=list(wanted.definition),
        flaws=list(wanted.flaws),
        not_repeated=list(wanted.not_repeated),
        depth=wanted.depth,
        segments=retrieval.segments,
        questions=[
            QuestionPart(id=question.id, recall=share, first=round(1 / reciprocal) if reciprocal else None)
            for question, share, reciprocal in zip(retrieval.questions, recall.tolist(), first.tolist(), strict=True)
        ],
    )


def _reproduced(values: Floats) -> dict[str, float | None]:
    if not len(values):
        return {"reproduced": None, "reproduced_low": None, "reproduced_high": None}
    mean = math.fsum(values.tolist()) / len(values)
    half = 1.96 * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return {
        "reproduced": mean,
        # The last digits of a standard deviation differ from one processor to the next.
        "reproduced_low": round(max(0.0, mean - half), 10),
        "reproduced_high": round(min(1.0, mean + half), 10),
    }


def obstacles(wanted: Reproduction, metrics: Metrics, registered_sha256: str) -> list[str]:
    """Why this run's reproduced figure can't be held against the published one."""
    store, version = metrics.store.name, metrics.store.version
    embedder = metrics.embedder.name if metrics.embedder else "none"
    found = []
    if store != wanted.store:
        found.append(f"the store is {store}, the published figure is that of {wanted.store}")
    elif version.removeprefix("v") != wanted.version:
        found.append(f"the version is {version}, the published figure is that of {wanted.store} {wanted.version}")
    if metrics.store.variant:
        found.append(f"the store does not work by its defaults: {metrics.store.variant}")
    if embedder != wanted.embedder:
        found.append(f"the embedder is {embedder}, the published figure was made with {wanted.embedder}")
    if metrics.dataset_sha256 != registered_sha256:
        found.append(f"the corpus file is {metrics.dataset_sha256}, the published one was {registered_sha256}")
    if metrics.retrieval.limit is not None:
        found.append(f"only the first {metrics.retrieval.limit} questions were asked")
    return found
