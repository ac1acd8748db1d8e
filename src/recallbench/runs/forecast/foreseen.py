"""The forecast of a run: its work is counted, this machine is tried, and both are put together."""

from __future__ import annotations

from dataclasses import replace

from recallbench.corpora.labelled_sets.set_name import folder_word
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.hashing import DIMS, HashEmbedder
from recallbench.embedding.memo import Memo
from recallbench.embedding.registry import encoder_status
from recallbench.errors import RecallBenchError
from recallbench.hub import offline
from recallbench.progress import Silent
from recallbench.runs.forecast.forecast import Forecast, MachinePace, forecast
from recallbench.runs.forecast.kept_pace import Paced, recall_pace, remember_pace
from recallbench.runs.forecast.probe import READ, WORTH, nearby, probe_encoder, probe_plain
from recallbench.runs.forecast.work import RunWork, count_work
from recallbench.runs.options import Options
from recallbench.runs.plan import Plan, plan_run

KEPT_WORDS = 0.2
"""What finding the kept words of a text takes, of cutting it."""


def foresee(options: Options, *, tries_encoder: bool) -> Forecast | None:
    """Return what the run of these options takes on this machine; None where its corpus or its server is missing.

    With `tries_encoder` texts are embedded for a moment; of them the pace is kept, and no vector. Without, no encoder
    is waited for: its pace is the one that was found here before. No server is started.
    """
    try:
        plan = plan_run(options)
        corpus = plan.open_corpus(fetch=False)
        packed = plan.embedder is not None and plan.find_pack(Silent(), fetch=False) is not None
        with plan.open_embedder(Silent(), packs=False) as embedder:
            tried = embedder if plan.embedder in ENCODERS else None
            work = count_work(plan, corpus, tried if tried is not None and _has_vectors(plan) else None)
            pace = probe_plain(work)
            if packed or plan.embedder == HashEmbedder.name:
                work.missing = []
            elif plan.embedder is not None:
                pace = _embedding_pace(plan, tried, work, pace, tries=tries_encoder)
    except (RecallBenchError, OSError):  # what is wrong is told by the rows of readiness
        return None
    if work.kept:
        share = len(work.missing) / (len(work.missing) + work.kept)
        pace = replace(pace, per_character=pace.per_character * max(share, KEPT_WORDS))
    return forecast(work, pace, plan.store, _dims(plan))


def _embedding_pace(
    plan: Plan, encoder: Embedder | None, work: RunWork, pace: MachinePace, *, tries: bool
) -> MachinePace:
    """Return the pace with that of the encoder, or with why it is not known."""
    if sum(min(length, READ) for length in work.missing) * work.times < WORTH:
        if encoder is None or not work.missing:
            return pace  # a function of one's own needs no start worth mention
        return nearby(work, pace, _dims(plan), at_first=not (plan.options.cache_dir / "memo").is_dir())
    if encoder is None:
        return replace(
            pace, unknown=f"how quick {plan.embedder} is, the run will tell: no encoder of one's own is tried"
        )
    options, memo = plan.options, Memo(plan.options.cache_dir / "memo")
    paced = Paced(encoder.name, encoder.max_tokens, options.dtype, options.backend)
    if not tries:
        found = recall_pace(memo, paced, work, pace)
        return found or replace(pace, unknown=f"how quick {encoder.name} is here, `recallbench doctor` finds out")
    ready, detail, _ = encoder_status(encoder.name, offline(options.environ), options.cache_dir, options.max_tokens)
    if not ready:
        return replace(pace, unknown=f"how quick {encoder.name} is, its weights will tell: {detail}")
    found = probe_encoder(encoder, work, pace)
    remember_pace(memo, paced, found)
    return found


def _has_vectors(plan: Plan) -> bool:
    """Return whether anything was ever embedded with an encoder of this name."""
    kept = plan.options.cache_dir / "vectors"
    return any(kept.glob(f"{folder_word(plan.embedder or '')}-*"))


def _dims(plan: Plan) -> int:
    if plan.embedder is None:
        return 0
    spec = ENCODERS.get(plan.embedder)
    return DIMS if spec is None else spec.stored_dims
