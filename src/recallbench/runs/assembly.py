"""`metrics.json`, assembled from the rankings that came back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recallbench import __version__
from recallbench.corpora.records import Survey
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.packs.record import PackRecord
from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.results import metrics as parts
from recallbench.results.answers import AnswerRow
from recallbench.results.figures import figures
from recallbench.results.pipeline_part import pipeline_part
from recallbench.results.stage_figures import with_effects
from recallbench.retrieval.pipeline.composite import PipelineStore
from recallbench.retrieval.pipeline.record import pipeline_record
from recallbench.retrieval.record import Retrieval
from recallbench.retrieval.static_control import StaticControl
from recallbench.runs.answering import Answering
from recallbench.runs.plan import Plan
from recallbench.scoring.editions import CURRENT
from recallbench.scoring.exposure import exposure
from recallbench.stores.store import Store


def assemble(
    plan: Plan,
    retrieval: Retrieval,
    survey: Survey,
    *,
    store: Store,
    embedder: Embedder | None,
    clarifications: Sequence[int],
    answering: Answering | None = None,
    answers: Sequence[AnswerRow] = (),
    static: StaticControl | None = None,
) -> parts.Metrics:
    """Return every figure of the result, with the statements of store and encoder; gates and verdict are empty yet."""
    corpus, rules, run = plan.corpus, plan.rules, plan.configuration(survey.sha256)
    embedded = None if embedder is None else _embedder(embedder, retrieval, corpus, rules)
    whole = not run.pooled and run.limit is None
    packed = None if embedded is None else embedded.packed_vectors(whole=whole)
    run = replace(run, time=run.time or retrieval.time, pack=packed)
    behind = () if answering is None else answering.stages
    version_after, settings, evidence = store.version(), dict(store.settings()), dict(store.evidence())
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
            clarifications=sorted(clarifications),
        ),
        dataset_sha256=survey.sha256,
        seed=plan.seed,
        guc_state=settings,
        pgmnemo_version=retrieval.version if store.name == "pgmnemo" else None,
        embedder=embedded,
        store=parts.StorePart(
            name=store.name,
            variant=run.variant,
            version=retrieval.version,
            version_after=version_after,
            asked_version=plan.options.version,
            evidence=evidence,
        ),
        static_fingerprint=None if static is None else dict(static.fingerprint),
        exposure=None if embedder is None else _exposure(retrieval, embedder),
        gates=[],
        verdict=parts.VerdictPart(label="UNVERIFIED", text="UNVERIFIED", pending=[], canonical=False),
        pipeline=(
            with_effects(pipeline_part(pipeline_record(store, behind)), retrieval, survey)
            if isinstance(store, PipelineStore)
            else None
        ),
        answers=None if answering is None else answering.figures(answers, retrieval, survey),
        reproduction=run.reproduction or None,
        **figures(retrieval, survey, run, corpus, rules),
    )


def _embedder(embedder: Embedder, retrieval: Retrieval, corpus: CorpusRules, rules: Rules) -> parts.EmbedderPart:
    return parts.EmbedderPart(
        name=embedder.name,
        fingerprint=dict(embedder.fingerprint),
        fingerprint_sha256=embedder.fingerprint_sha256,
        vectors_sha256=retrieval.vectors_sha256,
        canonical=corpus.embedder if corpus.name in rules.corpora else "",
        pack=None if embedder.pack is None else _pack(embedder.pack),
    )


def _pack(record: PackRecord) -> parts.PackPart:
    manifest, (comparison, compared_by) = record.manifest, record.comparison
    return parts.PackPart(
        sha256=record.sha256,
        maker=manifest.maker,
        machine=manifest.machine,
        made=manifest.made,
        release=manifest.release,
        texts=manifest.texts,
        vectors_sha256=manifest.vectors_sha256,
        compared=0 if comparison is None else comparison.texts,
        cosine=None if comparison is None else comparison.cosine,
        compared_by=compared_by,
        key="" if record.signature is None else record.signature.key,
    )


def _exposure(retrieval: Retrieval, embedder: Embedder) -> parts.ExposurePart | None:
    seen, limit = retrieval.tokens, embedder.max_tokens
    if seen is None or not seen.tokens or limit is None:
        return None
    truncation = exposure(seen.truncated, seen.gold_turn_starts, seen.gold_turn_cuts)
    return parts.ExposurePart(
        max_tokens=limit,
        segments=truncation.segments,
        tokens=sum(seen.tokens),
        longest=max(seen.tokens),
        truncated=truncation.truncated,
        truncated_share=truncation.truncated_share,
        gold_turns=truncation.gold_turns,
        gold_turns_cut=truncation.cut_off,
        gold_turns_cut_share=truncation.cut_off_share,
    )
