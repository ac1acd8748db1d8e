"""The declarations of a result's store, and the options that the result records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recallbench.audit.examination import CannotTell
from recallbench.audit.subject import AuditSubject
from recallbench.stores.registry import find_store, options_of_record
from recallbench.stores.store import Store


def declared_store(subject: AuditSubject) -> type[Store]:
    """Return the class of the store; raises CannotTell where this release knows none."""
    name = subject.metrics.store.name
    kind = find_store(name)
    if kind is None:
        raise CannotTell(f"this release knows no store called {name}")
    return kind


def recorded_options(subject: AuditSubject) -> Mapping[str, Any]:
    """Return the options in environment.json; none where it has none, which RB-OPTIONS refuses."""
    options = subject.environment.get("options")
    return options if isinstance(options, Mapping) else {}


def recorded_store_options(subject: AuditSubject) -> Mapping[str, Any]:
    """Return the recorded options of the store by name, and the server that was named."""
    recorded = recorded_options(subject)
    return options_of_record(recorded) | ({"dsn": recorded["dsn"]} if recorded.get("dsn") else {})
