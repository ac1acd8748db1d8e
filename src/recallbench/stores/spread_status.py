"""Whether several servers could serve one store: each of them, and alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recallbench.errors import Blocked
from recallbench.stores.request import StoreStatus


def spread_status(statuses: Mapping[str, StoreStatus]) -> StoreStatus:
    """Return whether every server can be used, by what is shown of its address; raises Blocked where they differ."""
    for number, (shown, status) in enumerate(statuses.items(), 1):
        if not status.ready:
            detail = status.detail if shown in status.detail else f"{status.detail} ({shown})"
            return status._replace(detail=f"server {number} of {len(statuses)}: {detail}")
    refuse_unlike({shown: status.decides for shown, status in statuses.items()})
    details = "; ".join(status.detail for status in statuses.values())
    decides = next(iter(statuses.values())).decides
    return StoreStatus(True, f"{len(statuses)} servers, each haystack on one of them: {details}", decides=decides)


def refuse_unlike(stated: Mapping[str, Sequence[str]]) -> None:
    """Raise Blocked where a server does not state what the first one does: haystacks would not be measured alike."""
    (first, expected), *others = stated.items()
    for name, found in others:
        if list(found) != list(expected):
            raise Blocked(
                "the servers are not alike, so haystacks would not be measured alike",
                expected=f"{'; '.join(word for word in expected if word not in found)} ({first})",
                found=f"{'; '.join(word for word in found if word not in expected)} ({name})",
                remedy="bring them to one version and its settings, or leave one --dsn out",
            )
