"""How a download ends, in words."""

from __future__ import annotations

import shlex

from recallbench.reports.printing.conclusion import Conclusion


def fetched(name: str, *, is_corpus: bool) -> Conclusion:
    """Return what is here now, and the command that uses it."""
    belief = "every file has the hash that is pinned for it"
    if name.lower().startswith("hub:"):
        belief = "every file is that of the revision, and results will state its hash"
    typed = shlex.quote(name)
    then = f"recallbench run {typed}" if is_corpus else f"recallbench run locomo --embedder {typed}"
    return Conclusion(f"{name} is here", belief, then)
