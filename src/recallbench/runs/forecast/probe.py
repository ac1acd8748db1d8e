"""A probe of about two seconds: the pace of this machine at plain work, and of an encoder at texts of the corpus."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from recallbench.embedding.embedder import Embedder
from recallbench.runs.forecast.forecast import MachinePace
from recallbench.runs.forecast.work import RunWork, Stratum, strata
from recallbench.stores.word_counts import count_each

PLAIN, ENCODER = 0.3, 1.6
"""Seconds that are spent on either."""
TEXT = " ".join(f"word{number} of a text that is cut" for number in range(400))
REFERENCE = 32e-9
"""Seconds of plain work for each character of this text, on the machine that the figures of stores are of."""
FIRST = 32
"""Texts that the encoder starts with: as many as its proof is made on."""
READ = 2_200
"""Characters of a text that most encoders read."""
WORTH = 200_000
"""Characters from which on an encoder is tried; fewer are embedded before it has started."""
NEARBY_START, NEARBY_ONCE, NEARBY_CHARACTER, NEARBY_MEMORY = 4.0, 6.0, 16e-6, 9e8
"""Seconds until MiniLM embeds, and of what a machine finds out once; seconds of a character, and bytes of the program:
for texts that it is not tried on."""
NEARBY_DIMS = 384


def probe_plain(work: RunWork) -> MachinePace:
    """Return the pace of plain work, and of cutting texts of the corpus into words."""
    plain = plain_pace(PLAIN)
    texts = [text for _, text in work.sample[:FIRST]]
    return MachinePace(plain, _per_character(texts, PLAIN) if texts else plain * REFERENCE)


def plain_pace(seconds: float) -> float:
    """Return how many times as long as on the machine of the figures plain work takes, tried for so long."""
    return _per_character([TEXT], seconds) / REFERENCE


def _per_character(texts: Sequence[str], seconds: float) -> float:
    characters, started = 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < seconds or not characters:
        count_each(texts)
        characters += sum(map(len, texts))
    return spent / characters


def probe_encoder(embedder: Embedder, work: RunWork, pace: MachinePace) -> MachinePace:
    """Return the pace with the seconds of the texts to embed: the encoder is timed on some of each length."""
    started = time.perf_counter()
    sample = sorted((text for _, text in work.sample), key=len)
    first = [sample[place * len(sample) // FIRST] for place in range(min(FIRST, len(sample)))]
    embedded = embedder.embed_afresh(first, "passage")
    spent, parts = time.perf_counter() - started, embedder.report().seconds
    # What a machine does once is kept; what each run does again is loading alone.
    start = spent - sum(parts.get(part, 0.0) for part in ("forward", "tokenise", "probe", "proof"))
    per_character = float(embedded.tokens.sum()) / max(1, sum(map(len, first)))
    timed = []
    groups = strata(work.missing, per_character, embedder.max_tokens)
    for group in groups:
        near = sorted(sample, key=lambda text: abs(_tokens(text, per_character, embedder.max_tokens) - group.tokens))
        timed.append((group, _seconds_of_one(embedder, near[:8], group, ENCODER / len(groups))))
    return replace(
        pace,
        encoder_start=max(0.0, start),
        texts=tuple(timed),
        encoder_memory=_largest_memory(),
        tokens_per_character=per_character,
        limit=embedder.max_tokens,
    )


def _tokens(text: str, per_character: float, limit: int | None) -> float:
    return min(len(text) * per_character, limit or float("inf"))


def _seconds_of_one(embedder: Embedder, texts: Sequence[str], group: Stratum, seconds: float) -> float:
    """Return the seconds of one text of the group, by texts of about its length."""
    done, tokens, started = 0, 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < seconds or not done:
        embedded = embedder.embed_afresh(texts, "passage")
        done += len(texts)
        tokens += int(embedded.tokens.clip(max=embedder.max_tokens).sum()) if embedder.max_tokens else 0
    scale = group.tokens * done / tokens if tokens else 1.0
    return spent / done * scale


def nearby(work: RunWork, pace: MachinePace, dims: int, *, at_first: bool) -> MachinePace:
    """Return the pace for so few texts that trying the encoder would take longer than embedding them.

    `dims` tell how large the encoder is; `at_first` nothing was ever embedded here.
    """
    group = Stratum(len(work.missing), 0.0)
    one = NEARBY_CHARACTER * sum(min(length, READ) for length in work.missing) / max(1, len(work.missing))
    larger = max(1.0, (dims / NEARBY_DIMS) ** 2)
    start = NEARBY_START + (NEARBY_ONCE if at_first else 0.0)
    return replace(
        pace,
        encoder_start=start * pace.plain,
        texts=((group, one * larger * pace.plain),),
        encoder_memory=NEARBY_MEMORY * larger**0.5,
    )


def _largest_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1.0 if sys.platform == "darwin" else 1024.0)
