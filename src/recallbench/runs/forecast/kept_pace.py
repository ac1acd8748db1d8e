"""The pace of an encoder as it was found on this machine before, for whoever does not wait for the encoder."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from recallbench.embedding import machine
from recallbench.embedding.memo import Memo
from recallbench.runs.forecast.forecast import MachinePace
from recallbench.runs.forecast.work import RunWork, strata


class Paced(NamedTuple):
    """All of an encoder that decides its pace, as a run asks for it."""

    name: str
    max_tokens: int | None
    dtype: str = "fp32"
    backend: str = "auto"


def remember_pace(memo: Memo, encoder: Paced, pace: MachinePace) -> None:
    """Keep what was found."""
    memo.remember(
        _key(encoder),
        {
            "plain": pace.plain,
            "start": pace.encoder_start,
            "memory": pace.encoder_memory,
            "tokens_per_character": pace.tokens_per_character,
            "limit": pace.limit,
            "texts": [[group.tokens, seconds] for group, seconds in pace.texts],
        },
    )


def recall_pace(memo: Memo, encoder: Paced, work: RunWork, pace: MachinePace) -> MachinePace | None:
    """Return the pace with what was found before, for other texts and for what the machine gives now; None where
    nothing was."""
    fact = memo.recall(_key(encoder))
    if fact is None:
        return None
    try:
        slower = pace.plain / float(fact["plain"])
        tokens, seconds = np.array(sorted(fact["texts"]), dtype=float).T
        groups = strata(work.missing, float(fact["tokens_per_character"]), fact["limit"])
        # Beyond the longest and the shortest that were tried, by the token.
        times = [float(np.interp(group.tokens, tokens, seconds / tokens)) * group.tokens * slower for group in groups]
        start, memory = float(fact["start"]) * slower, float(fact["memory"])
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    return replace(pace, encoder_start=start, encoder_memory=memory, texts=tuple(zip(groups, times, strict=True)))


def _key(encoder: Paced) -> dict[str, str]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "what": "seconds of an encoder by length",
        "encoder": encoder.name,
        "max_tokens": str(encoder.max_tokens),
        "dtype": encoder.dtype,
        "backend": encoder.backend,
        "cpu": machine.cpu_model(),
        "cores": str(cores),
        **machine.library_versions(),
    }
