"""The figures of a result, computed from its rankings by the run, and again by the audit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, TypedDict, cast

import numpy as np
from pydantic import BaseModel

from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.corpora.records import Question, Survey
from recallbench.protocol.bands import band
from recallbench.protocol.deviations import Configuration, departures
from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.results import metrics as parts
from recallbench.results.canary_part import CanaryPart, canary_part
from recallbench.results.coverage_figures import coverage_figures
from recallbench.results.match_figures import match_figures
from recallbench.results.matching_part import MatchingPart
from recallbench.results.question_slices import ability_slices, kind_slices, tenant_slices
from recallbench.results.set_figures import hub_files, label_ages, worst_questions
from recallbench.results.sets.labels_part import LabelsPart
from recallbench.results.time.later_figures import later_part
from recallbench.results.time.later_part import LaterPart
from recallbench.results.time.visible_figures import time_part
from recallbench.results.time.visible_part import VisiblePart
from recallbench.retrieval.record import Retrieval
from recallbench.scoring.abstention import PASSING_SHARE, abstention, top_score
from recallbench.scoring.agreement import agreement
from recallbench.scoring.calls import clusters_of, judge_calls, judge_rankings
from recallbench.scoring.editions import CURRENT, DIGITS, Edition
from recallbench.scoring.estimate import Estimate, estimates
from recallbench.scoring.judgement import Bools, Judged, reaching
from recallbench.scoring.measures.registry import ALL, parse

EstimateTable = dict[str, list[parts.EstimatePart]]
"""By slice, an estimate of each measure."""
_STATED = [field.name for field in fields(Estimate) if field.name != "left_out"]


class Figures(TypedDict):
    """The fields of `metrics.json` that follow from rankings, corpus and configuration."""

    corpus: parts.CorpusPart
    retrieval: parts.RetrievalPart
    deviations: list[parts.DeviationPart]
    headline: list[parts.HeadlinePart]
    estimates: EstimateTable
    denominators: list[parts.DenominatorPart]
    control_bm25: EstimateTable
    control_static: EstimateTable | None
    abstention: parts.AbstentionPart | None
    coverage: parts.CoveragePart | None
    tenants: EstimateTable | None
    abilities: EstimateTable | None
    worst: list[parts.WorstPart] | None
    labels: LabelsPart | None
    hub: parts.HubPart | None
    canary: CanaryPart | None
    matching: MatchingPart | None
    time: VisiblePart | None
    later: LaterPart | None


def figures(
    retrieval: Retrieval,
    survey: Survey,
    run: Configuration,
    corpus: CorpusRules,
    rules: Rules,
    edition: Edition = CURRENT,
) -> Figures:
    """Return every figure that follows from corpus and rankings, by this edition of the statistics.

    The same rankings give the same bytes: no figure keeps digits that depend on the processor's order of summation.
    """
    questions, depth = retrieval.questions, retrieval.calls.depth
    calls = judge_calls(retrieval)
    clusters = clusters_of(questions)
    measures = tuple(measure for measure in ALL if measure.k <= depth)

    def table(judged: Judged | Sequence[Judged], slices: Mapping[str, Bools]) -> EstimateTable:
        by_slice = estimates(measures, judged, clusters, slices, edition) if slices else {}
        return {name: [estimate_part(estimate) for estimate in row] for name, row in by_slice.items()}

    kinds = kind_slices(questions, survey)
    by_kind = table(calls, kinds)
    labelled = is_set_name(corpus.name)
    derived = Figures(
        corpus=_corpus(retrieval, survey, corpus),
        retrieval=_retrieval(retrieval, survey, run),
        deviations=[
            parts.DeviationPart(kind=departure.kind, detail=departure.detail)
            for departure in departures(replace(run, failures=len(retrieval.failed)), corpus, rules)
        ],
        headline=_headline(corpus, by_kind[parts.OVERALL]),
        estimates=by_kind,
        denominators=_denominators(questions, survey, run.limit, calls),
        control_bm25=table(judge_rankings(retrieval, retrieval.control, depth), kinds),
        control_static=None
        if retrieval.static is None
        else table(judge_rankings(retrieval, retrieval.static, depth), kinds),
        abstention=_abstention(retrieval, clusters, edition),
        coverage=coverage_figures(retrieval) if edition.coverage else None,
        tenants=table(calls, tenant_slices(questions)) or None,
        abilities=table(calls, ability_slices(questions, corpus.name)) or None if edition.abilities else None,
        worst=worst_questions(questions, calls[-1], retrieval.calls.k) if labelled else None,
        labels=label_ages(questions, survey, edition) if labelled else None,
        hub=hub_files(survey),
        canary=canary_part(survey.canary),
        matching=match_figures(retrieval, survey, calls),
        time=time_part(retrieval, survey, run.time),
        later=later_part(retrieval),
    )
    return cast(Figures, rounded(derived)) if edition.every_figure_rounded else derived


def rounded(part: Any) -> Any:
    """Return the part with every figure rounded, but for a threshold: it is one of the scores in the rows."""
    if isinstance(part, float):
        return round(part, DIGITS)
    if isinstance(part, list):
        return [rounded(item) for item in part]
    if isinstance(part, dict):
        return {name: rounded(item) for name, item in part.items()}
    if isinstance(part, BaseModel):
        return part.model_copy(update={name: rounded(item) for name, item in part if name != "threshold"})
    return part


def estimate_part(estimate: Estimate) -> parts.EstimatePart:
    """Return an estimate as `metrics.json` has it."""
    low, high = (None if bound is None else round(bound, DIGITS) for bound in (estimate.low, estimate.high))
    return parts.EstimatePart.model_construct(
        **{name: getattr(estimate, name) for name in _STATED}
        | {"measure": str(estimate.measure), "ordered": estimate.measure.ordered, "low": low, "high": high}
    )


def _headline(corpus: CorpusRules, row: Sequence[parts.EstimatePart]) -> list[parts.HeadlinePart]:
    by_name = {estimate.measure: estimate for estimate in row}
    shown = []
    for protocol_name, measure in (("recall@10", "recall_any@10"), ("MRR", "mrr@50")):
        if measure in by_name:
            width, status = band(corpus, protocol_name)
            shown.append(
                parts.HeadlinePart(
                    protocol_name=protocol_name, estimate=by_name[measure], band=width, band_status=status
                )
            )
    return shown


def _denominators(
    questions: Sequence[Question], survey: Survey, limit: int | None, calls: Sequence[Judged]
) -> list[parts.DenominatorPart]:
    measures = [measure for measure in map(parse, parts.COMPARED) if measure.k <= calls[-1].depth]
    judged = {measure: reaching(calls, measure.k) for measure in measures}
    values = {str(measure): measure.values(call) for measure, call in judged.items()}
    chances = {str(measure): measure.chance(call) for measure, call in judged.items()}
    shown = []
    for i, (name, count) in enumerate(survey.denominators.items()):
        member = np.array([name in question.denominators for question in questions], dtype=bool)
        scored = sum(
            bool(question.gold) or question.abstention for question in questions if name in question.denominators
        )
        # A denominator counts questions without a score as 0. A limited run knows only the ones it asked.
        base = count if limit is None else int(member.sum())
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


def _corpus(retrieval: Retrieval, survey: Survey, corpus: CorpusRules) -> parts.CorpusPart:
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
            for question, size in zip(retrieval.questions, retrieval.candidates, strict=True)
        ),
        kinds=dict(survey.kinds),
        segments_per_scope=list(survey.segments_per_scope),
        repeated_sessions=survey.repeated_sessions,
        empty_turns=survey.empty_turns,
        repaired_evidence=survey.repaired_evidence,
        missing_turns=survey.missing_turns,
        unseen_gold=survey.unseen_gold,
        checks=[parts.CheckPart(name=c.name, expected=c.expected, found=c.found, holds=c.holds) for c in survey.checks],
    )


def _retrieval(retrieval: Retrieval, survey: Survey, run: Configuration) -> parts.RetrievalPart:
    k, depth = retrieval.calls.k, retrieval.calls.depth
    missing = _missing(retrieval)
    return parts.RetrievalPart(
        calls=[depth] if retrieval.short is None else [k, depth],
        depth=depth,
        scope="pooled" if run.pooled else "own",
        limit=run.limit,
        asked=len(retrieval.questions),
        left_out=survey.questions - survey.asked,
        segments=retrieval.segments,
        short_questions=sum(count > 0 for count in missing),
        missing_hits=sum(missing),
        agreement=_agreement(retrieval),
        failed=list(retrieval.failed),
    )


def _missing(retrieval: Retrieval) -> list[int]:
    """Return by question how many hits the calls could have returned and did not."""
    calls = [(retrieval.rankings, retrieval.calls.depth)]
    if retrieval.short is not None:
        calls.append((retrieval.short, retrieval.calls.k))
    return [
        sum(min(k, size) - len(rankings[i].positions) for rankings, k in calls)
        for i, size in enumerate(retrieval.candidates)
    ]


def _agreement(retrieval: Retrieval) -> parts.AgreementPart | None:
    if retrieval.short is None:
        return None
    short, deep = ([ranking.positions for ranking in rankings] for rankings in (retrieval.short, retrieval.rankings))
    compared = agreement(short, deep, retrieval.calls.k)
    return parts.AgreementPart(depth=compared.depth, identical=compared.identical, overlap=compared.overlap)


def _abstention(retrieval: Retrieval, clusters: Sequence[str] | None, edition: Edition) -> parts.AbstentionPart | None:
    questions = retrieval.questions
    flags = [question.abstention for question in questions]
    if not any(flags):
        return None
    failed = frozenset(retrieval.failed)
    # A question whose expected text matches nothing may be answerable or not.
    known = [i for i, question in enumerate(questions) if question.gold or question.abstention]
    outcome = abstention(
        [top_score(retrieval.rankings[i].scores, failed=questions[i].id in failed, abstain=flags[i]) for i in known],
        [flags[i] for i in known],
        None if clusters is None else [clusters[i] for i in known],
        edition=edition,
    )
    return parts.AbstentionPart(
        questions=outcome.n,
        answerable=outcome.answerable,
        threshold=outcome.threshold if outcome.threshold is not None and math.isfinite(outcome.threshold) else None,
        threshold_rule=f"the highest score that keeps {PASSING_SHARE:.0%} of the answerable questions",
        false_retrieval=outcome.false_retrieval,
        false_retrieval_interval=parts.IntervalPart(**asdict(outcome.false_retrieval_interval)),
        auroc=outcome.auroc,
        auroc_interval=parts.IntervalPart(**asdict(outcome.auroc_interval)),
    )
