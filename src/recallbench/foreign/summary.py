"""The audit of a foreign folder in a few lines, to paste into an issue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from recallbench.audit.audit import Audit
from recallbench.audit.gate import Check
from recallbench.foreign.claims import TracedClaim

LINES = 15
"""The most lines of a summary."""
HEADLINE = 5
"""The most published numbers over all questions in a summary, the protocol's own first."""
_WIDE = 110


def summarise(audit: Audit) -> tuple[str, ...]:
    """Return the verdict, the headline numbers with their definitions, then every cause with its count."""
    traced = [check for check in audit.checks if isinstance(check, TracedClaim) and check.needed]
    title = f"{audit.folder.resolve().name}: {audit.verdict.text}, not CANONICAL"
    lines = [title, *_headline(traced)]
    causes = [*_shared(traced), *_single(audit.checks)]
    room = LINES - len(lines)
    if len(causes) > room:
        rest = len(causes) - room + 1
        causes = [*causes[: room - 1], f"- and {rest} more findings"]
    return tuple(lines + causes)


def _headline(traced: Sequence[TracedClaim]) -> Iterator[str]:
    overall = [check for check in traced if not check.claim.slice]
    overall.sort(key=lambda check: check.claim.name.lower() not in ("recall@10", "mrr"))
    for check in overall[:HEADLINE]:
        yield f"{check.claim.name} {check.claim.value}: {check.equals or check.cause}"


def _shared(traced: Sequence[TracedClaim]) -> Iterator[str]:
    counted = Counter(check.cause for check in traced if check.status != "pass")
    for cause, count in counted.most_common():
        yield f"- RB-F-CLAIM: {count} of {len(traced)} published numbers: {cause}"


def _single(checks: Sequence[Check]) -> Iterator[str]:
    others = [
        check for check in checks if not isinstance(check, TracedClaim) and check.needed and check.status != "pass"
    ]
    others.sort(key=lambda check: check.status != "fail")
    for check in others:
        text = check.observed if len(check.observed) <= _WIDE else check.observed[:_WIDE].rsplit(" ", 1)[0] + " …"
        yield f"- {check.code}: {check.name}: {text}"
