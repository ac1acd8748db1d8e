"""The corpus of a command that takes a registered one or a labelled set, which is obtained first."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import options
from recallbench.cli.command import typed
from recallbench.errors import UsageError
from recallbench.escaping.terminal import visible
from recallbench.progress import Progress

if TYPE_CHECKING:
    from recallbench.runs.options import Options


def obtain_corpus(corpus: str | None, others: dict[str, Any], progress: Progress) -> Options:
    """Return the options of a run on this corpus; raises UsageError for options that are for the other kind."""
    from recallbench.cli.measure.labelled_target import take_target
    from recallbench.corpora.labelled_sets.canary_record import read_canary

    corpus = options.take_corpus(corpus, others)
    target = take_target(corpus, others)
    labelled = is_labelled(corpus)
    run_options = options.run_options(corpus=corpus if labelled else options.single_corpus(corpus), **others)
    unfit = (
        ("corpus_file",)
        if labelled
        else ("match", "match_chunk", "allow_random_matches", "split", "qrels_revision", "pin")
    )
    if unfitting := typed(*unfit):
        raise UsageError(
            f"{unfitting} is for {'a registered corpus' if labelled else 'a set of your own'}",
            expected="locomo, longmemeval or the like" if labelled else "a folder, or hub:OWNER/NAME@<40 hex digits>",
            found=corpus,
            remedy=f"leave {unfitting} out",
        )
    if not labelled:
        return run_options
    name, folder = target.obtain(run_options, progress)
    drawn = read_canary(folder)
    if drawn is not None and (stale := drawn[0].staleness(date.today())):
        print(f"recallbench: {visible(f'the canary {corpus} is {stale}')}", file=sys.stderr)
    return replace(run_options, corpus=name, corpus_file=folder)


def is_labelled(corpus: str) -> bool:
    """Whether it names a labelled set; a folder with the name of a registered corpus is typed as ./NAME."""
    from recallbench.cli.measure.labelled_target import of_hub
    from recallbench.corpora.registry import CORPORA, GROUPS

    return of_hub(corpus) or (corpus not in {*CORPORA, *GROUPS} and Path(corpus).is_dir())
