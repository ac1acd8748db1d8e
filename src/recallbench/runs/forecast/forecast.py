"""What a run will take, from its work and the pace of this machine: plain arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recallbench.runs.forecast.work import RunWork, Stratum

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class StorePace:
    """What a store takes on the machine that these figures were measured on, in seconds."""

    start: float
    segment: float
    question: float
    compared: float
    """For each segment that a question is compared with."""
    disk: float = 0.0
    """Bytes on disk of a store without items."""
    times: float = 0.0
    """Bytes on disk for each byte of an item: its text and its vector."""


STORES = {
    "exact": StorePace(0.0, 4e-6, 30e-6, 0.3e-6),
    "bm25": StorePace(0.0, 2e-6, 40e-6, 0.2e-6),
    "pgvector": StorePace(1.3, 90e-6, 120e-6, 1.2e-6, disk=45 * MB, times=2.5),
}
OTHER = StorePace(1.0, 200e-6, 1e-3, 1e-6)
"""Of a store that nobody measured."""
CONTROL_NAME = "bm25"
START = 0.9
"""Seconds of a program that starts and ends."""
CONTROL = StorePace(0.0, 2e-6, 40e-6, 0.2e-6)
"""What BM25 takes beside the store, but for cutting texts into words."""
ALONE = 250e-6
"""What a question takes more that is not asked together with others of its haystack, since it sees less of it."""
HIT = 4e-6
"""Seconds of a hit that is scored, written and read back."""
QUESTION = 60e-6
HIT_BYTES, QUESTION_BYTES, FOLDER_BYTES = 175, 900, 300_000
"""What they take in a result's folder."""
WORD_BYTES = 0.5
"""Bytes of the words that are kept of each character."""
VECTOR_BESIDE = 60
"""Bytes beside each vector in the cache."""
PROGRAM_MEMORY, QUESTION_MEMORY, SEGMENT_MEMORY, MAPPED = 95 * MB, 10_000, 150, 32 * MB
"""What a run takes itself, for each question and segment, and of the vectors that it reads at most."""
TEXT_COPIES = 4
"""How often the texts of the largest haystack lie in memory."""


@dataclass(frozen=True, slots=True)
class MachinePace:
    """The pace of this machine, as the probe found it."""

    plain: float
    """How many times as long as on the machine of `STORES` plain work takes."""
    per_character: float
    """Seconds of cutting a character into words."""
    encoder_start: float = 0.0
    """Seconds until the encoder embeds."""
    texts: Sequence[tuple[Stratum, float]] = ()
    """The texts to embed by length, with the seconds of one."""
    encoder_memory: float = 0.0
    """Bytes of the program with the encoder at work; 0 where it was not tried."""
    tokens_per_character: float = 0.0
    limit: int | None = None
    """Tokens of a text that it reads."""
    unknown: str = ""
    """Why it can't be told how long embedding takes; empty where it can."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run will take."""

    parts: tuple[tuple[str, float], ...]
    """Seconds of each part, in the order of the run."""
    memory: float
    """Bytes at the most."""
    disk: float
    """Bytes that it leaves, and needs meanwhile."""
    spread: float
    """By which share it may be wrong."""
    unknown: str = ""

    @property
    def seconds(self) -> float:
        """The wall time of the whole."""
        return sum(seconds for _, seconds in self.parts)

    @property
    def low(self) -> float:
        return self.seconds / (1 + self.spread)

    @property
    def high(self) -> float:
        return self.seconds * (1 + self.spread)


READING, EMBEDDING, ASKING, WRITING = "reading", "embedding", "filling and asking", "scoring and writing"
SPREAD, IN_PROPORTION = 0.25, 0.4


def forecast(work: RunWork, pace: MachinePace, store: str, dims: int) -> Forecast:
    """Return what a run of this work takes; `dims` are the numbers of a vector, 0 without an encoder."""
    has_control = store != CONTROL_NAME
    times, of = work.times, STORES.get(store, OTHER)
    questions, hits = work.questions * times, work.hits * times
    texts = len(work.missing) * times
    embedding = 0.0
    if texts and not pace.unknown:
        embedding = pace.encoder_start + times * sum(stratum.texts * seconds for stratum, seconds in pace.texts)
    elif dims and not texts:
        embedding = 0.3 * pace.plain  # the kept vectors are looked up
    filling = work.reading + pace.plain * _store_seconds(work, of)
    cutting = work.characters * times * pace.per_character
    asking = filling + pace.plain * of.start + cutting
    if has_control:
        asking += pace.plain * _store_seconds(work, CONTROL)
    if work.timed:
        # Before it is asked, each store proves that it returns nothing from the future.
        asking += filling + (0.0 if has_control else cutting) + pace.plain * questions * ALONE
    parts = (
        (READING, START * pace.plain + work.surveying),
        (EMBEDDING, embedding),
        (ASKING, asking),
        (WRITING, pace.plain * (hits * HIT + questions * QUESTION)),
    )
    return Forecast(
        parts,
        _memory(work, pace, dims),
        _disk(work, of, dims, texts, has_control=has_control),
        SPREAD if work.whole else IN_PROPORTION,
        pace.unknown if texts else "",
    )


def _store_seconds(work: RunWork, of: StorePace) -> float:
    each = work.segments * of.segment + work.questions * of.question + work.compared * of.compared
    return each * work.times


def _memory(work: RunWork, pace: MachinePace, dims: int) -> float:
    grown = (work.questions * QUESTION_MEMORY + work.segments * SEGMENT_MEMORY) * work.times
    vectors = min(MAPPED, work.segments * work.times * dims * 4) + work.largest * dims * 12
    program = max(PROGRAM_MEMORY, pace.encoder_memory if work.missing else 0.0)
    return program + grown + vectors + TEXT_COPIES * work.largest_characters


def _disk(work: RunWork, of: StorePace, dims: int, texts: float, *, has_control: bool) -> float:
    result = FOLDER_BYTES + (work.hits * HIT_BYTES + work.questions * QUESTION_BYTES) * work.times
    cached = texts * (dims * 4 + VECTOR_BESIDE) + (WORD_BYTES * work.characters * work.times if has_control else 0)
    items = (work.characters + work.segments * dims * 4) * work.times
    return result + cached + of.disk + of.times * items
