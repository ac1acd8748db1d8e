"""The labelled set that a command's DIR names, in a folder or on the hub: its folder, and its name in results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.cli.options import take_matching
from recallbench.corpora.matching.method import Matching
from recallbench.errors import UsageError
from recallbench.progress import Progress
from recallbench.runs.options import Options


@dataclass(frozen=True, slots=True)
class Target:
    """A labelled set as the command line names it."""

    name: str
    """A folder, or `hub:OWNER/NAME@<40 hex>`."""
    split: str | None
    matching: Matching
    qrels_revision: str | None = None
    pin: Sequence[str] = ()

    def obtain(self, options: Options, progress: Progress) -> tuple[str, Path]:
        """Return the corpus' name, whose hash holds split and method, and the folder; a hub set is fetched first."""
        from recallbench.corpora.labelled_sets.candidate_files import find_subsets
        from recallbench.corpora.labelled_sets.hub_set import DEFAULT_SPLIT, find_hub_set, obtain_set, parse_pins
        from recallbench.corpora.labelled_sets.labelled import identify

        if self.matching.cosine is not None:
            raise UsageError(
                "cosine decides rankings in files, not the gold of a folder",
                expected="--match hybrid without --match-embedder: ids, exact and tokens",
                found=str(self.matching),
                remedy="leave it out: gold in a folder must follow from its files alone, so that anyone can audit the "
                "result; `recallbench score` takes cosine",
            )
        split = self.split
        if of_hub(self.name):
            needs_no_judgements = self.matching.by_text and self.matching.method != "hybrid"
            hub_set = find_hub_set(self.name, self.qrels_revision)
            if hub_set.task is None:
                split = split if needs_no_judgements else split or DEFAULT_SPLIT
            folder = obtain_set(hub_set, split, parse_pins(self.pin), options.environ, progress)
            if hub_set.task is None and find_subsets(folder):
                split = None  # the folder is that of the split
        elif self.qrels_revision or self.pin:
            raise UsageError(
                f"{'--qrels-revision' if self.qrels_revision else '--pin'} is for a set of the hub",
                expected="hub:OWNER/NAME@<revision>",
                found=self.name,
                remedy="leave it out: the name of a result over a folder holds the hash of its files",
            )
        else:
            folder = Path(self.name)
            if not folder.exists():
                refuse_corpus(self.name)
        return str(identify(folder, split, self.matching)), folder


def take_target(name: str, others: dict[str, Any]) -> Target:
    """Take the options of a labelled set out of the others."""
    split, qrels_revision, pin = (others.pop(option) for option in ("split", "qrels_revision", "pin"))
    return Target(name, split, take_matching(others), qrels_revision, pin)


def refuse_corpus(name: str) -> None:
    """Raise UsageError where a name is that of a corpus, which is no labelled set."""
    from recallbench.corpora.registry import CORPORA, GROUPS

    if name in CORPORA or name in GROUPS:
        raise UsageError(
            f"{name} is a corpus, no set of your own",
            expected="the folder of your own set, or hub:NAME",
            found=name,
            remedy=f"recallbench run {name}",
        )


def of_hub(name: str) -> bool:
    """Whether it names a set of the hub."""
    from recallbench.corpora.labelled_sets.hub_set import PREFIX

    return name.startswith(PREFIX)
