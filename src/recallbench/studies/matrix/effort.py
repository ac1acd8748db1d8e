"""What an encoder takes for the texts of a corpus, and what it leaves unread: by a probe, whatever the cache holds."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pydantic import ValidationError

from recallbench.corpora.records import Haystack
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.machine import cpu_model
from recallbench.machine_load import MachineLoad, MachineReading
from recallbench.reports.matrix.document import EffortPart
from recallbench.whole_file import write_whole

PROBED = 64
"""Segments that are embedded anew."""
SEED = 42
ENOUGH = 0.2
"""Seconds of processors after which no further pass over them is made."""


@dataclass(slots=True)
class _Texts:
    """The segments of a corpus counted, and some of them drawn, each with the same chance."""

    drawn: list[str]
    segments: int = 0
    tokens: int = 0
    cut: int = 0


def measure_effort(embedder: Embedder, haystacks: Iterable[Haystack], *, timed: bool) -> EffortPart:
    """Return the effort of these texts; their vectors are there. With `timed` some are embedded again.

    Tokenising counts; loading the model does not.
    """
    texts = _read(embedder, haystacks)
    probed, passes, seconds, others = len(texts.drawn) if timed else 0, 0, 0.0, None
    if probed:
        embedder.embed_afresh(texts.drawn[:1], "passage")  # loads the model
        before, started = MachineReading.take(), time.process_time()
        while seconds < ENOUGH:
            embedder.embed_afresh(texts.drawn, "passage")
            passes, seconds = passes + 1, time.process_time() - started
        others = MachineLoad.between(before, MachineReading.take()).others
    return EffortPart(
        cpu=cpu_model(),
        cores=os.cpu_count() or 1,
        probed=probed,
        passes=passes,
        seconds=round(seconds / passes, 9) if passes else None,
        others=None if others is None else round(others, 4),
        segments=texts.segments,
        tokens=texts.tokens or None,
        tokens_cut=None if embedder.max_tokens is None or not texts.tokens else texts.cut,
    )


def _read(embedder: Embedder, haystacks: Iterable[Haystack]) -> _Texts:
    texts, random, limit = _Texts([]), Random(SEED), embedder.max_tokens
    for haystack in haystacks:
        tokens = embedder.lookup([segment.text for segment in haystack.segments], "passage").tokens.tolist()
        texts.tokens += sum(tokens)
        texts.cut += 0 if limit is None else sum(max(0, length - limit) for length in tokens)
        for segment in haystack.segments:
            texts.segments += 1
            if len(texts.drawn) < PROBED:
                texts.drawn.append(segment.text)
            elif (place := random.randrange(texts.segments)) < PROBED:
                texts.drawn[place] = segment.text
    return texts


def keep_effort(result: Path, effort: EffortPart) -> None:
    """Keep the effort of a result in a folder beside that of the results, which are as they were written."""
    _file(result).parent.mkdir(exist_ok=True)
    write_whole(_file(result), effort.model_dump_json(indent=1) + "\n")


def kept_effort(result: Path) -> EffortPart | None:
    """Return what is kept of a result; None where nothing is, and where another processor took it."""
    try:
        effort = EffortPart.model_validate_json(_file(result).read_bytes(), strict=True)
    except (OSError, ValidationError):
        return None
    return effort if (effort.cpu, effort.cores) == (cpu_model(), os.cpu_count() or 1) else None


def _file(result: Path) -> Path:
    return result.parent.with_name("efforts") / f"{result.name}.json"
