"""The declarations of a result's store, and the options that the result records."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any

from recallbench.audit.examination import CannotTell
from recallbench.audit.subject import AuditSubject
from recallbench.errors import UsageError
from recallbench.results.environment import named_servers
from recallbench.results.metrics import Metrics
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.stages.search import UNDER_TEST
from recallbench.stores.registry import find_store, options_of_record
from recallbench.stores.spread_statement import spread_states
from recallbench.stores.statement import Statement
from recallbench.stores.store import Store


def declared_store(subject: AuditSubject) -> type[Store]:
    """Return the class of the store; raises CannotTell where this release knows none."""
    return recorded_legs(subject)[0].kind


def recorded_options(subject: AuditSubject) -> Mapping[str, Any]:
    """Return the options in environment.json; none where it has none, which RB-OPTIONS refuses."""
    options = subject.environment.get("options")
    return options if isinstance(options, Mapping) else {}


def recorded_store_options(subject: AuditSubject) -> Mapping[str, Any]:
    """Return the recorded options of the store by name, and the server that was named."""
    recorded = recorded_options(subject)
    return options_of_record(recorded) | ({"dsn": recorded["dsn"]} if recorded.get("dsn") else {})


def recorded_pipeline(metrics: Metrics) -> Pipeline | None:
    """Return the pipeline of a result, None where it has none; raises CannotTell where its stages can't be read."""
    if metrics.pipeline is None:
        return None
    stages = [{"kind": s.kind, "method": s.method, "name": s.name, **s.options} for s in metrics.pipeline.stages]
    try:
        return Pipeline.of(stages)
    except UsageError as error:
        raise CannotTell(f"{error.problem} (RB-PIPELINE)") from None


def keeps_going(subject: AuditSubject) -> bool:
    """Return whether a question may fail: where that was asked for, and where a stage asks a server."""
    if recorded_options(subject).get("keep_going") is True:
        return True
    with suppress(CannotTell):  # RB-PIPELINE reports it
        pipeline = recorded_pipeline(subject.metrics)
        return pipeline is not None and pipeline.asks_endpoint
    return False


@dataclass(frozen=True, slots=True)
class RecordedLeg:
    """A store that a run searched, with its options and what it stated."""

    name: str
    options: Mapping[str, Any]
    version: str
    settings: Mapping[str, str]
    evidence: Mapping[str, str]

    @property
    def kind(self) -> type[Store]:
        """The class of the store; raises CannotTell where this release knows none."""
        kind = find_store(self.name)
        if kind is None:
            raise CannotTell(f"this release knows no store called {self.name}")
        return kind

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements, one of which its store makes on the servers that were named."""
        stated, servers = self.kind.states(self.name, self.options), named_servers(self.options)
        spread = len(servers) > 1 and self.kind.servers == "several"
        return spread_states(stated, len(servers)) if spread else stated


def recorded_legs(subject: AuditSubject) -> tuple[RecordedLeg, ...]:
    """Return the stores that the run searched: that of the result first, then those of further legs."""
    metrics, options = subject.metrics, recorded_store_options(subject)
    main = RecordedLeg(metrics.store.name, options, metrics.store.version, metrics.guc_state, metrics.store.evidence)
    pipeline = recorded_pipeline(metrics)
    if pipeline is None or metrics.pipeline is None:
        return (main,)
    stated = {stage.name: stage for stage in metrics.pipeline.stages}
    others = [spec for spec in pipeline.legs if spec is not pipeline.main_leg]
    return (
        main,
        *(
            RecordedLeg(
                stated[spec.name].store,
                {**(options if spec.method == UNDER_TEST else {}), **spec.store_options},
                stated[spec.name].version,
                stated[spec.name].settings,
                stated[spec.name].evidence,
            )
            for spec in others
        ),
    )


def score_range(subject: AuditSubject) -> tuple[float, float]:
    """Return the lowest and highest score that the result can hold; unbounded behind a pipeline's own stages."""
    (first, *others) = recorded_legs(subject)
    if others or (subject.metrics.pipeline is not None and len(subject.metrics.pipeline.stages) > 1):
        return -inf, inf
    return first.kind.score_range(recorded_options(subject))
