"""How a download ends, in words."""

from __future__ import annotations

from recallbench.escaping.shell import command
from recallbench.reports.printing.conclusion import Conclusion


def fetched(name: str, *, is_corpus: bool) -> Conclusion:
    """Return what is here now, and the command that uses it."""
    belief = "every file has the hash that is pinned for it"
    if name.lower().startswith("hub:"):
        belief = "every file is that of the revision, and results will state its hash"
    then = command("run", name) if is_corpus else command("run", "locomo", "--embedder", name)
    return Conclusion(f"{name} is here", belief, then)
