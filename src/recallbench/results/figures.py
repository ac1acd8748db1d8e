"""The figures of a result, from its rankings: made by the run, and made again by the audit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from pydantic import BaseModel

from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.corpora.matching.method import Matching, Step
from recallbench.corpora.matching.text_gold import step_of
from recallbench.corpora.records import Question, Survey
from recallbench.corpora.registry import abilities
from recallbench.protocol.bands import band
from recallbench.protocol.rules import CorpusRules
from recallbench.results import metrics as parts
from recallbench.retrieval.ranking import Ranking
from recallbench.scoring.abstention import KEPT, abstention, top_score
from recallbench.scoring.agreement import agreement
from recallbench.scoring.editions import CURRENT, DIGITS, FIRST, Edition
from recallbench.scoring.estimate import Estimate, estimates
from recallbench.scoring.judgement import Bools, Judged, judge
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.recall_any import RecallAny
from recallbench.scoring.measures.registry import ALL, parse


@dataclass(frozen=True, slots=True)
class Answers:
    """What was asked of a corpus, in its order, and every ranking that came back."""

    survey: Survey
    corpus: CorpusRules
    clustered: bool
    matching: Matching | None
    """How gold follows from expected texts; None where it is known by id."""
    questions: Sequence[Question]
    candidates: Sequence[int]
    rankings: Sequence[Ranking]
    short: Sequence[Ranking] | None
    """The k-deep calls; None where one call serves both."""
    control: Sequence[Ranking]
    k: int
    depth: int
    limit: int | None
    failed: frozenset[str] = frozenset()
    """Ids of questions that the store failed on."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Those parts of `metrics.json` that follow from the answers."""

    corpus: parts.CorpusPart
    calls: list[int]
    short_questions: int
    missing_hits: int
    agreement: parts.AgreementPart | None
    headline: list[parts.HeadlinePart]
    estimates: dict[str, list[parts.EstimatePart]]
    denominators: list[parts.DenominatorPart]
    control_bm25: dict[str, list[parts.EstimatePart]]
    abstention: parts.AbstentionPart | None
    tenants: dict[str, list[parts.EstimatePart]] | None
    abilities: dict[str, list[parts.EstimatePart]] | None
    worst: list[parts.WorstPart] | None
    labels: parts.LabelsPart | None
    hub: parts.HubPart | None
    matching: parts.MatchingPart | None


WORST = 20
"""How many of the questions that drag the mean down are named."""


def figures(answers: Answers, edition: Edition = CURRENT) -> Figures:
    """Every figure that anyone can work out again from the corpus and the rankings, by this edition of the statistics.

    The same rankings give the same bytes: no figure keeps digits that depend on the processor's order of summation.
    """
    found = _figures(answers, edition)
    if not edition.every_figure_rounded:
        return found
    return replace(found, **{one.name: _rounded(getattr(found, one.name)) for one in fields(found)})


def _rounded(part: Any) -> Any:
    """The same with every figure at DIGITS; a threshold stays what it is: one of the scores in the rows."""
    if isinstance(part, float):
        return round(part, DIGITS)
    if isinstance(part, list):
        return [_rounded(one) for one in part]
    if isinstance(part, dict):
        return {name: _rounded(one) for name, one in part.items()}
    if isinstance(part, BaseModel):
        return part.model_copy(update={name: _rounded(one) for name, one in part if name != "threshold"})
    return part


def _figures(answers: Answers, edition: Edition) -> Figures:
    depth, k = answers.depth, answers.k
    judged = _judged(answers, answers.rankings, depth)
    calls = (judged if answers.short is None else _judged(answers, answers.short, k), judged)
    clusters = [question.cluster for question in answers.questions] if answers.clustered else None
    kinds = np.array([question.kind for question in answers.questions])
    slices = {parts.OVERALL: np.ones(len(kinds), dtype=bool)}
    slices |= {kind: kinds == kind for kind in answers.survey.kinds if kind in set(kinds.tolist())}
    measures = tuple(measure for measure in ALL if measure.k <= depth)
    tenants = np.array([question.tenant for question in answers.questions])
    names = sorted(set(tenants.tolist()) - {""})
    # Kinds and tenants may share a name.
    by_tenant = {f"tenant {name}": tenants == name for name in names} if len(names) > 1 else {}
    by_ability = _by_ability(answers) if edition.abilities else {}
    found = estimates(measures, calls, clusters, slices | by_tenant | by_ability, edition)
    apart = {name.removeprefix("tenant "): found.pop(name) for name in by_tenant}
    rolled_up = {name.removeprefix("ability "): found.pop(name) for name in by_ability}
    own = is_set_name(answers.corpus.name)
    control = estimates(measures, _judged(answers, answers.control, depth), clusters, slices, edition)
    missing = _missing(answers)
    return Figures(
        corpus=_corpus(answers),
        calls=[depth] if answers.short is None else [k, depth],
        short_questions=sum(count > 0 for count in missing),
        missing_hits=sum(missing),
        agreement=_agreement(answers),
        headline=_headline(answers.corpus, found[parts.OVERALL]),
        estimates={name: [estimate_part(one) for one in row] for name, row in found.items()},
        denominators=_denominators(answers, calls),
        control_bm25={name: [estimate_part(one) for one in row] for name, row in control.items()},
        abstention=_abstention(answers, clusters, edition),
        tenants={name: [estimate_part(one) for one in row] for name, row in apart.items()} or None,
        abilities={name: [estimate_part(one) for one in row] for name, row in rolled_up.items()} or None,
        worst=_worst(answers, judged) if own else None,
        labels=_labels(answers.questions, answers.survey, edition) if own else None,
        hub=_hub(answers.survey),
        matching=_matching(answers, calls),
    )


def _by_ability(answers: Answers) -> dict[str, Bools]:
    questions = answers.questions
    names, each = abilities(answers.corpus.name, [one.kind for one in questions], [one.abstention for one in questions])
    return {f"ability {name}": np.array([one == name for one in each]) for name in names}


def _worst(answers: Answers, judged: Judged) -> list[parts.WorstPart]:
    """Those whose first gold segment comes latest, then those with the least of it among the first ten."""
    first = np.where(judged.first > 0, judged.first, judged.depth + 1)
    found = judged.found(min(answers.k, judged.depth))
    wanting = np.flatnonzero((judged.gold > 0) & ((first > 1) | (found < np.minimum(judged.gold, answers.k))))
    order = sorted(wanting.tolist(), key=lambda i: (-first[i], found[i] / judged.answering[i], i))
    return [
        parts.WorstPart(
            question_id=answers.questions[i].id,
            kind=answers.questions[i].kind,
            tenant=answers.questions[i].tenant,
            first_rank=int(first[i]) if first[i] <= judged.depth else None,
            gold=int(judged.answering[i]),
            found=int(found[i]),
        )
        for i in order[:WORST]
    ]


def _labels(questions: Sequence[Question], survey: Survey, edition: Edition) -> parts.LabelsPart:
    days = sorted(one.labelled_at.date().isoformat() for one in questions if one.labelled_at is not None)
    return parts.LabelsPart(
        dated=len(days),
        undated=len(questions) - len(days),
        oldest=days[0] if days else None,
        newest=days[-1] if days else None,
        unjudged=survey.unjudged,
        # Sets of the hub passed them over without a word before.
        irrelevant=survey.irrelevant if edition.number > FIRST.number else 0,
    )


def _hub(survey: Survey) -> parts.HubPart | None:
    found = survey.published
    if found is None:
        return None
    return parts.HubPart(
        repo=found.repo,
        revision=found.revision,
        qrels_repo=found.qrels_repo,
        qrels_revision=found.qrels_revision,
        files=[
            parts.HubFilePart(name=name, sha256=sha256, pinned=found.is_pinned(name))
            for name, sha256 in found.files.items()
        ],
    )


def _matching(answers: Answers, calls: Sequence[Judged]) -> parts.MatchingPart | None:
    matching = answers.matching
    if matching is None:
        return None
    asked = [question for question in answers.questions if question.expected]
    random = answers.survey.random_matches
    unmatched = [question.id for question in asked if not question.gold]
    mixed = any(question.gold and not question.expected for question in answers.questions)
    hybrid = matching.method == "hybrid"
    return parts.MatchingPart(
        method=str(matching),
        questions=len(asked),
        by_id=_decided(answers, calls, by_text=False) if mixed else None,
        by_text=_decided(answers, calls, by_text=True) if mixed else None,
        exact=sum(len(question.gold & question.exact) for question in asked),
        fuzzy=sum(len(question.gold - question.exact - question.by_id) for question in asked),
        exact_questions=sum(bool(question.gold & question.exact) for question in asked),
        fuzzy_questions=sum(bool(one.gold) and not one.gold & (one.exact | one.by_id) for one in asked),
        without=len(unmatched),
        unmatched=unmatched[:WORST],
        random_pairs=random.pairs if random else 0,
        sensitivity=[_at_threshold(answers, matching, one) for one in (None, *matching.thresholds)],
        shares=_shares(answers, matching) if hybrid else None,
    )


def _shares(answers: Answers, matching: Matching) -> list[parts.SharePart]:
    """What each step of hybrid made gold, and what it found first. Rankings of the k-deep call serve as elsewhere."""
    rankings = answers.rankings if answers.short is None else answers.short
    gold: Counter[Step | None] = Counter()
    found: Counter[Step | None] = Counter()
    for question, ranking in zip(answers.questions, rankings, strict=True):
        gold.update(step_of(question, position) for position in question.gold)
        steps = (step_of(question, position) for position in ranking.positions[: answers.k])
        found[next((step for step in steps if step is not None), None)] += 1
    counted = sum(bool(question.gold) for question in answers.questions)
    return [
        parts.SharePart(
            step=step, gold=gold[step], found_10=found[step], share=found[step] / counted if counted else None
        )
        for step in matching.steps
    ]


def _decided(answers: Answers, calls: Sequence[Judged], *, by_text: bool) -> parts.DecidedPart:
    chosen = np.array([bool(one.gold) and bool(one.expected) == by_text for one in answers.questions], dtype=bool)
    first, last = min(calls, key=lambda call: call.depth), calls[-1]
    found = RecallAny(min(answers.k, first.depth)).values(first)[chosen]
    reciprocal = Mrr(last.depth).values(last)[chosen]
    return parts.DecidedPart(
        questions=int(chosen.sum()),
        recall_any_10=float(found.mean()) if len(found) else None,
        mrr=float(reciprocal.mean()) if len(reciprocal) else None,
    )


def _at_threshold(answers: Answers, matching: Matching, threshold: float | None) -> parts.ThresholdPart:
    """As if the method had been this one. Rankings of the k-deep call serve where there is one."""
    rankings = answers.rankings if answers.short is None else answers.short
    hybrid = matching.method == "hybrid"
    gold, found = [], []
    for question, ranking in zip(answers.questions, rankings, strict=True):
        near = question.likeness
        first = ranking.positions[: answers.k]
        if threshold is None:
            matched: Set[int] = question.exact
        else:
            f1 = np.frombuffer(near.f1)
            matched = set(np.frombuffer(near.positions, dtype=np.int64)[f1 >= threshold].tolist())
            matched |= question.exact | question.by_id if hybrid else set()
        gold.append(len(matched))
        found.append(sum(one in matched for one in first))
    shares = [
        min(part, 1) if question.one_find else part / whole
        for question, part, whole in zip(answers.questions, found, gold, strict=True)
        if whole
    ]
    asked = sum(bool(question.expected) for question in answers.questions)
    random = answers.survey.random_matches
    rate = None if random is None else random.exact if threshold is None else random.rates.get(threshold)
    return parts.ThresholdPart(
        threshold=threshold,
        questions=len(shares),
        gold=sum(gold),
        recall_frac_10=float(np.mean(shares)) if shares else None,
        recall_frac_10_of_all=math.fsum(shares) / asked if asked else None,
        random=rate,
    )


def _missing(answers: Answers) -> list[int]:
    """By question: hits that its haystack has and the calls did not return."""
    calls = [(answers.rankings, answers.depth), *([(answers.short, answers.k)] if answers.short is not None else [])]
    return [
        sum(min(asked, size) - len(rankings[i].positions) for rankings, asked in calls)
        for i, size in enumerate(answers.candidates)
    ]


def _judged(answers: Answers, rankings: Sequence[Ranking], depth: int) -> Judged:
    grades = [question.grades for question in answers.questions]
    return judge(
        [ranking.positions for ranking in rankings],
        [question.gold for question in answers.questions],
        answers.candidates,
        depth,
        grades if any(grades) else None,
        [question.one_find for question in answers.questions],
    )


def estimate_part(one: Estimate) -> parts.EstimatePart:
    """As `metrics.json` has it."""
    low, high = (None if bound is None else round(bound, DIGITS) for bound in (one.low, one.high))
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
                    protocol_name=protocol_name,
                    estimate=estimate_part(by_name[measure]),
                    band=width,
                    band_status=status,
                )
            )
    return shown


def _denominators(answers: Answers, calls: Sequence[Judged]) -> list[parts.DenominatorPart]:
    questions = answers.questions
    wanted = [measure for measure in map(parse, parts.COMPARED) if measure.k <= answers.depth]
    reaching = {str(m): (m, next(call for call in calls if call.depth >= m.k)) for m in wanted}
    values = {name: measure.values(call) for name, (measure, call) in reaching.items()}
    chances = {name: measure.chance(call) for name, (measure, call) in reaching.items()}
    shown = []
    for i, (name, count) in enumerate(answers.survey.denominators.items()):
        member = np.array([name in question.denominators for question in questions], dtype=bool)
        scored = sum(bool(one.gold) or one.abstention for one in questions if name in one.denominators)
        # A whole denominator counts what can't be scored as 0; a run that asked only some questions has no whole one.
        base = count if answers.limit is None else int(member.sum())
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


def _corpus(answers: Answers) -> parts.CorpusPart:
    survey, corpus = answers.survey, answers.corpus
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
            for question, size in zip(answers.questions, answers.candidates, strict=True)
        ),
        kinds=dict(survey.kinds),
        segments_per_scope=list(survey.segments_per_scope),
        repeated_sessions=survey.repeated_sessions,
        empty_turns=survey.empty_turns,
        repaired_evidence=survey.repaired_evidence,
        missing_turns=survey.missing_turns,
        checks=[parts.CheckPart(name=c.name, expected=c.expected, found=c.found, holds=c.holds) for c in survey.checks],
    )


def _agreement(answers: Answers) -> parts.AgreementPart | None:
    if answers.short is None:
        return None
    found = agreement([r.positions for r in answers.short], [r.positions for r in answers.rankings], answers.k)
    return parts.AgreementPart(depth=found.depth, identical=found.identical, overlap=found.overlap)


def _abstention(answers: Answers, clusters: Sequence[str] | None, edition: Edition) -> parts.AbstentionPart | None:
    flags = [question.abstention for question in answers.questions]
    if not any(flags):
        return None
    # Nobody knows whether a question that no expected text gave gold can be answered.
    known = [i for i, question in enumerate(answers.questions) if question.gold or question.abstention]
    found = abstention(
        [
            top_score(answers.rankings[i].scores, failed=answers.questions[i].id in answers.failed, abstain=flags[i])
            for i in known
        ],
        [flags[i] for i in known],
        None if clusters is None else [clusters[i] for i in known],
        edition=edition,
    )
    return parts.AbstentionPart(
        questions=found.n,
        answerable=found.answerable,
        threshold=found.threshold if found.threshold is not None and math.isfinite(found.threshold) else None,
        threshold_rule=f"the highest score that keeps {KEPT:.0%} of the answerable questions",
        false_retrieval=found.false_retrieval,
        false_retrieval_interval=parts.IntervalPart(**asdict(found.false_retrieval_interval)),
        auroc=found.auroc,
        auroc_interval=parts.IntervalPart(**asdict(found.auroc_interval)),
    )
