"""From what was retrieved to the figures of `metrics.json`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from recallbench import __version__
from recallbench.corpora.records import Survey
from recallbench.experiment.choices import Choice
from recallbench.experiment.options import Options
from recallbench.protocol.deviations import Configuration, departures
from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.results import metrics as parts
from recallbench.retrieval.loop import Retrieval
from recallbench.retrieval.ranking import Ranking
from recallbench.scoring.abstention import KEPT, abstention
from recallbench.scoring.agreement import agreement
from recallbench.scoring.estimate import Estimate, estimates
from recallbench.scoring.exposure import exposure
from recallbench.scoring.judgement import Judged, judge
from recallbench.scoring.measures.registry import ALL, parse
from recallbench.verdict.bands import band


@dataclass(frozen=True, slots=True)
class StoreState:
    """What the store said of itself around the run."""

    name: str
    version: str
    version_after: str
    settings: Mapping[str, str]
    evidence: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """What decided the vectors."""

    name: str
    fingerprint: Mapping[str, str]
    fingerprint_sha256: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Ingredients:
    """All that a result is made of."""

    options: Options
    rules: Rules
    corpus: CorpusRules
    survey: Survey
    clarifications: tuple[int, ...]
    clustered: bool
    choice: Choice
    made: Configuration
    store: StoreState
    embedder: EmbedderState | None
    retrieval: Retrieval
    seed: int | None


def assemble(made_of: Ingredients) -> parts.Metrics:
    """Every figure of the result; gates and verdict still say nothing."""
    retrieval, rules, survey = made_of.retrieval, made_of.rules, made_of.survey
    depth = made_of.options.depth
    judged = _judged(retrieval, retrieval.rankings, depth)
    k_judged = judged if retrieval.short is None else _judged(retrieval, retrieval.short, rules.default_k)
    clusters = [question.cluster for question in retrieval.questions] if made_of.clustered else None
    kinds = np.array([question.kind for question in retrieval.questions])
    slices = {parts.OVERALL: np.ones(len(kinds), dtype=bool)}
    slices |= {kind: kinds == kind for kind in survey.kinds if kind in set(kinds.tolist())}
    measures = tuple(measure for measure in ALL if measure.k <= depth)
    calls = (k_judged, judged)
    found = estimates(measures, calls, clusters, slices)
    control = estimates(measures, _judged(retrieval, retrieval.control, depth), clusters, slices)
    missing = _missing(retrieval, depth, rules.default_k)
    return parts.Metrics(
        schema_version="1",
        recallbench_version=__version__,
        protocol=parts.ProtocolPart(
            version=rules.version,
            cited_as=rules.cited_as,
            sha256=rules.sha256,
            clarifications_sha256=rules.clarifications_sha256,
            published_sha256=rules.published_sha256,
            clarifications=sorted(made_of.clarifications),
        ),
        dataset_sha256=survey.sha256,
        seed=made_of.seed,
        guc_state=dict(made_of.store.settings),
        pgmnemo_version=made_of.store.version if made_of.store.name == "pgmnemo" else None,
        corpus=_corpus(made_of),
        embedder=_embedder(made_of),
        store=parts.StorePart(
            name=made_of.store.name,
            variant=made_of.made.variant,
            version=made_of.store.version,
            version_after=made_of.store.version_after,
            asked_version=made_of.options.version,
            evidence=dict(made_of.store.evidence),
        ),
        retrieval=parts.RetrievalPart(
            calls=[depth] if retrieval.short is None else [rules.default_k, depth],
            depth=depth,
            scope="pooled" if made_of.options.pooled else "own",
            limit=made_of.made.limit,
            asked=len(retrieval.questions),
            left_out=survey.questions - survey.with_evidence,
            segments=retrieval.segments,
            short_questions=sum(count > 0 for count in missing),
            missing_hits=sum(missing),
            agreement=_agreement(retrieval, rules.default_k),
        ),
        deviations=[
            parts.DeviationPart(kind=one.kind, detail=one.detail)
            for one in departures(made_of.made, made_of.corpus, rules)
        ],
        headline=_headline(made_of.corpus, found[parts.OVERALL]),
        estimates={name: [_part(one) for one in row] for name, row in found.items()},
        denominators=_denominators(made_of, calls),
        control_bm25={name: [_part(one) for one in row] for name, row in control.items()},
        exposure=_exposure(made_of),
        abstention=_abstention(retrieval, clusters),
        gates=[],
        verdict=parts.VerdictPart(label="UNVERIFIED", text="UNVERIFIED", pending=[], canonical=False),
        reproduction=made_of.made.reproduction or None,
    )


def _missing(retrieval: Retrieval, depth: int, k: int) -> list[int]:
    """By question: hits that its haystack has and the calls did not return."""
    calls = [(retrieval.rankings, depth), *([(retrieval.short, k)] if retrieval.short is not None else [])]
    return [
        sum(min(asked, size) - len(rankings[i].positions) for rankings, asked in calls)
        for i, size in enumerate(retrieval.candidates)
    ]


def _judged(retrieval: Retrieval, rankings: Sequence[Ranking], depth: int) -> Judged:
    grades = [question.grades for question in retrieval.questions]
    return judge(
        [ranking.positions for ranking in rankings],
        [question.gold for question in retrieval.questions],
        retrieval.candidates,
        depth,
        grades if any(grades) else None,
    )


def _part(one: Estimate) -> parts.EstimatePart:
    # Bootstrap bounds come from a matrix product, whose last digits may differ from one processor to the next.
    low, high = (None if bound is None else round(bound, 10) for bound in (one.low, one.high))
    return parts.EstimatePart.model_construct(
        **{name: value for name, value in asdict(one).items() if name != "left_out"}
        | {"measure": str(one.measure), "ordered": one.measure.ordered, "low": low, "high": high}
    )


def _headline(corpus: CorpusRules, row: Sequence[Estimate]) -> list[parts.HeadlinePart]:
    by_name = {str(one.measure): one for one in row}
    shown = []
    for protocol_name, measure in (("recall@10", "recall_any@10"), ("MRR", "mrr@50")):
        if measure in by_name:
            width, status = band(corpus, protocol_name)
            shown.append(
                parts.HeadlinePart(
                    protocol_name=protocol_name, estimate=_part(by_name[measure]), band=width, band_status=status
                )
            )
    return shown


def _denominators(made_of: Ingredients, calls: Sequence[Judged]) -> list[parts.DenominatorPart]:
    questions = made_of.retrieval.questions
    wanted = [measure for measure in map(parse, parts.COMPARED) if measure.k <= made_of.options.depth]
    reaching = {str(m): (m, next(call for call in calls if call.depth >= m.k)) for m in wanted}
    values = {name: measure.values(call) for name, (measure, call) in reaching.items()}
    chances = {name: measure.chance(call) for name, (measure, call) in reaching.items()}
    shown = []
    for i, (name, count) in enumerate(made_of.survey.denominators.items()):
        member = np.array([name in question.denominators for question in questions], dtype=bool)
        scored = int(member.sum())
        # A whole denominator counts what can't be scored as 0; a run that asked only some questions has no whole one.
        base = count if made_of.made.limit is None else scored
        chance = {m: float(c[member].sum() / base) if base else None for m, c in chances.items()}
        shown.append(
            parts.DenominatorPart(
                name=name,
                count=count,
                scored=scored,
                headline=i == 0,
                values={m: float(v[member].sum() / base) if base else None for m, v in values.items()},
                chance=chance,
            )
        )
    return shown


def _corpus(made_of: Ingredients) -> parts.CorpusPart:
    survey, corpus = made_of.survey, made_of.corpus
    return parts.CorpusPart(
        name=survey.corpus,
        file=survey.file,
        source=corpus.source,
        revision=corpus.revision,
        sha256=survey.sha256,
        registered_sha256=survey.registered_sha256,
        scopes=survey.scopes,
        segments=survey.segments,
        turns=survey.turns,
        questions=survey.questions,
        with_evidence=survey.with_evidence,
        unresolved_evidence=sum(
            not all(0 <= position < size for position in question.gold)
            for question, size in zip(made_of.retrieval.questions, made_of.retrieval.candidates, strict=True)
        ),
        kinds=dict(survey.kinds),
        segments_per_scope=list(survey.segments_per_scope),
        repeated_sessions=survey.repeated_sessions,
        empty_turns=survey.empty_turns,
        repaired_evidence=survey.repaired_evidence,
        missing_turns=survey.missing_turns,
        checks=[parts.CheckPart(name=c.name, expected=c.expected, found=c.found, holds=c.holds) for c in survey.checks],
    )


def _embedder(made_of: Ingredients) -> parts.EmbedderPart | None:
    state = made_of.embedder
    if state is None:
        return None
    return parts.EmbedderPart(
        name=state.name,
        fingerprint=dict(state.fingerprint),
        fingerprint_sha256=state.fingerprint_sha256,
        vectors_sha256=made_of.retrieval.vectors_sha256,
        canonical=made_of.corpus.embedder if made_of.corpus.name in made_of.rules.corpora else "",
    )


def _exposure(made_of: Ingredients) -> parts.ExposurePart | None:
    seen = made_of.retrieval.seen
    if seen is None or made_of.embedder is None or not seen.tokens:
        return None
    found = exposure(seen.truncated, seen.gold_turn_starts, seen.gold_turn_cuts)
    return parts.ExposurePart(
        max_tokens=made_of.embedder.max_tokens,
        segments=found.segments,
        tokens=sum(seen.tokens),
        longest=max(seen.tokens),
        truncated=found.truncated,
        truncated_share=found.truncated_share,
        gold_turns=found.gold_turns,
        gold_turns_cut=found.cut_off,
        gold_turns_cut_share=found.cut_off_share,
    )


def _agreement(retrieval: Retrieval, k: int) -> parts.AgreementPart | None:
    if retrieval.short is None:
        return None
    found = agreement([r.positions for r in retrieval.short], [r.positions for r in retrieval.rankings], k)
    return parts.AgreementPart(depth=found.depth, identical=found.identical, overlap=found.overlap)


def _abstention(retrieval: Retrieval, clusters: Sequence[str] | None) -> parts.AbstentionPart | None:
    flags = [question.abstention for question in retrieval.questions]
    if not any(flags):
        return None
    found = abstention([r.scores[0] if r.scores else -math.inf for r in retrieval.rankings], flags, clusters)
    return parts.AbstentionPart(
        questions=found.n,
        answerable=found.answerable,
        threshold=found.threshold,
        threshold_rule=f"the highest score that keeps {KEPT:.0%} of the answerable questions",
        false_retrieval=found.false_retrieval,
        false_retrieval_interval=parts.IntervalPart(**asdict(found.false_retrieval_interval)),
        auroc=found.auroc,
        auroc_interval=parts.IntervalPart(**asdict(found.auroc_interval)),
    )
