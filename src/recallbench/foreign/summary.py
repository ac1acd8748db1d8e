"""The audit of a foreign folder in a few lines, to be pasted into an issue of whoever published it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from recallbench.audit.audit import Audit
from recallbench.audit.gate import Check
from recallbench.foreign.claims import TracedClaim

LINES = 15
"""A summary has no more."""
HEADLINE = 5
"""Published numbers over all questions that it names, the protocol's own first."""
_WIDE = 110


def summarise(found: Audit) -> tuple[str, ...]:
    """The verdict, the headline numbers with what they turn out to be, then every cause with its count."""
    traced = [check for check in found.checks if isinstance(check, TracedClaim) and check.needed]
    title = f"{found.folder.resolve().name}: {found.verdict.text}, not CANONICAL"
    lines = [title, *_headline(traced)]
    causes = [*_shared(traced), *_single(found.checks)]
    room = LINES - len(lines)
    if len(causes) > room:
        rest = len(causes) - room + 1
        causes = [*causes[: room - 1], f"- and {rest} more findings"]
    return tuple(lines + causes)


def _headline(traced: Sequence[TracedClaim]) -> Iterator[str]:
    overall = [one for one in traced if not one.claim.slice]
    overall.sort(key=lambda one: one.claim.name.lower() not in ("recall@10", "mrr"))
    for one in overall[:HEADLINE]:
        yield f"{one.claim.name} {one.claim.value}: {one.equals or one.cause}"


def _shared(traced: Sequence[TracedClaim]) -> Iterator[str]:
    counted = Counter(one.cause for one in traced if one.status != "pass")
    for cause, count in counted.most_common():
        yield f"- RB-F-CLAIM: {count} of {len(traced)} published numbers: {cause}"


def _single(checks: Sequence[Check]) -> Iterator[str]:
    others = [one for one in checks if not isinstance(one, TracedClaim) and one.needed and one.status != "pass"]
    others.sort(key=lambda one: one.status != "fail")
    for one in others:
        told = one.observed if len(one.observed) <= _WIDE else one.observed[:_WIDE].rsplit(" ", 1)[0] + " …"
        yield f"- {one.code}: {one.name}: {told}"
