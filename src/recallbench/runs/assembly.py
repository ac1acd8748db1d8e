"""From what was retrieved to the figures of `metrics.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from recallbench import __version__
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.records import Survey
from recallbench.protocol.deviations import Configuration, departures
from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.results import metrics as parts
from recallbench.results.figures import Answers, figures
from recallbench.retrieval.loop import Retrieval
from recallbench.runs.choices import Choice
from recallbench.runs.options import Options
from recallbench.scoring.editions import CURRENT
from recallbench.scoring.exposure import exposure


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
    matching: Matching | None
    choice: Choice
    made: Configuration
    store: StoreState
    embedder: EmbedderState | None
    retrieval: Retrieval
    seed: int | None


def assemble(made_of: Ingredients) -> parts.Metrics:
    """Every figure of the result; gates and verdict still say nothing."""
    retrieval, rules, survey = made_of.retrieval, made_of.rules, made_of.survey
    # In the order of the corpus, not in that of two calls.
    failed = [one.id for one in retrieval.questions if one.id in retrieval.failures.reasons]
    found = figures(
        Answers(
            survey=survey,
            corpus=made_of.corpus,
            clustered=made_of.clustered,
            matching=made_of.matching,
            questions=retrieval.questions,
            candidates=retrieval.candidates,
            rankings=retrieval.rankings,
            short=retrieval.short,
            control=retrieval.control,
            k=rules.default_k,
            depth=made_of.options.depth,
            limit=made_of.made.limit,
            failed=frozenset(failed),
        )
    )
    return parts.Metrics(
        schema_version="1",
        statistics_edition=CURRENT.number,
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
        corpus=found.corpus,
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
            calls=found.calls,
            depth=made_of.options.depth,
            scope="pooled" if made_of.options.pooled else "own",
            limit=made_of.made.limit,
            asked=len(retrieval.questions),
            left_out=survey.questions - survey.asked,
            segments=retrieval.segments,
            short_questions=found.short_questions,
            missing_hits=found.missing_hits,
            agreement=found.agreement,
            failed=failed,
        ),
        deviations=[
            parts.DeviationPart(kind=one.kind, detail=one.detail)
            for one in departures(replace(made_of.made, failures=len(failed)), made_of.corpus, rules)
        ],
        headline=found.headline,
        estimates=found.estimates,
        denominators=found.denominators,
        control_bm25=found.control_bm25,
        exposure=_exposure(made_of),
        abstention=found.abstention,
        tenants=found.tenants,
        abilities=found.abilities,
        worst=found.worst,
        labels=found.labels,
        hub=found.hub,
        matching=found.matching,
        gates=[],
        verdict=parts.VerdictPart(label="UNVERIFIED", text="UNVERIFIED", pending=[], canonical=False),
        reproduction=made_of.made.reproduction or None,
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
