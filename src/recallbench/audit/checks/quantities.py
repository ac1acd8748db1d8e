"""What a run says that it used: possible, and told as the rest of the result tells it."""

from collections.abc import Iterator, Mapping
from dataclasses import astuple

from recallbench.audit.subject import AuditSubject
from recallbench.errors import InputError
from recallbench.results.costs.prices import FIELD as PRICES
from recallbench.results.costs.prices import read_prices, recorded_prices
from recallbench.results.costs.quantities import (
    FIELD,
    STAGES,
    Quantities,
    TextsPart,
    read_quantities,
    read_stage_quantities,
)

_SLACK = 1.0
"""Seconds of tolerance: the two clocks are read one after the other."""


def impossible(subject: AuditSubject) -> Iterator[str]:
    """Yield what can't be so; earlier releases did not tell of what they used."""
    if FIELD not in subject.environment:
        return
    try:
        used, by_stage = read_quantities(subject.folder), read_stage_quantities(subject.folder)
        priced = recorded_prices(subject.folder)
    except InputError as error:
        yield f"environment.json: {error.found}"
        return
    yield from _processors(subject.environment, used)
    yield from _embedded(subject, used)
    yield from _texts(subject, used.texts)
    stages = [stage.name for stage in subject.metrics.pipeline.stages] if subject.metrics.pipeline else []
    if [stage.stage for stage in by_stage] != stages:
        yield f"{STAGES}: others than the pipeline has"
    for stage in by_stage:
        if min(astuple(stage.tokens)) < 0:
            yield f"{STAGES}: less than no tokens, by {stage.stage[:60]}"
    wall = used.cpu_seconds.keys()
    if not used.server_cpu_seconds.keys() <= wall or any(seconds < 0 for seconds in used.server_cpu_seconds.values()):
        yield f"{FIELD}: {used.server_cpu_seconds} s of a server's processors"
    if any(size < 0 for size in used.stored_bytes.values()):
        yield f"{FIELD}: less than no bytes"
    listed = read_prices()
    if priced is not None and priced.date == listed.date:
        for model, price in priced.models.items():
            if price != listed.model(model) or priced.currency != listed.currency:
                yield f"{PRICES}: of {model[:60]}, other than those of {listed.date}"


def _processors(environment: Mapping[str, object], used: Quantities) -> Iterator[str]:
    wall, machine = environment.get("seconds"), environment.get("machine")
    cores = machine.get("cores") if isinstance(machine, Mapping) else None
    if not isinstance(wall, Mapping) or list(wall) != list(used.cpu_seconds):
        yield f"{FIELD}: of other phases than the run has"
        return
    for phase, seconds in used.cpu_seconds.items():
        if not 0 <= seconds <= wall[phase] * (cores if isinstance(cores, int) else 1) + _SLACK:
            yield f"{FIELD}: {seconds} s of processors in {phase}, which took {wall[phase]} s on {cores} cores"


def _embedded(subject: AuditSubject, used: Quantities) -> Iterator[str]:
    account, pipeline = subject.environment.get("embedding"), subject.metrics.pipeline
    more = pipeline is not None and any(stage.kind == "rewrite" for stage in pipeline.stages)
    more = more or subject.metrics.reproduction is not None
    if not isinstance(account, Mapping):
        if used.embedded:
            yield f"{FIELD}: texts that nothing embedded"
        return
    for name in ("computed", "reused", "tokens"):
        counted = sum(getattr(part, name) for part in used.embedded.values())
        told = account.get(name)
        # What a stage wrote is embedded later, when it is searched for, and a baseline's texts after all others.
        if not (counted == told or (more and isinstance(told, int) and counted < told)):
            yield f"{FIELD}: {counted} {name} by the embedder, whose own account has {told}"


def _texts(subject: AuditSubject, texts: TextsPart) -> Iterator[str]:
    stated = subject.metrics.retrieval
    if texts.questions != stated.asked:
        yield f"{FIELD}: of {texts.questions} questions, {stated.asked} were asked"
    if subject.has_dataset and texts.characters != subject.dataset.texts.passage_characters:
        yield f"{FIELD}: {texts.characters} characters, the dataset has {subject.dataset.texts.passage_characters}"
    exposure = subject.metrics.exposure
    if texts.tokens != (exposure.tokens if exposure is not None else None):
        yield f"{FIELD}: {texts.tokens} tokens of all segments, {exposure.tokens if exposure else 'none'} in exposure"
    lengths = [(texts.characters, texts.history_characters, [at.characters for at in texts.context])]
    if texts.tokens is not None:
        lengths.append((texts.tokens, texts.history_tokens or 0, [at.tokens or 0 for at in texts.context]))
    for whole, histories, contexts in lengths:
        if histories > whole * texts.questions or sorted(contexts) != contexts or any(c > histories for c in contexts):
            yield f"{FIELD}: contexts of {contexts} out of {histories}, {whole} in all"
