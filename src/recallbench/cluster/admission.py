"""Who may work: only a worker that has what decides the results, as the one who asks has it."""

from __future__ import annotations

from collections.abc import Mapping

from recallbench.cluster.job import WorkerStatement


def refusal(expected: Mapping[str, str], stated: WorkerStatement) -> str:
    """Return why a worker may not take part, in words; empty where it may."""
    differing = [
        f"{fact} {stated.facts.get(fact) or 'not there'} instead of {wanted or 'none'}"
        for fact, wanted in expected.items()
        if stated.facts.get(fact, "") != wanted and not (stated.problem and fact not in stated.facts)
    ]
    return "; ".join([*differing, *([stated.problem] if stated.problem else [])])
