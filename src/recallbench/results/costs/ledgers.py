"""The four ledgers of a result, from what its run recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recallbench.embedding.encoders import Role
from recallbench.results.costs.quantities import Quantities, StageQuantities, read_quantities, read_stage_quantities
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.results.pipeline_part import StagePart
from recallbench.results.result import Result
from recallbench.scoring.costs import CHARACTERS, CostLine, HitRate, LedgerName, Ledgers, Lengths
from recallbench.stores.registry import find_store
from recallbench.stores.store import IN_PROCESS
from recallbench.usage import Usage

K = 10
"""Hits among which gold counts as found, and that a model would be given where none is."""


def ledgers(result: Result) -> Ledgers:
    """Return what the run of a result used; raises InputError where it does not say."""
    used, metrics = read_quantities(result.folder), result.metrics
    stages = _stages(metrics, read_stage_quantities(result.folder))
    k = min(K, metrics.retrieval.depth)
    context = _context(metrics, used)
    generator = next((part for part, _ in stages if part.kind == "generate"), None)
    lines: dict[LedgerName, list[CostLine]] = {
        "ingest": [*_embedding(used, metrics, "passage", "embedding the segments"), *_phase(used, "ingest")],
        "index": [*_phase(used, "ready"), *(CostLine(what, size, "bytes") for what, size in used.stored_bytes.items())],
        "query": [
            *_embedding(used, metrics, "query", "embedding the questions"),
            *_further_texts(result, used),
            *_phase(used, "search", calls=len(metrics.retrieval.calls)),
            *_tokens(stages, ("rewrite", "search", "fuse", "diversify", "rerank")),
        ],
        "generate": [*_tokens(stages, ("generate",)), *_phase(used, "answer")],
    }
    return Ledgers(
        lines=lines,
        beside=[*_tokens(stages, ("judge",)), *_phase(used, "judge")],
        haystacks=used.texts.haystacks,
        questions=used.texts.questions,
        k=k,
        gold_found=int(result.rankings.calls[result.rankings.call_reaching(k)].gold_within(k).sum()),
        correct=_correct(metrics),
        hit_rates=[*_kept_vectors(used), *_kept_answers(stages)],
        context=context,
        lengths=_lengths(used, context),
        answering=generator.settings.get("model", "") if generator is not None else "",
        uncounted=_uncounted(metrics, stages, used),
        unstated=_unstated(metrics, used),
    )


OURS = ", embedded"
"""What a store says of a server that this program started."""
_PHASES: Mapping[str, str] = {
    "ingest": "taking segments in",
    "ready": "building what searching needs",
    "search": "searching, one call a question",
    "answer": "answering",
    "judge": "judging",
}
_Stages = list[tuple[StagePart, StageQuantities]]


def _stages(metrics: Metrics, used: list[StageQuantities]) -> _Stages:
    by_name = {each.stage: each for each in used}
    parts = metrics.pipeline.stages if metrics.pipeline is not None else []
    return [(part, by_name[part.name]) for part in parts if part.name in by_name]


def _searched(metrics: Metrics) -> list[tuple[str, str, Mapping[str, str]]]:
    """Return for each store that was searched its leg, if it is one, its name, and how it said that it worked."""
    if metrics.pipeline is None:
        return [("", metrics.store.name, metrics.store.evidence)]
    # The evidence of the main leg stands with the result's store.
    return [
        (part.name, part.store, part.evidence or metrics.store.evidence)
        for part in metrics.pipeline.stages
        if part.store
    ]


def _unstated(metrics: Metrics, used: Quantities) -> list[str]:
    """Return the stores that did not say how many bytes they hold."""
    stated = {what.rpartition(": ")[0] for what in used.stored_bytes}
    return list(dict.fromkeys(name for leg, name, _ in _searched(metrics) if leg not in stated))


def _uncounted(metrics: Metrics, stages: _Stages, used: Quantities) -> dict[LedgerName, list[str]]:
    counted = bool(used.server_cpu_seconds)
    others = [name for _, name, facts in _searched(metrics) if not (counted and facts.get("server", "").endswith(OURS))]
    kinds = {name: find_store(name) for name in dict.fromkeys(others)}
    elsewhere = [
        f"processors of {name}'s server" for name, kind in kinds.items() if kind and kind.never_cold != IN_PROCESS
    ]

    def silent(kinds: tuple[str, ...]) -> list[str]:
        told = {part.name: used.facts.get("answers_without_usage") for part, used in stages if part.kind in kinds}
        return [f"{count} answers of {name} without usage" for name, count in told.items() if count]

    return {
        "ingest": elsewhere,
        "index": elsewhere,
        "query": [*elsewhere, *silent(("rewrite", "rerank"))],
        "generate": silent(("generate",)),
    }


def _embedding(used: Quantities, metrics: Metrics, role: Role, what: str) -> Iterator[CostLine]:
    if role in used.embedded:
        of_role, model = used.embedded[role], _endpoint_model(metrics)
        kept = of_role.reused > 0
        if model:
            yield CostLine(what, Usage(fresh=of_role.asked_tokens), "tokens", model, at_least=kept)
        yield CostLine(what, of_role.cpu_seconds, "processor seconds", at_least=kept)


def _further_texts(result: Result, used: Quantities) -> Iterator[CostLine]:
    """Yield the tokens of texts that a stage wrote and an endpoint embedded: what its account has beyond the rest."""
    account, model = result.environment.get("embedding"), _endpoint_model(result.metrics)
    usage = account.get("usage") if isinstance(account, Mapping) else None
    tokens = usage.get("tokens", 0) if isinstance(usage, Mapping) else 0
    further = tokens - sum(part.asked_tokens for part in used.embedded.values())
    if model and further > 0:
        yield CostLine("embedding rewritten texts", Usage(fresh=further), "tokens", model)


def _endpoint_model(metrics: Metrics) -> str:
    """Return the name of the encoder's model behind an endpoint; empty where it runs in this process."""
    facts = metrics.embedder.fingerprint if metrics.embedder is not None else {}
    return facts.get("model", "") if "endpoint" in facts else ""


def _phase(used: Quantities, phase: str, calls: int = 1) -> Iterator[CostLine]:
    if phase in used.cpu_seconds:
        yield CostLine(_PHASES[phase], used.cpu_seconds[phase] / calls, "processor seconds")
    if phase in used.server_cpu_seconds:
        what = f"{_PHASES[phase]}, of the database server"
        yield CostLine(what, used.server_cpu_seconds[phase] / calls, "processor seconds")


def _tokens(stages: _Stages, kinds: tuple[str, ...]) -> Iterator[CostLine]:
    for part, used in stages:
        if part.kind in kinds and used.tokens != Usage():
            yield CostLine(f"{part.kind} {part.name}", used.tokens, "tokens", part.settings.get("model", part.method))


def _correct(metrics: Metrics) -> dict[str, float]:
    """Return by judge the sum of what it found right; a judge that knows degrees counts them."""
    judges = metrics.answers.judges if metrics.answers is not None else []
    shares = {judge.name: judge.correct.get(OVERALL) for judge in judges}
    return {
        name: share.value * share.n for name, share in shares.items() if share is not None and share.value is not None
    }


def _kept_vectors(used: Quantities) -> Iterator[HitRate]:
    for role, what in (("passage", "vectors of segments"), ("query", "vectors of questions")):
        for part in (used.embedded[role],) if role in used.embedded else ():
            yield HitRate(what, part.reused, part.reused + part.computed)


def _kept_answers(stages: _Stages) -> Iterator[HitRate]:
    for part, used in stages:
        kept, answers = used.facts.get("kept"), used.facts.get("answers")
        if isinstance(kept, int) and isinstance(answers, int):
            yield HitRate(f"answers of {part.kind} {part.name}", kept, answers)


def _context(metrics: Metrics, used: Quantities) -> int:
    """Return how many hits the answering stage is given, else how many a model would be."""
    generator = next((s for s in metrics.pipeline.stages if s.kind == "generate"), None) if metrics.pipeline else None
    told = [at.k for at in used.texts.context]
    top = generator.options.get("top", "") if generator is not None else ""
    asked = int(top) if top.isdecimal() else K
    return max((k for k in told if k <= asked), default=0)


def _lengths(used: Quantities, k: int) -> Lengths | None:
    texts = used.texts
    at = next((at for at in texts.context if at.k == k), None)
    if at is None or not texts.questions:
        return None
    if at.tokens is not None and texts.history_tokens is not None:
        return Lengths(at.tokens / texts.questions, texts.history_tokens / texts.questions, counted=True)
    each = CHARACTERS * texts.questions
    return Lengths(at.characters / each, texts.history_characters / each, counted=False)
