"""The last line of `recallbench doctor`: ready, or what is missing and what helps most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from recallbench.reports.conclusions.names import listed
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.runs.readiness import ReadinessRow

NAMED = 2
"""Corpora of which is told what they lack."""


def is_ready(rows: Sequence[ReadinessRow]) -> bool:
    """Whether nothing that a real run needs is missing."""
    return all(row.status != "NOT READY" for row in rows)


def readiness_conclusion(corpora: Mapping[str, Sequence[ReadinessRow]], run: str, without: str) -> Conclusion:
    """Return whether runs on these corpora can be made.

    `run` makes the first of them, `without` is a command that needs nothing that is missing.
    """
    missing = {corpus: [row for row in rows if row.status == "NOT READY"] for corpus, rows in corpora.items()}
    lacking = [corpus for corpus, rows in missing.items() if rows]
    if not lacking:
        warned = any(row.status == "warning" for rows in corpora.values() for row in rows)
        belief = "the warnings above keep nothing from running" if warned else ""
        return Conclusion(f"Ready to measure {listed(list(corpora))}", belief, run)
    ready = [corpus for corpus in corpora if corpus not in lacking]
    names = {corpus: listed([row.name for row in missing[corpus]]) for corpus in lacking}
    alike = len(set(names.values())) == 1
    if alike:
        told = f"{listed(lacking)} {'lacks' if len(lacking) == 1 else 'lack'} {names[lacking[0]]}"
    else:
        told = "; ".join(f"{corpus} lacks {names[corpus]}" for corpus in lacking[:NAMED])
        told += f"; {len(lacking) - NAMED} more lack something" if len(lacking) > NAMED else ""
    happened = f"Not ready: {told}" + (f"; ready: {listed(ready)}" if ready else "")
    # What most of them lack; of several such, what is told first.
    remedies = Counter(row.remedy for rows in missing.values() for row in rows if row.remedy)
    helps = remedies.most_common(1)[0][0] if remedies else ""
    return Conclusion(happened, "", "; or ".join(filter(None, (helps, without))), tone="bad")
